"""results.ndjson: an object for each answer, exact, in a fixed order of keys; and back.

The text of others stands here as it was typed; whatever is unprintable in it is a JSON escape, so
the file is safe on a terminal. A reader takes nothing on trust: a missing key or a value of a wrong
type is an error with its location. Keys that this version does not know are passed over.
"""

from __future__ import annotations

import json

from gradcli._version import __version__
from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.render.machine import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.sheets.sheet import Sheet


SCHEMA = 1
TOOL = f"gradcli {__version__}"
VERDICTS = ("correct", "wrong", "domain", "undecided", "unreadable", "blank")

TEXT: tuple[type, ...] = (str,)
NUMBER: tuple[type, ...] = (int, float)
NONE = type(None)
# Key -> what its value may be. The order is that of the file.
KEYS: dict[str, tuple[type, ...]] = {
    "schema": (int,), "tool": TEXT, "sheet": TEXT, "sheet_hash": TEXT, "student": TEXT,
    "problem": TEXT, "answer": TEXT, "read_as": (str, NONE), "verdict": TEXT, "score": NUMBER,
    "max": NUMBER, "mistake": (str, NONE), "also": (list,), "confidence": (str, NONE),
    "message": (str, NONE), "witness": (dict, NONE), "points": (dict, NONE), "seed": (int, str),
    "file": (str, NONE), "line": (int, NONE), "override": (dict, NONE),
    "fingerprint": (str, NONE), "hint": (str, NONE), "doubt": (str, NONE),
    "beside": (str, NONE), "share": (int, float, NONE), "ms": (int, float, NONE)}
LATER = {"doubt": None, "beside": None, "share": None}      # keys that older files do not have
OVERRIDE: dict[str, tuple[type, ...]] = {
    "score": (int, float, NONE), "comment": TEXT, "automatic": NUMBER}


def _no_constant(name: str) -> None:
    raise ValueError(name)


# `dump` and this write the same, this five times as fast, but leave unprintable characters alone.
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
DECODER = json.JSONDecoder(parse_constant=_no_constant)


class Result:
    """One answer, checked and marked; the attributes are the keys of the file.

    score: the points that count, of `max`, before any penalty for being late.
    override: None, or the score (None: only a comment) and comment of a person, and the score
        without it; "earlier": what a person gave to an answer that this one has replaced.
    fingerprint: equal for answers that are numerically equal.
    hint: the sentence about the mistake, without the values that `message` names too.
    doubt: what else the student handed in that no problem claims.
    beside: a digest of the files where that stands, or of those that could not be read.
    share: of a wrong answer, the fraction of its entries that are right.
    ms: the time that the check took, the one field that differs from run to run.
    """

    schema: int
    tool: str
    sheet: str
    sheet_hash: str
    student: str
    problem: str
    answer: str
    read_as: str | None
    verdict: str
    score: float
    max: float
    mistake: str | None
    also: list[str]
    confidence: str | None
    message: str | None
    witness: dict[str, Any] | None
    points: dict[str, Any] | None
    seed: int | str
    file: str | None
    line: int | None
    override: dict[str, Any] | None
    fingerprint: str | None
    hint: str | None
    doubt: str | None
    beside: str | None
    share: float | None
    ms: float | None

    def __init__(self, fields: dict[str, Any]) -> None:
        """Take the fields: all of KEYS, in their order."""
        self.__dict__.update(fields)

    def fields(self) -> dict[str, Any]:
        """Return the object of the file, in its order of keys."""
        return dict(self.__dict__)

    def comparable(self) -> dict[str, Any]:
        """Return all fields but the time: equal for equal answers, whatever checked them."""
        return {key: value for key, value in self.__dict__.items() if key != "ms"}


def blank(sheet: Sheet, problem: Problem, student: str, seed: int | str = 0) -> Result:
    """Return the result for no answer to a problem."""
    return Result({
        "schema": SCHEMA, "tool": TOOL, "sheet": sheet.id, "sheet_hash": sheet.hash,
        "student": student, "problem": problem.id, "answer": "", "read_as": None,
        "verdict": "blank", "score": 0.0, "max": float(problem.points), "mistake": None,
        "also": [], "confidence": None, "message": None, "witness": None, "points": None,
        "seed": seed, "file": None, "line": None, "override": None, "fingerprint": None,
        "hint": None, "doubt": None, "beside": None, "share": None, "ms": None})


