"""Runs cases: each engine in a process of its own, in rounds, on the same cores."""
