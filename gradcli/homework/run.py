"""A whole run: what a class handed in, checked, marked and written.

Answers go out in batches and come back in the order in which they stand in the files, so the marks
of one student at a time are in memory, however large the class. What is checked is noted at once in
`unfinished.ndjson`: a run that is interrupted, or killed, is continued by the next one.
"""

from __future__ import annotations

import os
from collections import deque
from time import perf_counter

from gradcli.errors import Diagnostic, GradcliError
from gradcli.homework import results as lines
from gradcli.homework.earlier import RESULTS, reusable
from gradcli.homework.grade import overridden, result
from gradcli.homework.journal import Journal
from gradcli.homework.manifest import NAME, file_hash, manifest
from gradcli.homework.notes import NOTES, write_notes
from gradcli.homework.outputs import write_outputs
from gradcli.homework.overrides import read_overrides
from gradcli.homework.saved import save

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from typing import Any, TextIO

    from gradcli.homework.earlier import Earlier
    from gradcli.homework.output_folder import OutputFolder
    from gradcli.homework.outputs import Written
    from gradcli.homework.overrides import Override
    from gradcli.homework.people import Student
    from gradcli.homework.results import Result
    from gradcli.homework.sheet import Sheet
    from gradcli.homework.submissions.records import Answer, Note, Submission, Submissions
    from gradcli.homework.submissions.roster import Roster
