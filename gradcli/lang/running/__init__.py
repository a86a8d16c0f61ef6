"""The interpreter: flat code becomes a record."""
