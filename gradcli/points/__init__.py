"""A program at many points: from rows in to rows out, in order, in bounded memory.

`gradcli.questions.many` finds the path of the program that a point takes, and runs each path on
blocks.
"""
