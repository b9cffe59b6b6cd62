"""Worked examples that ship with the package."""
