"""How entries are evaluated, when that is worth more than one at a time."""
