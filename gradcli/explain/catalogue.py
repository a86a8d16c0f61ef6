"""The catalogue of explanations as data: each code with one sentence for learners.

`CODES` are the causes of a missing gradient, in the order of the design's catalogue: first what is
wrong with the source, then with the path from source to target, then with the target and the
question. Each code is also the name of a program in samples/none/ that shows it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry

    Edit = tuple[int, int, str]

SOURCE = {
    "source-constant-unwatched":
        "The source is a constant, or a value made elsewhere, and nobody told the tape to watch"
        " it.",
    "source-nontrainable":
        "The source is a variable declared `trainable=false`, which is not watched by itself.",
    "source-auto-watch-off":
        "The tape was opened with `watch_accessed_variables=false` and never told to watch the"
        " source.",
    "source-not-watched-on-this-tape":
        "Another tape watches the source; the one that was asked does not.",
    "source-watched-late":
        "The watch came after the line that uses the source, and a tape does not look back.",
    "source-watch-reset":
        "`reset` made the tape forget its watches, and nothing was watched again.",
    "source-dtype":
        "The source is an integer, a truth value or a text: only floating point numbers have"
        " slopes.",
    "source-is-copy":
        "The source is a copy, or a second reading of a part; the target was computed from"
        " another one.",
    "source-rebound":
        "The name was bound to a new value, and the target was computed from the old one.",
    "source-after-target":
        "The source was made after the target had been computed.",
    "source-downstream":
        "The source was computed from the target: the two stand in the wrong order.",
    "source-unrelated":
        "The target was computed without the source.",
    "source-untaken-branch":
        "The source stands only in a branch that did not run.",
    "source-condition-only":
        "The source only decides which branch runs, and a decision has no slope.",
    "source-not-picked":
        "The source took part in a choice, such as the largest of several, and another one was"
        " taken.",
    "source-shadowed":
        "A parameter or a loop variable of the same name hides the source where the target is"
        " computed.",
    "source-in-dead-code":
        "The source stands only in lines that never ran: a loop of no rounds, lines behind a"
        " `return`.",
}

PATH = {
    "path-stop-gradient":
        "Every path from the source to the target goes through `stop_gradient`.",
    "path-dtype-cast":
        "On the path the number was made an integer, a truth value or a text.",
    "path-nondifferentiable":
        "On the path stands an operation without a derivative: a comparison, an index, a count.",
    "path-step-function":
        "On the path stands a step, such as `floor`: flat nearly everywhere, with jumps between.",
    "path-value-independent":
        "On the path stands an operation that looks at the shape alone, such as `zeros_like`.",
    "path-state-write":
        "The number reached the target through the state of a variable, and assignments are not"
        " recorded.",
    "path-rebound":
        "On the path a name was bound to a new value, and what follows uses that one.",
    "path-left-engine":
        "The number was computed outside, as by `np.mean`, where nothing is recorded.",
    "path-stop-recording":
        "The line ran while the recording was paused.",
    "path-outside-tape":
        "The line ran before the block of the tape, after it, or between two of its parts.",
    "path-reset":
        "The line was recorded, and then `reset` threw the recording away.",
    "path-custom-none":
        "A gradient written by hand returns `none` for this argument.",
    "path-custom-internal":
        "The source is a value from inside a function whose gradient is written by hand.",
    "path-gradient-not-recorded":
        "The first derivative was taken outside the outer tape, which therefore knows nothing of"
        " it.",
    "derivative-constant":
        "The first derivative does not depend on the source: the second is 0, and is shown as 0"
        " with this note.",
    "path-no-rule":
        "On the path stands an operation whose derivative nobody wrote: an error, not a None.",
}

TARGET = {
    "target-constant":
        "The target is a fixed number: nothing that could be varied went into it.",
    "target-dtype":
        "The target is an integer, a truth value or a text: it moves in jumps and has no slope.",
    "target-consumed":
        "The target belongs to a recording that the tape gave up after its first answer.",
    "target-empty":
        "The list of targets is empty.",
    "forward-wrong-order":
        "Two forward accumulators were asked in the wrong order: ask the inner one first.",
    "tape-consumed":
        "A tape without `persistent=true` answers once, and this was the second question: an"
        " error.",
    "tape-not-entered":
        "Nothing was being recorded where the question stands: an error.",
}

CODES = {**SOURCE, **PATH, **TARGET}

# The causes that are no None but an error, and the code of that.
ERRORS = {"path-no-rule": "E0503", "tape-consumed": "E0501", "tape-not-entered": "E0502"}

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
    """

    __slots__ = ("about", "abouts", "code", "edits", "fix", "fix_works", "fixes", "message",
                 "related", "span")

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
    """A remark on an answer: a code, a sentence and a location."""

    __slots__ = ("code", "message", "span")

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        self.code = code
        self.message = message
        self.span = span
