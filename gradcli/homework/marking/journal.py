"""unfinished.ndjson: what a run has checked, noted at once, so that the next one need not again.

It belongs to one text of the sheet, one seed and one version; with another it is begun anew. A
run that comes to its end deletes it.
"""

from __future__ import annotations

import os

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.marking.earlier import Earlier
from gradcli.homework.marking.results import parse, placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, Self

    from gradcli.homework.marking.manifest import Manifest
    from gradcli.homework.marking.results import Result

NAME = "unfinished.ndjson"


class Journal:
    """The file while a run writes it. found: results of a run before, for `find`."""

    __slots__ = ("_earlier", "_file", "_places", "path", "size")

    def __init__(self, folder: str, new: Manifest, fresh: bool = False) -> None:
        """fresh: what is there does not count. Raises E0748 where it cannot be written."""
        self.path = os.path.join(folder, NAME)
        try:
            os.makedirs(folder, exist_ok=True)
            # A link in its place may lead anywhere.
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
                             | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as problem:
            path, reason = self.path, (problem.strerror or "").lower()
            if isinstance(problem, (FileExistsError, NotADirectoryError)):
                path, reason = folder, "it is no folder"
            raise GradcliError(Diagnostic(
                "E0748", f"cannot write `{path}`: {reason}", span=(0, len(path)),
                source=Source(path, "--out"), help="give a folder that you may write to")) from None
        self._file: BinaryIO = os.fdopen(handle, "r+b")
        self._earlier = Earlier(new)
        self._places: dict[tuple[str, str], int] = {}
        self.size = 0 if fresh else self._kept(new)
        self._file.truncate(self.size)
        self._file.seek(self.size)

    def _kept(self, new: Manifest) -> int:
        """How much of the file counts: whole lines, if they are of this sheet."""
        end = 0
        try:
            for _, result in placed(self._file, self.path, cut=True):
                if (result.sheet_hash, result.seed, result.tool) != (
                        new.sheet_hash, new.seed, new.tool):
                    return 0
            self._file.seek(0)
            for raw in self._file:
                end += len(raw) if raw.endswith(b"\n") else 0
            self._earlier = Earlier(new, self.path)
            self._earlier._index({*new.problems})
        except GradcliError:
            self._earlier = Earlier(new)
            return 0
        return end

    def find(self, student: str, problem: str, answer: str, file: str | None, line: int | None
             ) -> Result | None:
        """The result of this answer that a run before has noted."""
        return self._earlier.find(student, problem, answer, file, line)

    def note(self, student: str, problem: str, text: str) -> None:
        """The line of a result."""
        data = text.encode()
        self._file.write(data)
        self._places[student, problem] = self.size
        self.size += len(data)

    def flush(self) -> None:
        """What was noted is in the file, whatever happens next."""
        self._file.flush()

    def noted(self, student: str, problem: str) -> tuple[Result, str]:
        """A result of this run, and its line."""
        self._file.seek(self._places[student, problem])
        raw = self._file.readline()
        return parse(raw, self.path, 1), raw.decode()

    def finish(self) -> None:
        """All is written elsewhere."""
        self.close()
        os.unlink(self.path)

    def close(self) -> None:
        self._earlier.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
        if self.size == 0 and os.path.exists(self.path):
            os.unlink(self.path)