def in_order(sheet: Sheet, results: Iterable[Result]) -> list[Result]:
    """Sort results by student, then as the problems stand on the sheet: the order of the file."""
    place = {problem.id: at for at, problem in enumerate(sheet.problems)}
    return sorted(results, key=lambda r: (
        r.student, place.get(r.problem, len(place)), r.problem))


def line(result: Result) -> str:
    """Return the line of the file, with its end."""
    fields = result.fields()
    try:
        text = ENCODER.encode(fields)
    except ValueError:      # NaN and infinities
        text = dump(fields)
    return (text if text.isprintable() else dump(fields)) + "\n"


def read_results(path: str, cut: bool = False) -> Iterator[Result]:
    """Yield the results in a file, one by one.

    cut: whether a last line without an end is passed over, as a run that was killed leaves it.
    Raises E0746 for whatever is not a result, E0601 if there is no such file.
    """
    with opened(path) as file:
        for _, result in placed(file, path, cut):
            yield result


def opened(path: str, help: str = "give a folder that `gradcli hw run` wrote, or its results.ndjson"
           ) -> BinaryIO:
    """Open the file. Raises E0601."""
    try:
        return open(path, "rb")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise GradcliError(Diagnostic(
            "E0601", f"cannot read `{path}`: {reason.lower()}", span=(0, 0),
            source=Source("", path), help=help)) from None


def placed(file: BinaryIO, path: str, cut: bool = False) -> Iterator[tuple[int, Result]]:
    """Yield each result with the offset of its line in the file."""
    offset = 0
    for number, raw in enumerate(file, 1):
        if cut and not raw.endswith(b"\n"):
            return
        if raw.strip():
            yield offset, parse(raw, path, number)
        offset += len(raw)


def parse(raw: bytes, path: str, number: int) -> Result:
    """Parse the result in a line. Raises E0746 with the location of the error.

    path: of the file; number: of the line, from 1.
    """
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    try:
        fields = DECODER.decode(raw.decode())
    except json.JSONDecodeError as problem:
        raise _bad(f"the line is not JSON: {problem.msg[0].lower()}{problem.msg[1:]}", text, path,
                   number, problem.pos) from None
    except (ValueError, RecursionError):
        raise _bad("the line is not a JSON object of a result", text, path, number) from None
    if not isinstance(fields, dict):
        raise _bad("the line is not a JSON object", text, path, number)
    fields = {**LATER, **fields}
    wrong = _wrong(fields)
    if wrong:
        key, message = wrong
        raise _bad(message, text, path, number, max(0, text.find(f'"{key}"')))
    return Result({key: fields[key] for key in KEYS})


def written(raw: bytes) -> Result:
    """Return the result in a line that this process wrote."""
    return Result(DECODER.decode(raw.decode()))


def _wrong(fields: dict[str, Any]) -> tuple[str, str] | None:
    """Return the first key that is wrong, and a message; None if all are right."""
    for key, types in KEYS.items():
        if key not in fields:
            return key, f"the result has no `{key}`"
        if type(fields[key]) not in types:      # a boolean is an int to `isinstance`
            return key, f"`{key}` is not what it must be in a result"
    if fields["schema"] != SCHEMA:
        return "schema", f"results of schema {fields['schema']}, and this version reads {SCHEMA}"
    if fields["verdict"] not in VERDICTS:
        return "verdict", f"`{fields['verdict']}` is no verdict"
    if fields["confidence"] not in ("high", "low", None):
        return "confidence", f"`{fields['confidence']}` is no confidence"
    if not all(isinstance(name, str) for name in fields["also"]):
        return "also", "`also` holds something that is not a name"
    for key in ("score", "max"):
        if not 0 <= fields[key] < float("inf"):
            return key, f"`{key}` is no score"
    override = fields["override"]
    if override is not None and not all(
            key in override and type(override[key]) in types for key, types in OVERRIDE.items()):
        return "override", "`override` is not what it must be in a result"
    return None


def _bad(message: str, text: str, path: str, number: int, at: int = 0) -> GradcliError:
    # The text before this line is not kept; empty lines put it where it stands.
    start = number - 1 + at
    return GradcliError(Diagnostic(
        "E0746", message, span=(start, start + 1), source=Source("\n" * (number - 1) + text, path),
        help="run `gradcli hw run` again; it writes the file anew"))
