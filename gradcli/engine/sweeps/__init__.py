"""Sweeps over the record: reverse, forward, and what they share."""
