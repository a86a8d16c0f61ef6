"""Comma lists, as options, tables and sheets have them."""

from __future__ import annotations


def split(text: str) -> list[str]:
    """Split a comma list; commas inside brackets do not separate, and empty parts are left out."""
    parts, depth, start = [], 0, 0
    for k, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def listed(texts: list[str]) -> list[str]:
    """Return the parts of several comma lists."""
    return [part for text in texts for part in split(text)]
