"""The ledger: what an organisation has ever published, remembered so that nobody can change it unnoticed."""
