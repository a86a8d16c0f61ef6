"""Messages for texts that cannot be read, with a suggestion."""
