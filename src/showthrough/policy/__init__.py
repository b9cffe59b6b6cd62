"""The limits that an organisation sets, and who is over them."""
