"""Derivatives as formulas: the question and its answer."""
