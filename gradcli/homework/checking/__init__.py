"""Answers checked against a problem: equal or not, and with what certainty."""
