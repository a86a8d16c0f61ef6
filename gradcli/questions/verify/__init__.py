"""Derivatives checked against each other."""
