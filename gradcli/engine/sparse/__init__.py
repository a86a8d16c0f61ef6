"""Sparse derivatives: which entries depend on what, found before a sweep."""
