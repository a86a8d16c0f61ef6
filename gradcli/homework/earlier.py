"""Results of an earlier run that still hold.

An answer need not be checked again if the problem, its text, the seed and the tool are the same.
Blank and undecided ones are.
Of the old results only the places in their file are kept in memory.
"""

from __future__ import annotations

import os

from gradcli.errors import GradcliError
from gradcli.homework.grade import automatic
from gradcli.homework.manifest import NAME, read_manifest
from gradcli.homework.results import opened, parse, placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, Self

    from gradcli.homework.manifest import Manifest
    from gradcli.homework.results import Result

RESULTS = "results.ndjson"


class Earlier:
    """Old results by student and problem. Close it when all are found, or use `with`.

    The file stays open, so it may be replaced by the new one meanwhile.
    """

    __slots__ = ("_file", "_new", "_path", "_places", "found")

    def __init__(self, new: Manifest, path: str = "") -> None:
        self._new = new
        self._path = path
        self._file: BinaryIO | None = None
        self._places: dict[tuple[str, str], int] = {}
        self.found = 0

    def find(self, student: str, problem: str, answer: str, file: str | None = None,
             line: int | None = None) -> Result | None:
        """The result of the same answer, as if it were checked now: without an override, and with
        the place where the answer stands now. None if there is none that holds.
        """
        place = self._places.get((student, problem))
        if place is None or self._file is None:
            return None
        self._file.seek(place)
        try:
            result = parse(self._file.readline(), self._path, 1)
        except GradcliError:
            return None     # somebody wrote into the file meanwhile
        if (result.student, result.problem, result.answer) != (student, problem, answer):
            return None
        automatic(result)
        result.sheet_hash = self._new.sheet_hash
        result.file, result.line = file, line
        self.found += 1
        return result

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _index(self, usable: set[str]) -> None:
        self._file = opened(self._path)
        for place, result in placed(self._file, self._path, cut=True):
            new = self._new
            # A file that could not be read has no answers either, and a clock may decide next time.
            if not result.answer.strip() or result.verdict == "undecided":
                continue
            if result.problem in usable and (result.tool, result.seed, result.sheet) == (
                    new.tool, new.seed, new.sheet):
                self._places[result.student, result.problem] = place


def reusable(folder: str, new: Manifest) -> Earlier:
    """What still holds of the results in an output folder; nothing if there are none.

    A manifest or results that cannot be read are as good as none: all is checked anew.
    """
    path = os.path.join(folder, RESULTS)
    earlier = Earlier(new, path)
    try:
        old = read_manifest(os.path.join(folder, NAME))
        if (old.tool, old.seed, old.sheet) == (new.tool, new.seed, new.sheet):
            earlier._index({id for id, found in new.problems.items()
                            if old.problems.get(id) == found})
    except GradcliError:
        earlier.close()
        return Earlier(new)
    return earlier
