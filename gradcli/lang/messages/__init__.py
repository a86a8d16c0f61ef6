"""Messages for texts that cannot be read, with what was meant."""
