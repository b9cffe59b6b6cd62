"""One way to write: several files and folders appear together, complete, or not at all."""
