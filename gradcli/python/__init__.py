"""The Python interface: programs and tapes, with explanations and prepared questions."""
