"""A problem sheet: the problems, their points, and how answers are judged.

    schema = 1
    [sheet]
    id = "calc1-hw3"
    title = "Chain rule"
    log = "natural"             # and all other OPTIONS, for every problem that does not say
    seed = 7                    # else 0
    [credit]
    missing_chain_factor = 0.5
    [late]
    penalty = 0.1               # the share that a late submission loses
    due = 2026-11-20T23:59      # and the rest of a `Deadline`
    [[problem]]
    id = "1a"
    function = "x^2 sin(x)"     # and all other fields of a `Problem`

CSV with a header of fields and lists of `id: function` are sheets, too
(`gradcli.homework.sheets.formats`).
"""

from __future__ import annotations

import hashlib
import os
import re

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.checking.fields import READERS, from_fields
from gradcli.homework.checking.problem import DEFAULTS, Problem
from gradcli.homework.sheets.deadline import LAST, Deadline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span

    Advice = Callable[[Diagnostic], str | None]

MAX_PROBLEMS = 1_000
MAX_TOLD = 20
# A problem's id is what students write in front of their answers.
ID = re.compile(r"[^\s:=()\[\],;\"'#\x00-\x1f]{1,32}")
# Fields that a sheet may set for all its problems.
OPTIONS = ("log", "angle", "rtol", "domain_policy", "real_roots", "decimal_comma", "normalize",
           "unit_required")


def _as_it_is(one: Diagnostic) -> str | None:
    return one.help


class Sheet:
    """A sheet.

    options: fields for all problems, such as log.
    late: the share that late submissions lose.
    deadline: when it is due.
    attempt: which of several attempts counts, one of ATTEMPTS.
    seed: of the points.
    hash: of the text.
    source: the text.
    advice: from a diagnostic to its help, as it can be followed in a sheet of this format.
    """

    __slots__ = ("_ids", "_places", "advice", "attempt", "deadline", "hash", "id", "late",
                 "options", "path", "problems", "seed", "source", "title")

    def __init__(self, source: Source, id: str, problems: Sequence[Problem],
                 places: Mapping[tuple[str, str], Span], *, title: str = "", late: float = 0.0,
                 seed: int | str = 0, options: Mapping[str, Any] | None = None,
                 deadline: Deadline | None = None, attempt: str = LAST,
                 advice: Advice | None = None) -> None:
        self.source = source
        self.advice = advice or _as_it_is
        self.path = source.name
        self.hash = hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()
        self.id = id
        self.title = title
        self.problems = list(problems)
        self.options = dict(options or {})
        self.late = late
        self.deadline = deadline or Deadline()
        self.attempt = attempt
        self.seed = seed
        self._ids = {p.id: p for p in self.problems}
        self._places = places

    def __getitem__(self, id: str) -> Problem:
        return self._ids[id]

    def __contains__(self, id: str) -> bool:
        return id in self._ids

    @property
    def ids(self) -> list[str]:
        return list(self._ids)

    @property
    def max_score(self) -> float:
        return sum([p.points for p in self.problems])

    def place(self, id: str, field: str = "") -> Span:
        """Return the span of a problem, or of the value of one of its fields, in the sheet."""
        return self._places.get((id, field)) or self._places.get((id, ""), (0, 0))

    def _quoted(self, start: int, end: int, text: str) -> Span:
        """Return the span of a quoted text in a list; of the list if it is written otherwise."""
        for quote in "\"'":
            at = self.source.text.find(f"{quote}{text}{quote}", start, end)
            if at >= 0:
                return at, at + len(text) + 2
        return start, end

    def located(self, id: str, failure: GradcliError) -> GradcliError:
        """Return an error about a problem with its location in the sheet.

        Spans in the text of the function are kept where the sheet writes it unchanged.
        """
        field = "function"
        if failure.about is not None:
            kind, what = failure.about
            field = what if kind == "option" else "accept"
            if (id, field) not in self._places:
                field = "function"
        start, end = self.place(id, field)
        if field == "accept" and failure.about is not None:
            start, end = self._quoted(start, end, failure.about[1])
        said = getattr(self._ids[id], field)
        inside = self.source.text[start:end].find(said) if isinstance(said, str) and said else -1
        found = []
        for one in failure.diagnostics:
            span = (start, end)
            if inside >= 0 and one.span is not None:
                span = (start + inside + one.span[0], start + inside + one.span[1])
            found.append(Diagnostic(
                one.code, one.message, span=span, source=self.source, label=one.label,
                notes=(*one.notes, f"in problem {id}"), help=self.advice(one)))
        return GradcliError(*found)


def stem(name: str) -> str:
    """Return the id of a sheet that has none: the name of its file."""
    return os.path.splitext(os.path.basename(name))[0].strip("<>") or "sheet"


