"""What is published: one file per kind of release, release folders with their hashes."""
