"""Answers checked against a problem: equal or not, and how sure that is."""