class SheetProblems:
    """The problems of a sheet, and the errors in them, while it is read."""

    __slots__ = ("advice", "ids", "places", "problems", "source", "wrong")

    def __init__(self, source: Source, advice: Advice | None = None) -> None:
        self.source = source
        self.advice = advice or _as_it_is
        self.problems: list[Problem] = []
        self.wrong: list[Diagnostic] = []
        self.ids: dict[str, tuple[str, Span]] = {}
        self.places: dict[tuple[str, str], Span] = {}

    def report(self, code: str, message: str, span: Span, help: str | None = None,
               label: str = "", related: Sequence[tuple[Span, str]] = ()) -> None:
        self.wrong.append(Diagnostic(code, message, span=span, source=self.source, help=help,
                                     label=label, related=related))

    def unknown(self, what: str, name: str, span: Span, known: Iterable[str]) -> None:
        """Add an error for an unknown key; suggest the nearest.

        what: noun for the message.
        name, span: of the key.
        known: the keys that there are.
        """
        import difflib

        known = list(known)
        near = difflib.get_close_matches(name.lower(), known, n=1)
        self.report("E0701", f"there is no {what} `{name}`", span,
                    f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}")

    def add(self, fields: Mapping[str, Any], defaults: Mapping[str, Any], whole: Span,
            keys: Mapping[str, Span], values: Mapping[str, Span]) -> None:
        """Add a problem, or errors where it is wrong.

        fields: of the problem, as read.
        defaults: the sheet's fields for all problems.
        whole: the span of the problem.
        keys, values: spans of the fields' names and values.
        """
        known = {}
        for name, value in fields.items():
            if name in DEFAULTS:
                known[name] = value
            else:
                self.unknown("field", name, keys[name], DEFAULTS)
        id = self._id(known, whole, values)
        try:
            problem = from_fields(known, defaults)
        except GradcliError as failure:
            self.place(failure, known, whole, values)
            return
        if id is not None:
            problem.id = id
            self.problems.append(problem)
            self.places[id, ""] = whole
            for name, span in values.items():
                self.places[id, name] = span

    def _id(self, fields: Mapping[str, Any], whole: Span, values: Mapping[str, Span]
            ) -> str | None:
        """Return the id; None, with an error, if it is missing, wrong or taken."""
        if "id" not in fields:
            self.report("E0702", "`id` is missing", whole, 'write id = "1a"')
            return None
        id = fields["id"]
        if isinstance(id, int) and not isinstance(id, bool):
            id = str(id)
        if not isinstance(id, str) or not ID.fullmatch(id):
            self.report("E0703", "`id` must be a text of at most 32 characters without spaces,"
                        " brackets, quotes and , ; : = #", values["id"], 'write id = "1a"')
            return None
        if id.casefold() in self.ids:
            other, first = self.ids[id.casefold()]
            self.report("E0706", f"there are two problems `{id}`" if id == other else
                        f"`{id}` and `{other}` are the same id for a student", values["id"],
                        "give each problem an id of its own", related=[(first, "the first one")])
            return None
        self.ids[id.casefold()] = id, values["id"]
        return id

    def checked(self, name: str, value: Any, read: Callable[[str, Any], Any], span: Span) -> Any:
        """Return the value that `read` makes of another; None, with an error, if refused."""
        try:
            return read(name, value)
        except GradcliError as failure:
            self.place(failure, {name: value}, span, {name: span})
            return None

    def option(self, name: str, value: Any, span: Span) -> Any:
        return self.checked(name, value, READERS[name], span)

    def place(self, failure: GradcliError, fields: Mapping[str, Any], whole: Span,
              values: Mapping[str, Span]) -> None:
        """Add an error at the field that its message names."""
        words = re.findall(r"\w+", failure.message)
        named = next((word for word in words if word in fields and word in values), None)
        self.report(failure.code, failure.message, values[named] if named else whole,
                    self.advice(failure.diagnostics[0]))

    def sheet(self, id: str, **rest: Any) -> Sheet:
        """Return the sheet; raise all errors if there are any."""
        if not self.problems and not self.wrong:
            self.report("E0702", "the sheet has no problem", (0, 0),
                        'write [[problem]], and below it id = "1a" and function = "x^2"')
        if len(self.problems) > MAX_PROBLEMS:
            self.report("E0707", f"the sheet has more than {MAX_PROBLEMS} problems",
                        self.places[self.problems[MAX_PROBLEMS].id, ""], "split the sheet")
        known = [p.id for p in self.problems]
        for k, problem in enumerate(self.problems):
            if problem.follows and problem.follows not in known[:k]:
                span = self.places.get((problem.id, "follows"), self.places[problem.id, ""])
                if k and problem.follows != problem.id:
                    self.unknown("earlier problem", problem.follows, span, known[:k])
                    continue
                self.report("E0701", f"there is no earlier problem `{problem.follows}`", span,
                            f"name the part before it: {', '.join(known[:k])}" if k else
                            "leave `follows` out: this is the first problem")
        if self.wrong:
            self.wrong.sort(key=lambda one: one.span or (0, 0))
            raise GradcliError(*self.wrong[:MAX_TOLD])
        return Sheet(self.source, id, self.problems, self.places, advice=self.advice, **rest)
