"""Values that are the same numbers as another one, or some of them."""

from __future__ import annotations

from gradcli.engine.record.record import IDS, OP, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.explain.missing.scene import Scene

# Operations whose answer is the same number in another tensor.
COPIES = ("positive", "index", "reshape", "transpose", "cast_float", "squeeze", "expand_dims")
# What they add or multiply by without changing anything.
NEUTRAL = {"add": 0.0, "subtract": 0.0, "multiply": 1.0, "divide": 1.0}


def origins(scene: Scene, ids: Iterable[int]) -> Iterator[tuple[Entry, int]]:
    """What some values are copies or parts of, one behind the other: (what made it, the origin)."""
    for id in ids:
        maker = scene.maker(id)
        while maker is not None and is_copy(maker):
            origin = next(i for i in maker[IDS] if i is not None)
            yield maker, origin
            maker = scene.maker(origin)


def is_copy(entry: Entry) -> bool:
    """Whether an operation hands on the same numbers, or some of them."""
    op: Any = entry[OP]
    if all(i is None for i in entry[IDS]):
        return False
    if op.name in NEUTRAL:
        return any(i is None and type(v) is float and v == NEUTRAL[op.name]
                   for i, v in zip(entry[IDS], entry[VALUES], strict=False))
    return op.name in COPIES or getattr(op, "how", "") in ("var", "const", "input")


def is_part(entry: Entry) -> bool:
    """Whether an operation hands on some of the numbers."""
    return bool(entry[OP].name == "index")
