"""Marking: from submissions to results and grades."""
