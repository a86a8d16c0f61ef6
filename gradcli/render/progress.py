"""A progress bar on standard error, for work longer than half a second."""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any, TextIO

PATIENCE = 0.5
STEP = 0.1


class Progress:
    """Wraps what a loop goes over; the bar appears after half a second and clears itself.

    Whoever writes to the terminal meanwhile calls `hide` first; the next step shows it again.
    """

    __slots__ = ("_bar", "_shown", "_stream", "_task")

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Any = None
        self._shown = False
        self._task: Any = None

    def __call__(self, items: Iterable[Any], total: int | None,
                 until: Callable[[Any], int] | None = None) -> Generator[Any]:
        """Yield the items, with a bar of progress where they take long. total: how many there are,
        or None. until: returns how much of the total is done with an item, where items do not count
        one each.
        """
        started = shown = monotonic()
        done = 0
        try:
            for item in items:
                yield item
                done = until(item) if until is not None else done + 1
                now = monotonic()
                if now - shown >= STEP and now - started >= PATIENCE:
                    shown = now
                    self._show(done, total)
        finally:
            self.hide()
            self._bar = None

    def _show(self, done: int, total: int | None) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(file=self._stream), transient=True,
                            auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
            self._task = self._bar.add_task("running", total=total)
        if not self._shown:
            self._bar.start()
            self._shown = True
        self._bar.update(self._task, completed=done)
        self._bar.refresh()

    def hide(self) -> None:
        """Clear the bar from the screen; its clock goes on."""
        if self._shown:
            self._bar.stop()
            self._shown = False
