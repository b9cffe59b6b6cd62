"""An audit for the eye (terminal) and for programs (JSON)."""
