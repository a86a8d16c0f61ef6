"""What does not pay entry by entry: many operations as one entry, and what ran at other points."""
