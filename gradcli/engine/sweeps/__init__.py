"""Sweeps over the record: reverse, forward, and their shared parts."""
