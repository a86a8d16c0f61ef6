"""Syntax: tokens, grammar and parser; texts become flat code."""
