"""The database of a vault, and what the core reads and changes in it."""
