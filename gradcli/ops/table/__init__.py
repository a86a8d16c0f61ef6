"""Rows of the operation table, a file for each family of operations."""
