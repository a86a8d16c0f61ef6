"""The mistakes that wrong answers show.

Every mistake of the catalogue that is possible with a problem is made, once, and the resulting
values are compared with the answers. The mistakes that explain an answer are ranked, and the best
is put into one sentence.
"""
