"""Scripts written for TensorFlow, run on gradcli, and the gradients in them that came out wrong.

A script runs as `python SCRIPT.py` would, with the rights of the user; `tensorflow` and `keras`
mean the modules of this room. Every question that it puts to a tape is heard: what is None, NaN or
infinite, or 0 whenever it was asked, is explained when it happens, while the tape still knows.
"""

from __future__ import annotations

import builtins
import linecache
import os
import re
import sys
import threading
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from time import perf_counter
from tokenize import detect_encoding
from types import ModuleType
from warnings import catch_warnings, filterwarnings, warn

from gradcli.base.errors import MAX_BYTES, GradcliError, read
from gradcli.base.lazy import np
from gradcli.engine.record.provenance import caller, inside, position
from gradcli.engine.record.record import begin_anew
from gradcli.engine.record.tensor import Tensor, flatten
from gradcli.explain.elements import finite
from gradcli.explain.python.why import REFUSED, why, why_refused
from gradcli.tf import tape as tapes
from gradcli.tf.dtypes import clear_types, set_floatx
from gradcli.tf.scripts.changes import fix
from gradcli.tf.scripts.texts import Scripts
from gradcli.tf.slices import IndexedSlices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType, TracebackType
    from typing import Any

NAMES = {"tensorflow": "gradcli.tf", "keras": "gradcli.tf.keras"}
"""What a script imports, and what it gets."""

# The status of what a signal ended, as shells have it.
INTERRUPTED = 130
# Wrong gradients that are explained; a script may ask for millions.
MOST = 200


# ---- running -------------------------------------------------------------------------------------


