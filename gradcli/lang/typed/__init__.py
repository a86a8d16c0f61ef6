"""Formulas as people type them, on a command line or in a file: the language first, paper next."""
