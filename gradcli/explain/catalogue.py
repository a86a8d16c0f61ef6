"""What explanations are made of: rows of causes, reasons with their fixes, notes.

The causes of a missing gradient are rows of `gradcli.explain.missing.causes`; the codes of zeros,
of what is not finite, and of notes stand here, each with one sentence for learners.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.missing.scene import Gap, Scene

    Edit = tuple[int, int, str]
    Find = Callable[[Scene, Gap, set[int]], "Reason | None"]
    # From a `FixContext`, which makes fixes itself.
    Changes = Callable[[Any, "Reason"], list["Fix"]]
    Advice = Callable[[Scene, Gap, "Reason"], str | None]

# Why a value or a gradient is NaN or infinite.
NAN = {
    "nan-dead-branch":
        "A branch that `where` did not choose has an infinite slope or none, and 0 times that is"
        " NaN.",
    "nan-infinite-slope":
        "The curve is vertical here, as `sqrt` at 0: the slope is infinite.",
    "nan-zero-times-inf":
        "An infinite slope was multiplied by 0, as in x*log(x) at 0.",
    "nan-overflow":
        "A number became too large to be held, as exp(1000).",
    "nan-domain":
        "An operation got a number that it is not defined for, as log(-1).",
    "nan-pole":
        "The value itself is infinite here, as 1/x at 0.",
    "nan-indeterminate":
        "0/0, or infinity minus infinity: no number is the answer.",
    "nan-underflow":
        "A number became too small and counts as 0, and something was divided by it.",
    "nan-spread":
        "One entry that was NaN or infinite spoiled all others through a sum, a mean or a norm.",
}

# Why a derivative is 0 although there is a path; `derivative-constant` is another answer to that.
ZERO = {
    "zero-flat":
        "A step on the path is flat here.",
    "zero-dead":
        "An operation on the path ignores its argument here: a `relu` that is off, the smaller one"
        " for `max`, a factor 0.",
    "zero-cancelled":
        "There are several paths, and their slopes add up to 0.",
    "zero-requested":
        "There is no path: 0 stands there because it was asked for.",
}

# The notes that may stand beside an answer.
NOTES = {
    "tie": "Several arguments of `max` or `min` are equal: the note says who gets the slope.",
    "kink": "The curve has a corner here, as `abs` at 0: the note says which slope was taken.",
    "boundary":
        "Both sides of a comparison are equal here and the branches differ: what is said is of one"
        " of them.",
    "range-value":
        "A number on the way left the range of floats, and the value would be another one without"
        " that.",
    "range-slope":
        "A slope on the way left the range of floats, and what was lost may count in the"
        " derivative.",
    "range-shown":
        "A number of the table is no float: the note says what was used in its place.",
    "digits-cancelled":
        "All digits cancel in a difference on the way: what is left is rounding, and so is the"
        " derivative.",
    "part-left-out":
        "An operation on the way has no derivative in one of its numbers, as a Bessel function in"
        " its order: that part counts as 0.",
    "differences-rough":
        "With `--mode finite`: no digit need be right, as the function changes too fast for the"
        " steps, is rounded too much, or has no value at one.",
    "sum": "The target has several elements: this is the gradient of their sum.",
    "rebound": "The name was bound again: the derivative is the one in its first value.",
    "assigned-state":
        "The variable was assigned before the target read it: the answer belongs to that value, or"
        " to several.",
    "recording-ended": "The tape was asked inside its own block and stopped recording there.",
    "tape-empty": "A tape recorded nothing: nothing in its block uses what it watches.",
    "tape-watched-unused": "A tape watches a value that nothing on it uses.",
    "tape-unasked": "A tape recorded operations, and nobody asked for a derivative.",
    "shadowed-operation": "A function of the file hides an operation of the same name.",
    "shadowed-constant": "A name of the file hides a constant such as `pi`.",
}


# --------------------------------------------------------------------------------------------------
# The pieces of an explanation: a cause of a missing gradient, its fixes, a note on an answer.

class Cause:
    """A row of the catalogue: one cause of a missing gradient.

    code: also the name of a program in samples/none/ that shows it.
    meaning: one sentence for learners.
    find: looks for it where no path leads to a target, from the ids of what the targets were
        computed from; None: found otherwise.
    said, related: the sentence where it cuts a path, and the label of the second location.
    changes: returns changes of the text of a program, which are tried before they are offered.
    advice: what else can be done, a sentence or a function.
    python: the same for Python code; None: as for files.
    error: the code of the error that it is in place of a None.
    """

    __slots__ = ("advice", "changes", "code", "error", "find", "meaning", "python", "related",
                 "said")

    def __init__(self, code: str, meaning: str, *, find: Find | None = None, said: str = "",
                 related: str = "", changes: Changes | None = None,
                 advice: str | Advice | None = None, python: str | Advice | None = None,
                 error: str = "") -> None:
        self.code = code
        self.meaning = meaning
        self.find = find
        self.said = said
        self.related = related
        self.changes = changes
        self.advice = advice
        self.python = python
        self.error = error


class Fix:
    """A proposed change of a program. text: as it is shown; edits: changes of the program's text
    that only together are the fix; empty: advice that cannot be tried out.
    """

    __slots__ = ("edits", "text")

    def __init__(self, text: str, *edits: Edit) -> None:
        self.text = text
        self.edits = list(edits)


class Reason:
    """One cause of a missing gradient.

    span: its location, in a file offsets into the text.
    related: (span, sentence) of further locations; those without a span are dropped.
    fixes: proposals, the smallest first; once they were tried, `fix` and `edits` are those of the
        chosen one, and `fix_works` tells whether all chosen fixes together bring the gradient back.
    about, abouts: the objects in which the cause was found, for the functions that look for a fix.
    beside: "cut" where another path is cut by a cause before it, and to mend one of them gives a
        gradient; "path" where it is enough to mend those.
    """

    __slots__ = ("about", "abouts", "beside", "code", "edits", "fix", "fix_works", "fixes",
                 "message", "related", "span")

    def __init__(self, code: str, message: str, span: Any, *fixes: Fix | str | None,
                 related: Sequence[tuple[Any, str]] = (), about: Any = None,
                 abouts: Sequence[Entry] = ()) -> None:
        self.code = code
        self.message = message
        self.span = span
        self.fixes = [Fix(f) if isinstance(f, str) else f for f in fixes if f is not None]
        self.related = [(place, said) for place, said in related if place is not None]
        self.fix: str | None = None
        self.edits: list[Edit] = []
        self.about = about
        self.abouts = list(abouts)
        self.beside = ""
        if self.fixes:
            self.choose(self.fixes[0])
        self.fix_works: bool | None = None

    def choose(self, fix: Fix) -> None:
        """Offer this fix."""
        self.fix, self.edits = fix.text, fix.edits

    def advise(self) -> None:
        """Offer only advice: the first fix without edits, or none."""
        self.fix = next((fix.text for fix in self.fixes if not fix.edits), None)
        self.edits = []


class Note:
    """A remark on an answer: a code, a sentence and a location. fix: the end of the sentence, where
    it says what to write instead.
    """

    __slots__ = ("code", "fix", "message", "span")

    def __init__(self, code: str, message: str, span: Span | None, fix: str | None = None) -> None:
        self.fix = fix
        self.code = code
        self.message = message
        self.span = span
