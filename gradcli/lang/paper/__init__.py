"""What a student typed, read: `read(text, Names(...))`, other readings, the formula of a code."""
