"""Tapes of a file that look like a mistake, once it has run: only what is wrong in no program.

| code | meaning |
|---|---|
| tape-empty | nothing was recorded, as nothing in its block used what it watches |
| tape-watched-unused | `watch(x)` of a value that nothing on the tape used |
| tape-unasked | it recorded, and neither it nor the file was ever asked for a derivative |
"""

from __future__ import annotations

from gradcli.tape.record import IDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import Span
    from gradcli.lang.file_tape import FileTape
    from gradcli.lang.run import Run
    from gradcli.source import Source


def tapes(run: Run, source: Source) -> list[tuple[str, str, Span]]:
    """(code, message, place) of what is suspicious about the newest tape of each name."""
    out: list[tuple[str, str, Span]] = []
    for tape in run.tapes.values():
        # What a reset forgot was perhaps used before.
        if not any(kind == "reset" for kind, *_ in tape.events):
            out += _of_tape(run, tape, source)
    return out


def _of_tape(run: Run, tape: FileTape, source: Source) -> list[tuple[str, str, Span]]:
    window = tape.remembered()[0]
    if not window:
        return [("tape-empty", f"`{tape.name}` recorded nothing: nothing in its block uses what it"
                 " watches", tape.span)]
    used = {i for entry in window for i in entry[IDS]}
    # A variable is used in any of its states.
    used |= {i for states in tape.saw.values() for i in states if not used.isdisjoint(states)}
    out = []
    watches = [(id, place[2:]) for kind, _, place, ids in tape.events if kind == "watch"
               for id in ids]
    for id, span in watches:
        if id not in used:
            text = source.text[span[0]:span[1]]
            out.append(("tape-watched-unused", f"nothing that `{tape.name}` recorded uses what"
                        f" `{text}` watches", span))
    if tape.used_at is None and not run.asked:
        out.append(("tape-unasked", f"`{tape.name}` recorded {len(window)} operation"
                    f"{'s' * (len(window) != 1)}, and is never asked for a derivative", tape.span))
    return out
