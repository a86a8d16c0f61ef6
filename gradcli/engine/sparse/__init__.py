"""Sparse derivatives: the structure of a derivative, found before a sweep."""
