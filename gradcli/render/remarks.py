"""What stands below a table: why a gradient is None, the place, the fix, and the notes.

    dy/dc is None: `c` is a constant, which no tape watches
      expr.txt:2:1   const c = 2.0
      expr.txt:4:5   y = c*x^2  (first used here)
      fix: var c = 2.0
    note: dy/dx: two elements tie, the gradient is split evenly (line 3)

Sources with the same reason share one paragraph.
"""

from __future__ import annotations

from gradcli.render import causes, entries
from gradcli.render.layout import SUMMARISED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.render.view import View


def below(view: View, items: entries.Named) -> Iterator[Any]:
    """Renderables for the reasons and notes of `items`, a blank line first if there are any."""
    reasons, notes = entries.reasons(items), entries.notes(items)
    if reasons or notes or view.summarised:
        yield view.text("")
    for names, value, reason, at in reasons:
        yield from _reason(view, names, value, reason, at, entries.count(items))
    for names, _, note, _ in notes:
        yield hanging(view, "note:", entries.told(names, note))
    if view.summarised:
        yield hanging(view, "note:", f"arrays of more than {SUMMARISED} elements are"
                       " summarised; --format csv lists every element")
        view.summarised = False


def _reason(
    view: View, names: list[str], value: Any, reason: dict[str, Any], at: int, of: int,
) -> Iterator[Any]:
    for head, text in causes.lines(view.file or "", names, value, reason, at, texts=view.texts,
                                   of=of, width=view.width):
        yield hanging(view, head, text) if head else view.text(text)


def hanging(view: View, head: str, text: str) -> Any:
    """A paragraph with its first word outside."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(view.text(head), view.text(text))
    return grid
