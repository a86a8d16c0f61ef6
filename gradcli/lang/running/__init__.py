"""The interpreter: flat code runs and becomes a record."""
