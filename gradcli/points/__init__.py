"""A program at many points: from rows in to rows out, in order, in bounded memory.

`paths` finds which way of the program a point takes and runs each way on blocks.
"""
