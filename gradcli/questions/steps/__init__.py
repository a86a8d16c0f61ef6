"""Derivations step by step, as plain data."""
