"""The folder that a run writes to: whole files below it, and nothing outside.

A file gets its name when all of it is written. A link in the place of a file is replaced, not
followed; a link in the place of a folder is refused.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from gradcli.base.errors import Diagnostic, GradcliError, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


class OutputFolder:
    """A folder, made when it is first written to. written: the names of the files, in order.

    Raises E0748 where a file or folder cannot be made, and ValueError for a name that leads out.
    """

    __slots__ = ("path", "written")

    def __init__(self, path: str) -> None:
        self.path = path
        self.written: list[str] = []

    def write(self, name: str, text: str) -> None:
        """Write a whole file; `name` is relative, with `/` between folders."""
        with self.open(name) as stream:
            stream.write(text)

    @contextmanager
    def open(self, name: str) -> Iterator[TextIO]:
        """Open a text to write to; nothing is left of it if the block ends with an exception."""
        path = self._place(name)
        temporary = os.path.join(os.path.dirname(path), f".gradcli-{os.urandom(8).hex()}")
        try:
            handle = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0),
                0o666)
        except OSError as problem:
            raise _unwritable(path, problem) from None
        try:
            # Line ends as they are given; whoever writes a lone surrogate gets its escape.
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace",
                           newline="") as stream:
                yield stream
            try:
                os.replace(temporary, path)
            except OSError as problem:
                raise _unwritable(path, problem) from None
            self.written.append(name)
        except BaseException:
            os.unlink(temporary)
            raise

    def _place(self, name: str) -> str:
        """Return the path of a file, and make its folders."""
        parts = name.split("/")
        if not all(parts) or {".", ".."} & {*parts} or "\0" in name or (
                os.sep != "/" and os.sep in name):
            raise ValueError(f"{name!r} leads out of the folder")
        try:
            os.makedirs(self.path, exist_ok=True)
            folder = self.path
            for part in parts[:-1]:
                folder = os.path.join(folder, part)
                if not os.path.lexists(folder):
                    os.mkdir(folder)
                elif not stat.S_ISDIR(os.lstat(folder).st_mode):
                    raise NotADirectoryError(20, "there is something else of this name", folder)
        except OSError as problem:
            raise _unwritable(problem.filename or self.path, problem) from None
        return os.path.join(folder, parts[-1])


def _unwritable(path: str, problem: OSError) -> GradcliError:
    reason = (problem.strerror or str(problem)).lower()
    return GradcliError(Diagnostic(
        "E0748", f"cannot write `{path}`: {reason}", span=(0, len(path)),
        source=Source(path, "--out"), help="give a folder that you may write to"))
