"""Why an answer is what it is: causes of None, conventions that were used, numbers that are not."""
