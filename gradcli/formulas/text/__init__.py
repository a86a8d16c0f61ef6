"""Formulas written as text, in several languages."""
