"""Where values that left the engine came back in: from `float(x)` to what was computed with it.

A plain number has no id, so the way is found in the text (see `python_flow`): what gradcli computed
from what holds it, later.
"""

from __future__ import annotations

from gradcli.engine.record.record import IDS, PLACE
from gradcli.explain.missing.scene import hop
from gradcli.explain.python.flow import Trail
from gradcli.lang.running.log import Unrun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.provenance import Trace
    from gradcli.engine.record.record import Entry
    from gradcli.explain.python.text import Texts

    Trails = dict[Any, Trail]

def returns(trace: Trace, entries: Mapping[int, Entry], born: Mapping[int, Any], below: set[int],
            made: set[int], texts: Texts, trails: Trails) -> list[Entry]:
    """Hops from the values `below` that left the engine to those `made` that came of them."""
    left = [event for event in trace.exits if event[2] in below]
    if not left:
        return []
    sinks = _sinks(trace, entries, born, made)
    found: list[Entry] = []
    for time, place, id, how in reversed(left):
        if place is None or not texts.around(place) or not any(out > time for out, *_ in sinks):
            continue
        trail = _trail(texts, place, trails)
        for out, at, plain in sinks:
            if out > time and trail.meets(at, plain):
                found.append(hop("path-left-engine", how, id, out, place, how))
    return found


def deciding(trace: Trace, below: set[int], texts: Texts, trails: Trails) -> list[Unrun]:
    """What the values `below` decided after they had left the engine: branches, and how often loops
    run.
    """
    found = []
    for _, place, id, _ in trace.exits:
        if id in below and place is not None and texts.around(place):
            for branch, text in _trail(texts, place, trails).decides():
                found.append(Unrun("turn" if branch.what == "loop" else branch.what,
                                   text.position(branch.test), id, set(), branch.binds))
    return found


def _trail(texts: Texts, place: Any, trails: Trails) -> Trail:
    if place not in trails:
        trails[place] = Trail(texts, place)
    return trails[place]


def _sinks(trace: Trace, entries: Mapping[int, Entry], born: Mapping[int, Any], made: set[int]
           ) -> list[tuple[int, Any, Sequence[bool]]]:
    """The values that took up plain numbers, where, and which operands of an operation these are.
    """
    found: list[tuple[int, Any, Sequence[bool]]] = [
        (id, born[id], ()) for id in made if id in born]
    found += [(time, place, ()) for time, place, _, taken, *_ in trace.states
              if taken is None and time in made]
    for id in made:
        entry = entries.get(id)
        if entry is not None and None in entry[IDS] and entry[PLACE] is not None:
            found.append((id, entry[PLACE][2:4], [i is None for i in entry[IDS]]))
    return [one for one in found if one[1] is not None]


