"""The answers of a class, checked by an executor: this process, several, or a cluster.

Text goes there and plain data comes back. The verdicts do not depend on who checks what, and an
answer that takes its process with it is left to a person.
"""

from __future__ import annotations

import hashlib

from gradcli.base.errors import GradcliError
from gradcli.base.workers.batches import Job, run_batches
from gradcli.homework.check import check, prepare
from gradcli.homework.checking.outcome import WAITS, unchecked
from gradcli.homework.sheets.formats import parse
from gradcli.homework.sheets.sheet import Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor
    from typing import Any

    from gradcli.base.errors import Diagnostic
    from gradcli.homework.checking.prepared import PreparedProblem
    from gradcli.homework.handed_in.records import Answer

    # Of a problem's id, the text of an answer, why it could not be read, if so, and the answer that
    # it follows from.
    AnswerText = tuple[str, str, str | None, str]
    Checked = dict[str, Any]

# Answers in a batch: the first ones are small, so that all workers have something to do.
SMALL, LARGE = 32, 300
SMALL_ONES = 16


def prepared(sheet: Sheet, seed: int | str | None = None) -> dict[str, PreparedProblem]:
    """Return all problems of a sheet, ready for answers. seed: in place of the sheet's.

    Raises all that is wrong with them, with its locations in the sheet.
    """
    wrong: list[Diagnostic] = []
    found = {}
    for problem in sheet.problems:
        try:
            found[problem.id] = prepare(problem, seed_of(sheet, seed))
        except GradcliError as failure:
            wrong += sheet.located(problem.id, failure).diagnostics
    if wrong:
        raise GradcliError(*wrong)
    return found


def seed_of(sheet: Sheet, seed: int | str | None = None) -> str:
    """Return the seed of the points of a sheet's problems."""
    return f"{sheet.id}/{sheet.seed if seed is None else seed}"


def checker(payload: tuple[str, str, int | str]) -> Callable[[AnswerText], Checked]:
    """Return a function that checks answers to the sheet with this text, name and seed.

    Raises as `prepared`.
    """
    # Loaded before the first answer, whose time is limited, asks for it.
    import gradcli.homework.mistakes.diagnosis  # noqa: F401

    text, name, seed = payload
    ready = prepared(parse(text, name), seed)

    def one(item: AnswerText) -> Checked:
        problem, answer, fault, basis = item
        if fault is not None:
            return unchecked("unreadable", fault)
        found = check(ready[problem], answer)
        if basis and found["verdict"] == "wrong":
            from gradcli.homework.checking.followed import follow

            before = ready[ready[problem].problem.follows]
            follow(ready[problem], before, basis, answer, found, check)
        return found

    return one


def check_answers(sheet: Sheet, answers: Iterable[Answer],
                  on_result: Callable[[list[tuple[Answer, Checked]]], None], *,
                  executor: Executor | None = None, workers: int = 1,
                  seed: int | str | None = None) -> None:
    """Check answers; `on_result` gets them with their results (`gradcli.homework.check.check`), a
    batch at a time, in the order of the answers.

    executor, workers: as from `gradcli.base.workers.pools.pool(..., guarded=True)`; without, this
    process checks. An interrupt hands over what is finished, and goes on.

    Raises what is wrong with the sheet's problems, and E0738 where no worker can do anything.
    """
    payload = sheet.source.text, sheet.source.name, sheet.seed if seed is None else seed
    key = hashlib.sha256(repr(payload).encode("utf-8", "backslashreplace")).hexdigest()

    def tell(batch: Sequence[Answer], outcomes: list[tuple[bool, Any]]) -> None:
        on_result([(answer, outcome if good else unchecked("undecided", f"{outcome}{WAITS}"))
            for answer, (good, outcome) in zip(batch, outcomes, strict=True)])

    job = Job(checker, payload, key, _sent, _alike)
    run_batches(executor, workers, job, _batches(answers), tell)


def _sent(answer: Answer) -> AnswerText:
    return answer.problem, answer.answer.strip(), answer.fault, answer.basis.strip()


def _alike(answer: Answer) -> str:
    """Return what answers have in common that are checked once: in a class most are typed again."""
    return "\0".join([answer.problem, answer.fault or "", answer.answer.strip(),
                      answer.basis.strip()])


def _batches(answers: Iterable[Answer]) -> Iterator[list[Answer]]:
    batch: list[Answer] = []
    count = 0
    for answer in answers:
        batch.append(answer)
        if len(batch) >= (SMALL if count < SMALL_ONES else LARGE):
            yield batch
            batch, count = [], count + 1
    if batch:
        yield batch
