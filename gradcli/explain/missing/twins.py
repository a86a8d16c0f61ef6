"""Values that were computed twice, found by numbering values: the same operation on the same
operands gets the same number (Cocke and Schwartz, 1970).
"""

from __future__ import annotations

from gradcli.engine.record.record import ATTRIBUTES, IDS, OP, OUT, VALUES
from gradcli.explain.missing.scene import Hop, Scene, place_of
from gradcli.ops.values import SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from gradcli.engine.record.record import Entry


def twin_of(scene: Scene, own: Container[int], among: Container[int]) -> Entry | None:
    """Return the entry that made one of the values `among` as another one made one of `own`; None
    if there is none.
    """
    numbers: dict[Any, int] = {}
    number: dict[int, int] = {}
    made: dict[int, Entry] = {}
    wanted: set[int] = set()
    for entry in scene.entries:
        out = entry[OUT]
        if isinstance(entry[OP], Hop) or all(i is None for i in entry[IDS]):
            continue  # what a state takes up, and what is made of numbers alone, such as noise
        number[out] = numbers.setdefault(_key(scene, entry, number), out)
        if out in own:
            wanted.add(number[out])
        elif out in among:
            made.setdefault(number[out], entry)
    return next((made[n] for n in sorted(wanted) if n in made), None)


def _key(scene: Scene, entry: Entry, number: dict[int, int]) -> Any:
    """Return what tells an operation on its operands from all others. Of a constant that is not
    known, and of a large one, the location stands for its value, or what is written there.
    """
    values = entry[VALUES] or (None,) * len(entry[IDS])
    operands: list[Any] = []
    for i, value in zip(entry[IDS], values, strict=True):
        known = value is not None and type(value) in SCALAR_TYPES
        if i is None:
            operands.append(("is", value) if known else ("at", place_of(entry)))
        else:
            operands.append(number[i] if i in number else scene.constant(i) or i)
    return entry[OP].name, tuple(operands), repr(sorted(entry[ATTRIBUTES].items(), key=repr))
