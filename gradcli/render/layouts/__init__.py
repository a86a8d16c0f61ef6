"""Layouts: one file for each kind of answer."""
