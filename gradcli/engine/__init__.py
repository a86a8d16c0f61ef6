"""The engine: the record of what ran, and every walk over it."""