class Run:
    """A script that ran: its text, the status that it ended with and what ended it, what was heard,
    how many seconds it took, and the lines that it got from `input()`.
    """

    __slots__ = ("heard", "lines", "path", "problem", "seconds", "status", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.status = 0
        self.problem: BaseException | None = None
        self.heard = Heard()
        self.seconds = 0.0
        self.lines: list[str] = []


def run(path: str, arguments: Sequence[str], real: bool = False, text: str | None = None,
        most: int | None = None, lines: Sequence[str] = ()) -> Run:
    """Run a script to its end, as Python does. real: with the TensorFlow that is installed. text:
    in place of what the file has. most: questions after which it is ended. lines: the first that
    `input()` gives.

    An exception of the script is kept, not raised, an interrupt too. Raises E0601 and E0602 for a
    file that cannot be read.
    """
    made = Run(path, text_of(path) if text is None else text)
    begin_anew()
    set_floatx("float32")
    clear_types()
    # What explanations and tracebacks show is what ran, whatever the file has.
    linecache.cache[path] = len(made.text), None, made.text.splitlines(keepends=True), path
    main = ModuleType("__main__")
    vars(main).update(__file__=path, __builtins__=builtins)
    before = sys.argv, sys.path[:], sys.modules["__main__"]
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.modules["__main__"] = main
    finder = Finder()
    if not real:
        sys.meta_path.insert(0, finder)
    made.heard.most = most
    tapes.listener = made.heard
    process = os.getpid()
    hook, threading.excepthook = threading.excepthook, _of_thread
    reads, builtins.input = builtins.input, _reading(made, lines)
    began = perf_counter()
    try:
        with catch_warnings():
            filterwarnings("ignore", "a derivative may be wrong")   # findings say more
            exec(compile(made.text, path, "exec"), vars(main))
    except Enough:
        pass
    except SystemExit as stop:
        made.status = _status(stop.code)
    except BaseException as problem:
        made.status = INTERRUPTED if isinstance(problem, KeyboardInterrupt) else 1
        made.problem = problem
    finally:
        made.seconds = perf_counter() - began
        builtins.input = reads
        if os.getpid() != process:
            _end_of_child(made)
        tapes.listener = None
        made.heard.end(made.problem)
        threading.excepthook = hook
        sys.argv, sys.path[:], sys.modules["__main__"] = before
        if not real:
            sys.meta_path.remove(finder)
            for name in [n for n in sys.modules if n.partition(".")[0] in NAMES]:
                del sys.modules[name]
    return made


def text_of(path: str) -> str:
    """Return the text of a script in the encoding that its first lines name, UTF-8 else. Raises
    E0601 to E0604.
    """
    try:
        with open(path, "rb") as file:
            encoding, _ = detect_encoding(file.readline)
        if not encoding.startswith("utf-8"):
            with open(path, encoding=encoding, newline="") as named:
                return named.read(MAX_BYTES)
    except (OSError, SyntaxError, LookupError, ValueError):
        pass    # what is wrong with it is told of the bytes
    return read(path).text


def _reading(made: Run, lines: Sequence[str]) -> Callable[..., str]:
    """Return `input` as it is, but that it gives these lines first, and that the run keeps what it
    gave.
    """
    ready, reads = list(lines), builtins.input

    def input(prompt: object = "", /) -> str:
        made.lines.append(ready.pop(0) if ready else reads(prompt))
        return made.lines[-1]

    return input


def _end_of_child(made: Run) -> None:
    """End a process that the script forked, as Python would: the parent tells what there is."""
    if made.problem is not None:
        print(told(made.problem), end="", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(made.status)


def _of_thread(arguments: Any) -> None:
    """Print an exception that ended a thread, as Python does."""
    if arguments.exc_type is not SystemExit:
        name = arguments.thread.name if arguments.thread is not None else ""
        print(f"Exception in thread {name}:\n{told(arguments.exc_value)}", end="",
              file=sys.stderr)


def _status(code: Any) -> int:
    if code is None or isinstance(code, int):
        return int(code or 0)
    print(code, file=sys.stderr)
    return 1


class Finder(MetaPathFinder, Loader):
    """The import of `tensorflow` and `keras`, and of what is below them."""

    def __init__(self) -> None:
        self.specs: dict[str, Any] = {}

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return how a module of TensorFlow is loaded; None for any other. Raises ImportError for
        one that gradcli does not have.
        """
        if fullname.partition(".")[0] not in NAMES:
            return None
        spec = ModuleSpec(fullname, self, is_package=True)
        return spec

    def create_module(self, spec: ModuleSpec) -> Any:
        """Return the module of gradcli that stands for one of TensorFlow."""
        from importlib import import_module

        root, *parts = spec.name.split(".")
        found: Any = import_module(NAMES[root])
        for part in parts:
            try:
                found = getattr(found, part)
            except AttributeError as problem:
                raise ModuleNotFoundError(str(problem), name=spec.name) from None
        if not isinstance(found, ModuleType):
            raise ModuleNotFoundError(f"No module named '{spec.name}'", name=spec.name)
        self.specs[spec.name] = getattr(found, "__spec__", None)
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is: it keeps the name of its own."""
        name = module.__spec__.name if module.__spec__ is not None else ""
        vars(module)["__spec__"] = self.specs.pop(name, module.__spec__)


def told(problem: BaseException) -> str:
    """Return what Python would print of an exception, without the lines of this package."""
    import traceback

    lines = traceback.format_exception(
        type(problem), problem, _of_the_script(problem.__traceback__))
    return "".join(lines)


def _of_the_script(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames inside gradcli."""
    from types import TracebackType

    if trace is None:
        return None
    rest = _of_the_script(trace.tb_next)
    if inside(trace.tb_frame.f_code.co_filename):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


class Enough(BaseException):
    """What ends a script that was asked only for its first gradients."""


# ---- listening -----------------------------------------------------------------------------------


class Gradient:
    """A gradient that a script asks for, at one place with respect to one source.

    number: of the question that first asked for it, and of the source there.
    asked: how often; answers: how often it was None, NaN, infinite or 0, or refused by an error.
    first: the sum of the elements of its first answer, and that of their sizes; None of no number.
    """

    __slots__ = ("answers", "asked", "at", "first", "number", "reasons", "total")

    def __init__(self, at: Any, number: tuple[int, int], total: int) -> None:
        self.at = at
        self.number = number
        self.total = total
        self.asked = 0
        self.answers: dict[str, int] = {}
        self.first: tuple[float, float] | None = None
        self.reasons: dict[str, list[Any]] = {}

    def wrong(self) -> str:
        """Return what is wrong: "None", "NaN", "infinite", "0", "refused"; empty if nothing is.

        A 0 counts that was there each time.
        """
        for answer in ("refused", "None", "NaN", "infinite"):
            if self.answers.get(answer):
                return answer
        always = self.answers.get("0") == self.asked and self.reasons.get("0")
        return "0" if always else ""


class Heard:
    """All gradients that a script has asked for, in so many questions.

    refused: the last error in place of an answer, with the gradients that were asked for.
    spoiled: a gradient was NaN or infinite before. most: questions after which the script ends.
    empty: (file, line) of those that asked for the gradients of nothing.
    """

    __slots__ = ("empty", "explained", "gradients", "most", "questions", "refused", "spoiled")

    def __init__(self) -> None:
        self.gradients: dict[tuple[Any, ...], Gradient] = {}
        self.explained = 0
        self.questions = 0
        self.refused: tuple[Any, list[Gradient]] = (None, [])
        self.spoiled = False
        self.most: int | None = None
        self.empty: list[Any] = []

    def __call__(self, tape: Any, target: Any, sources: Any, found: Any, frame: FrameType) -> None:
        """Note the answers to one question, and explain the first of each kind of wrong one."""
        outside, place = caller(frame)
        asked = flatten(sources)
        problem = found if isinstance(found, GradcliError) else None
        if problem is not None and problem.code not in REFUSED:
            self.refused = problem, []
            return
        if not asked:
            self.empty.append(position(place))
        answers = flatten(found) if problem is None else [found] * len(asked)
        self.questions += 1
        self.refused = problem, []
        # Variables that such a gradient made NaN make all NaN that they go into.
        follows = self.spoiled and not all(
            finite(v.value) for v in tape.watched_variables())
        for k, (source, g) in enumerate(zip(asked, answers, strict=True)):
            key = place, getattr(source, "serial", None) or f"source {k}"
            known = self.gradients.get(key)
            if known is None:
                known = self.gradients[key] = Gradient(
                    position(place), (self.questions, k), len(answers))
                known.first = sums(g)
            known.asked += 1
            if problem is not None:
                self.refused[1].append(known)
                known.reasons["refused"] = why_refused(
                    problem, tape, target, source, outside, place)
                continue
            answer = answer_of(g)
            nonfinite = answer in ("NaN", "infinite")
            if not answer or (nonfinite and follows and answer not in known.reasons):
                continue
            self.spoiled = self.spoiled or nonfinite
            known.answers[answer] = known.answers.get(answer, 0) + 1
            if answer not in known.reasons and self.explained < MOST:
                self.explained += 1
                known.reasons[answer] = _why(tape, target, source, outside, place)
        if self.questions == self.most:
            raise Enough

    def end(self, problem: BaseException | None) -> None:
        """Note what ended the script: an error that it caught is none of its faults."""
        if problem is not None and self.refused[0] is problem:
            for gradient in self.refused[1]:
                gradient.answers["refused"] = 1


def _why(tape: Any, target: Any, source: Any, frame: FrameType | None, place: Any) -> list[Any]:
    """Return the causes; none where the explanation fails, which must not end the script."""
    try:
        return why(tape, target, source, frame, place)
    except Exception as problem:
        warn(f"{position(place)}: this gradient is not explained: {problem!r}", stacklevel=2)
        return []


def sums(g: Any) -> tuple[float, float] | None:
    """Return the sum of the elements of a gradient and the sum of their sizes; None if it has no
    real elements.
    """
    value = np.asarray(g.value) if isinstance(g, Tensor) else None
    if value is None or value.dtype.kind != "f":
        return None
    with np.errstate(all="ignore"):
        return float(np.sum(value)), float(np.sum(np.abs(value)))


def answer_of(g: Any) -> str:
    """Return "None", "NaN", "infinite" or "0" for a gradient that is so, else nothing."""
    if g is None:
        return "None"
    if isinstance(g, IndexedSlices):
        return answer_of(g.values)
    if not isinstance(g, Tensor):
        return ""
    value = np.asarray(g.value)
    if value.dtype.kind not in "fc":
        return ""
    if np.isnan(value).any():
        return "NaN"
    if not np.isfinite(value).all():
        return "infinite"
    return "0" if value.size and not value.any() else ""


# ---- what is told --------------------------------------------------------------------------------


class Finding:
    """One cause, and all gradients at one place that it cuts or spoils.

    reasons: the causes, the one to mend first on top; empty where none is known.
    """

    __slots__ = ("answer", "gradients", "reasons", "sources")

    def __init__(self, answer: str, reasons: list[Any]) -> None:
        self.answer = answer
        self.reasons = reasons
        self.gradients: list[Gradient] = []
        self.sources: list[str] = []

    @property
    def at(self) -> Any:
        """Return (file, line) of the question."""
        return self.gradients[0].at

    @property
    def target(self) -> str:
        """Return the name of the target; empty if it is not known."""
        return self.reasons[0].target if self.reasons else ""


# Parts through different uses of a source: it has no influence, as a bias in a difference.
CANCELS = re.compile("cancel: .* through .* through ")


def wrong(made: Run) -> list[tuple[Gradient, str]]:
    """Return the gradients that are wrong, with what is: not a 0 beside others where a source
    cancels.
    """
    gradients = list(made.heard.gradients.values())
    fine = {g.at for g in gradients if not g.wrong()}
    return [(g, answer) for g in gradients for answer in [g.wrong()] if answer and not (
        answer == "0" and g.at in fine and CANCELS.search(g.reasons["0"][0].message))]


def grouped(made: Run) -> list[Finding]:
    """Return what a script's gradients show: one finding for each cause."""
    groups: dict[tuple[Any, ...], Finding] = {}
    for gradient, answer in wrong(made):
        reasons = gradient.reasons.get(answer) or []
        first = reasons[0] if reasons else None
        cause = (first.code, first.file, first.line, first.column) if first is not None else ()
        group = groups.setdefault((gradient.at, answer, cause), Finding(answer, reasons))
        group.gradients.append(gradient)
        group.sources.append(first.source if first is not None else "a source")
    return list(groups.values())


def findings(made: Run) -> dict[str, Any]:
    """Return the findings as plain data."""
    ended: dict[str, Any] | None = None
    if made.problem is not None:
        ended = {"type": type(made.problem).__name__, "message": str(made.problem),
                 "asking": made.heard.refused[0] is made.problem}
    # A list that is empty where nothing else was asked for, or where the script ends.
    empty = made.heard.empty if ended is not None or not made.heard.gradients else []
    scripts = Scripts(made.path, made.text)
    return {"schema": 1, "command": "why", "file": made.path, "script": True,
            "asked": len(made.heard.gradients), "status": made.status, "ended": ended,
            "empty": [{"file": at[0], "line": at[1]} for at in dict.fromkeys(empty) if at],
            "findings": [_plain_finding(group, scripts) for group in grouped(made)]}


def _plain_finding(group: Finding, scripts: Scripts) -> dict[str, Any]:
    at = group.at or (None, None)
    found: dict[str, Any] = {
        "answer": group.answer, "asked_at": {"file": at[0], "line": at[1]},
        "total": group.gradients[0].total, "sources": group.sources,
        "times": max(g.answers[group.answer] for g in group.gradients),
        "asked": max(g.asked for g in group.gradients),
        "target": None, "code": None, "message": None, "file": None, "line": None, "column": None,
        "text": None, "fix": None, "related": [], "behind": [], "beside": []}
    if group.reasons:
        reason = group.reasons[0]
        found.update(_plain(reason, group.at, scripts), target=reason.target, related=[
            {"file": file, "line": line, "column": column, "message": text}
            for file, line, column, text in reason.related])
        found["behind"], found["beside"] = [
            [_plain(other, group.at, scripts) for other in group.reasons[1:]
             if other.beside == which] for which in ("", "cut")]
    return found


def _plain(reason: Any, at: Any, scripts: Scripts) -> dict[str, Any]:
    found = {name: getattr(reason, name)
             for name in ("code", "message", "file", "line", "column", "text")}
    return {**found, "fix": fix(reason, at, scripts)}
