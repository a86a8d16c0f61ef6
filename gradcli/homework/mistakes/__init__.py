"""Which mistake a wrong answer shows.

Every mistake of the catalogue that can be made with a problem is made, once: what comes out is held
against the answers. What an answer is then known by is ranked, and told in one sentence.
"""
