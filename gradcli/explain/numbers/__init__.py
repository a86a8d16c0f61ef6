"""Explanations of numbers: NaN, infinity and exact zeros."""
