"""Marking: from answers handed in to results and grades."""
