"""Scripts written for TensorFlow: run, heard, explained and mended."""
