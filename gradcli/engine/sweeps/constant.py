"""The derivatives of derivatives that are 0 because no slope leads from them to the source.

The derivative d/dx of dy/dx is 0, and not None, where dy/dx exists and x is nowhere in it: for a
linear function, and where only a choice that a rule makes looks at x (`maximum`, `clip`). Where the
user's own formula cuts the path, as in x*stop_gradient(x), it stays None: that has to be explained
and not hidden.
"""

from __future__ import annotations

from gradcli.engine.record.record import IDS, OP, OUT, ancestry, leading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gradcli.engine.record.record import Entry

    # Id of a derivative to (id of its target, id of its source).
    Derived = Mapping[int, tuple[int, int]]


def is_constant(entries: Sequence[Entry], derived: Derived, targets: Iterable[int],
                own: Collection[int]) -> bool:
    """Return whether one of the values `targets` is made of derivatives that do not depend on
    `own`, the ids of a source, and none is joined to it otherwise.

    True if a derivative that went into the target has a target of its own that a derivative reaches
    from the source as well, and no path, cut or not, joins source and target. The steps of a rule
    (the choice in the slope of `maximum`) are no path, those that the user wrote are. derived: id
    of each derivative to its ends.
    """
    if not derived:
        return False
    wanted = set(targets)
    ruled = made_by_rules(entries, derived, wanted)
    wanted = ancestry(entries, wanted, lambda entry: [
        i for k, i in enumerate(entry[IDS]) if (
            entry[OP].edge(k) if entry[OUT] in ruled else entry[OP].role(k) != "shape")])
    if not wanted.isdisjoint(own):
        return False
    ends = [derived[i] for i in wanted if i in derived]
    return any(source in own for _, source in ends) or not leading(
        entries, [first for first, _ in ends]).isdisjoint(own)


def made_by_rules(entries: Sequence[Entry], derived: Derived, targets: Iterable[int]) -> set[int]:
    """Return the ids among the ancestors of `targets` that a sweep made: ancestors of a derivative
    but not of the value that it is the derivative of.
    """
    # One walk for all derivatives: a bit for each, whether a value went into it or its target.
    into_made = dict.fromkeys(targets, 0)
    into_first: dict[int, int] = {}
    bit = 1
    found: set[int] = set()
    for entry in reversed(entries):
        out = entry[OUT]
        if out not in into_made and out not in into_first:
            continue
        made, first = into_made.pop(out, None), into_first.pop(out, 0)
        if made is not None and out in derived:
            made |= bit
            into_first[derived[out][0]] = into_first.get(derived[out][0], 0) | bit
            bit <<= 1
        if made is not None and made & ~first:
            found.add(out)
        for i in entry[IDS]:
            if i is not None:
                if made is not None:
                    into_made[i] = into_made.get(i, 0) | made
                into_first[i] = into_first.get(i, 0) | first
    return found
