"""Compiled traces: what ran once, run again without the interpreter."""
