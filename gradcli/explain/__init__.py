"""Explanations of answers: causes of None, conventions used, numbers that are not finite."""
