"""Problem sheets and their file formats."""
