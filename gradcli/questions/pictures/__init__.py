"""Data of pictures: curves, fields and graphs, sampled and not yet drawn."""
