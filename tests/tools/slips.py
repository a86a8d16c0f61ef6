"""What is no program any more, or never was one: slips of the keyboard, broken downloads, noise."""

from __future__ import annotations

import random
from collections.abc import Sequence

from gradcli.lang.syntax.code import VERBS
from gradcli.ops import NAMES

WORDS = (*NAMES, *VERBS, "x", "y", "var", "const", "input", "tape", "forward", "resume", "if",
         "else", "and", "or", "not", "for", "while", "def", "expect", "print", "none", "true",
         "False", "pi", "e", "inf", "nan", "float64", "int32", "lambda", "import", "f", "f'", "f''")
SIGNS = ("+", "-", "*", "/", "//", "%", "@", "^", "**", "=", "==", "<", "(", ")", "[", "]", "{",
         "}", ",", ":", ";", ".", "'", '"', "\n", " ", "\t", "#", "√", "π", "²", "⁻¹", "·", "×",
         "−", "÷", "≤", "+=", "|", "$", "!", "&", "\\", "\r", "\0", "\u202e", "é", "e\u0301", "0",
         "1", "2.5", "1e9", "1e999", ".5", "3.", "0x1", "1_0", "1e400", "9" * 40)


def soup(draw: random.Random) -> str:
    """Write words and signs in any order."""
    return "".join([draw.choice(SIGNS if draw.random() < 0.6 else WORDS)
                    for _ in range(draw.randrange(1, 30))])


def noise(draw: random.Random) -> bytes:
    """Return any bytes."""
    return draw.randbytes(draw.choice((0, 1, 2, 3, 8, 20, 60, 200)))


def spoiled(draw: random.Random, text: bytes, others: Sequence[bytes]) -> bytes:
    """Make one to three small changes: what a slip or a broken download does."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        at = draw.randrange(len(text) + 1)
        end = min(len(text), at + draw.choice((1, 1, 1, 2, 5, 20)))
        form = draw.randrange(7)
        if form == 0:
            text = text[:at]
        elif form == 1:
            text = text[:at] + text[end:]
        elif form == 2:
            text = text[:at] + text[at:end] * 2 + text[end:]
        elif form == 3:
            text = text[:at] + draw.choice(SIGNS).encode() + text[at:]
        elif form == 4:
            text = text[:at] + draw.randbytes(1) + text[end:]
        elif form == 5:
            other = draw.choice(others)
            text = text[:at] + other[draw.randrange(len(other) + 1):]
        else:
            text = text[at:] + draw.choice((b"\n", b" ", b"")) + text[:at]
    return text
