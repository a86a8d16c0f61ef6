"""Walks over the record that carry one quantity: adjoints backwards, tangents forwards."""
