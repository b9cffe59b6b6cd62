"""Privacy models that one release can satisfy: one file per criterion, all on the same counts."""
