"""The reverse sweep once more, with an eye on what each operand gets of a cotangent."""

from __future__ import annotations

from gradcli.ops.lazy import quiet
from gradcli.sweeps.reverse import cotangents, reverse
from gradcli.tape.record import IDS, OP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.sweeps.reverse import Shares
    from gradcli.tape.record import Entry

    See = Callable[[Entry, int, Any, Any], None]


def watch(entries: Sequence[Entry], seeds: Mapping[int, Any], sources: Iterable[int], see: See,
          each: Shares = cotangents) -> None:
    """Sweep, and show `see` every share: the operation, which argument, the cotangent of the
    answer, and the argument's share of it.

    each: the shares, as the sweep that gave the gradient computed them.
    """
    def shares(entry: Entry, g: Any, reached: set[int], emit: bool) -> Iterable[tuple[int, Any]]:
        # An operand that stands twice has its shares in order; some arguments have none.
        places = [k for k, i in enumerate(entry[IDS]) if i in reached and entry[OP].edge(k)]
        for i, c in each(entry, g, reached, emit):
            k = next(k for k in places if entry[IDS][k] == i)
            places.remove(k)
            see(entry, k, g, c)
            yield i, c

    with quiet():
        reverse(entries, seeds, sources, shares=shares)
