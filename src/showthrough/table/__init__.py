"""What we hold: files and frames as text or typed columns, before anything is published."""
