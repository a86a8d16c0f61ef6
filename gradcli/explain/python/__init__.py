"""Explanations for Python code: why a gradient of a tape is None."""
