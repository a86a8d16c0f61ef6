"""The files of a run, written again from its results: other templates, levels, overrides."""

from __future__ import annotations

import os
from heapq import merge

from gradcli.homework.earlier import RESULTS
from gradcli.homework.grade import automatic, overridden
from gradcli.homework.outputs import GRADESCOPE, USUAL, write_outputs
from gradcli.homework.overrides import joined_overrides
from gradcli.homework.results import blank, in_order, line, read_results
from gradcli.homework.run import override_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TextIO

    from gradcli.homework.output_folder import OutputFolder
    from gradcli.homework.outputs import Written
    from gradcli.homework.overrides import Override
    from gradcli.homework.results import Result
    from gradcli.homework.run import Wish
    from gradcli.homework.saved import Saved


def export(saved: Saved, out: OutputFolder, wish: Wish) -> Written:
    """Nothing is checked; scores that a person gave since count. Raises as `run` does."""
    paths = override_files(wish.overrides, saved.folder)
    overrides = joined_overrides(paths, saved.sheet, [s.id for s in saved.students]
                               ) if paths else None
    with out.open(RESULTS) as stream:
        return write_outputs(
            out, saved.sheet, saved.students, _results(saved, overrides, stream),
            files=(*USUAL, GRADESCOPE) if wish.gradescope else USUAL, overrides=overrides,
            level=wish.level, raw=wish.raw, templates=wish.templates, column=wish.column,
            visibility=wish.visibility)


def _results(saved: Saved, overrides: Mapping[tuple[str, str], Override] | None,
             stream: TextIO) -> Iterator[Result]:
    for one in _checked(saved, overrides):
        if overrides is not None:
            automatic(one)
        said = (overrides or {}).get((one.student, one.problem))
        override = said.of(one.answer) if said is not None else None
        if override is not None:
            overridden(one, override)
        stream.write(line(one))
        yield one


def _checked(saved: Saved, overrides: Mapping[tuple[str, str], Override] | None
             ) -> Iterator[Result]:
    """The results, and blank ones of students who handed nothing in, where a person said something.
    """
    there = read_results(os.path.join(saved.folder, RESULTS))
    if overrides is None:
        yield from there
        return
    absent = {student.id for student in saved.students if not student.handed_in}
    given = in_order(saved.sheet, [
        blank(saved.sheet, saved.sheet[problem], student, saved.manifest.seed)
        for student, problem in overrides if student in absent])
    yield from merge((one for one in there if one.student not in absent), given,
                     key=lambda one: one.student)
