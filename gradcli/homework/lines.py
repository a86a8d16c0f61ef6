"""Answers as lines of NDJSON: the problem and the answer in each, a result for each.

A line that is wrong has an error in place of a result, and the next one goes on. Lines that set the
same problem share its right answer, which is most of the work.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source, error
from gradcli.homework import check
from gradcli.homework.checking.answered import Answered
from gradcli.homework.checking.fields import from_fields, in_json
from gradcli.homework.checking.outcome import unchecked
from gradcli.lang.paper.answer import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem

    Asked = tuple[dict[str, Any], str]

SCHEMA = 1
MAX_LINE = 1024 * 1024
"""Bytes of a line; the rest of a longer one is read over."""
KEPT = 32
"""So many problems are kept with their right answers."""
# The order of the keys, and all there are.
KEYS = ("verdict", "mistake", "also", "confidence", "message", "read_as", "alternatives", "witness",
        "points", "score", "ms")


class Line:
    """A line: a problem and an answer to it.

    number: from 1. id: as it came. fields: of the problem. wrong: what is wrong with the line, None
    if nothing is.
    """

    __slots__ = ("answer", "fields", "id", "number", "raw", "wrong")

    def __init__(self, number: int, raw: bytes) -> None:
        self.number = number
        self.raw = raw
        self.id: Any = None
        self.fields: dict[str, Any] = {}
        self.answer = ""
        self.wrong: GradcliError | None = None
        try:
            if len(raw) > MAX_LINE:
                raise error("E0709", f"the line is longer than {MAX_LINE // 1024 ** 2} MiB",
                            help="write one object on each line")
            self.fields = _loaded(_decoded(raw))
            self.id = self.fields.pop("id", None)
            self.answer = _answer(self.fields).strip()
        except GradcliError as problem:
            self.wrong = problem

    def asked(self) -> Asked | None:
        """Return the problem and the answer, which tell the result; None for a wrong line."""
        return None if self.wrong is not None else (self.fields, self.answer)

    def told(self, found: dict[str, Any] | GradcliError | None, name: str) -> dict[str, Any]:
        """Return the object for the line. found: what was found for `asked()`; name: of the file.
        """
        wrong = found if isinstance(found, GradcliError) else self.wrong
        if wrong is not None:
            text = "" if len(self.raw) > MAX_LINE else self.raw.decode("utf-8", "replace")
            return failed(wrong, self.id, text, self.number, name)
        assert isinstance(found, dict)
        return {"schema": SCHEMA, "id": self.id, **found}


class Checker:
    """A checker of what lines ask. defaults: fields of the problems that do not give them."""

    __slots__ = ("_defaults", "_kept", "_seed")

    def __init__(self, defaults: Mapping[str, Any], seed: int | str) -> None:
        self._defaults = defaults
        self._seed = seed
        self._kept: dict[str, PreparedProblem | GradcliError] = {}

    def __call__(self, asked: Asked | None) -> tuple[dict[str, Any] | GradcliError | None, bool]:
        """Return the result, or what is wrong with the problem, and whether the answer is right."""
        if asked is None:
            return None, False
        fields, answer = asked
        try:
            ready = self._prepared(fields)
        except GradcliError as wrong:
            return wrong, False
        found, problem = checked(ready, answer), ready.problem
        if problem.points != 1 or problem.credit:
            from gradcli.homework.marking.marks import score

            found["score"] = score(problem, found)
        return found, right(found, problem.domain_policy)

    def _prepared(self, fields: dict[str, Any]) -> PreparedProblem:
        """Return the problem of these fields, ready; the least recently used one is dropped."""
        key = repr(fields)
        found = self._kept.pop(key, None)
        if found is None:
            try:
                found = check.prepare(from_fields(_said(fields), self._defaults), self._seed)
            except GradcliError as problem:
                found = problem
            if len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[key] = found
        if isinstance(found, GradcliError):
            raise found
        return found


def checked(ready: PreparedProblem, answer: str) -> dict[str, Any]:
    """Return the result for an answer, with the keys of KEYS, even where the check itself fails."""
    try:
        found = check.check(ready, answer)
    except Exception as bug:        # one answer is not worth the run of a class
        return undecided(f"a bug in gradcli, not in the answer: {type(bug).__name__}: {bug};"
                         " a person has to look at it")
    return {key: found[key] for key in KEYS}


def undecided(message: str) -> dict[str, Any]:
    """Return the result for an answer that could not be checked."""
    found = unchecked("undecided", message)
    return {key: found[key] for key in KEYS}


def unreadable(ready: PreparedProblem, answer: str) -> tuple[Diagnostic, ...]:
    """Return diagnostics that say why an answer cannot be read, and where; none if it can."""
    if ready.reference.solutions is not None:
        return ()
    try:
        Answered(read(answer, ready.reference.names), ready.reference, ready.problem)
    except GradcliError as problem:
        for one in problem.diagnostics:
            one.source = one.source or Source(answer, "answer")
        return problem.diagnostics
    return ()


def right(result: Mapping[str, Any], policy: str = "note") -> bool:
    """Return whether an answer counts as right. policy: the problem's `domain_policy`."""
    verdict = result.get("verdict")
    return verdict == "correct" or (verdict == "domain" and policy == "note")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise error("E0709", f"the line is not UTF-8 text: byte 0x{raw[problem.start]:02x} at"
                    f" offset {problem.start}", help="save the file as UTF-8") from None


