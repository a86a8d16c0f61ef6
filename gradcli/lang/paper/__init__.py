"""A student's answer, read: `read(text, Names(...))`, other readings, the formula of a code."""
