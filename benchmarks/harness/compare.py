"""Whether engines answered the same: digests of answers, and who stands alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SAMPLE = 1000

# Of one array: how many elements, some of them, and their root mean square.
Digest = tuple[int, list[float], float]


def leaves(answer: Any) -> Iterator[Any]:
    """The arrays and numbers of an answer, in order."""
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if isinstance(answer, (list, tuple)):
        for item in answer:
            yield from leaves(item)
    elif answer is not None:
        yield answer


def digest(answer: Any) -> list[Digest]:
    """Numbers in a list of their own stay single: a list of floats is as many leaves."""
    found: list[Digest] = []
    for leaf in leaves(answer):
        if isinstance(leaf, (int, float)):
            found.append((1, [float(leaf)], abs(float(leaf))))
            continue
        import numpy as np

        flat = np.asarray(leaf, dtype=float).ravel()
        some = flat[np.linspace(0, flat.size - 1, min(flat.size, SAMPLE)).astype(int)]
        found.append((flat.size, some.tolist(), float(np.sqrt(np.mean(flat*flat)))))
    return found


def agree(a: Sequence[Digest], b: Sequence[Digest], tolerance: float) -> bool:
    """Element by element, relative to the larger of it and its array's root mean square."""
    return len(a) == len(b) and all(
        m == n and len(u) == len(v) and math.isclose(p, q, rel_tol=tolerance)
        and all(abs(s - t) <= tolerance*max(abs(s), q) for s, t in zip(u, v, strict=True))
        for (m, u, p), (n, v, q) in zip(a, b, strict=True))


def alone(answers: Mapping[str, Sequence[Digest]], tolerance: float) -> list[str]:
    """The sides with which fewer than half of the others agree."""
    return [
        name for name, mine in answers.items()
        if 2*sum(agree(mine, theirs, tolerance)
                 for other, theirs in answers.items() if other != name) < len(answers) - 1]