def _loaded(text: str) -> dict[str, Any]:
    import json

    advice = 'write an object: {"id": 1, "function": "x^2", "wrt": "x", "answer": "2x"}'
    try:
        fields = json.loads(text, parse_constant=_refused, object_pairs_hook=_once)
    except GradcliError:
        raise
    except json.JSONDecodeError as problem:
        raise error("E0709", f"the line is not JSON: {problem.msg[0].lower()}{problem.msg[1:]}",
                    (problem.pos, problem.pos + 1), help=advice) from None
    except (ValueError, RecursionError) as failure:
        why = "it is nested too deeply" if isinstance(failure, RecursionError) else (
            str(failure) if "in JSON" in str(failure) else "a number has too many digits")
        raise error("E0709", f"the line is not JSON: {why}", help=advice) from None
    if not isinstance(fields, dict):
        raise error("E0709", "the line is not a JSON object", help=advice)
    return fields


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises E0709 for a key that stands in it twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        from collections import Counter

        twice = Counter([key for key, _ in pairs]).most_common(1)[0][0]
        raise error("E0709", f"`{twice:.40}` stands twice in one object",
                    help="leave one of them out")
    return found


def _answer(fields: dict[str, Any]) -> str:
    """Remove the answer from the fields and return it; null is no answer."""
    if "answer" not in fields:
        raise error("E0702", "`answer` is missing", help='write "answer": "2x"')
    answer = fields.pop("answer")
    return "" if answer is None else _written(answer)


def _written(answer: Any, depth: int = 2) -> str:
    """Return a text, a number, or an array of components as a student would type it."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, (int, float)) and not isinstance(answer, bool):
        return repr(answer)
    if isinstance(answer, list) and answer and depth:
        return f"[{', '.join([_written(item, depth - 1) for item in answer])}]"
    raise error("E0703", "`answer` must be a text", help='write "answer": "2x"')


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not empty: a table saved as NDJSON leaves the others empty."""
    return {name: value for name, value in fields.items() if value != ""}


def failed(problem: GradcliError, id: Any, text: str, number: int, name: str) -> dict[str, Any]:
    """Return the object for a line that is wrong, with the location where it is known.

    id: of the line.
    text: the line.
    number: of the line, from 1.
    name: of the file or stream.
    """
    one = problem.diagnostics[0]
    span = one.span
    if span is not None and problem.code != "E0709":
        span = _inside(text, one.source, span)
    start, end = span if span is not None else (None, None)
    return {"schema": SCHEMA, "id": id, "error": {
        "code": one.code, "message": one.message, "file": name, "line": number,
        "column": None if start is None else start + 1, "end_line": number,
        "end_column": None if end is None else end + 1, "help": in_json(one)}}


def _inside(text: str, source: Source | None, span: tuple[int, int]) -> tuple[int, int] | None:
    """Return a span of the function as a span of the line; None if the line has escapes in it."""
    at = -1 if source is None else text.find(f'"{source.text}"')
    if at < 0 or source is None:
        return None
    return at + 1 + span[0], at + 1 + min(span[1], len(source.text))
