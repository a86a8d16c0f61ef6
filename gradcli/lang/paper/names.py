"""The meanings that words of an answer may have, and the split of a run of letters into words.

A run is split greedily from the left, without going back: at each place the longest declared
variable, function or constant, else one letter. A declared variable comes before a function or
constant of the same spelling; a run that is one known word stays whole.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.lang.paper.tokens import (
    ALONE,
    BARE,
    CALLED,
    FUNCTION,
    GREEK,
    LOADED,
    LONG_GREEK,
    NAME,
    SCHOOL,
    SPECIAL,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span

    Piece = tuple[int, str, int]  # kind, word, how many letters
    Pieces = tuple[Piece, ...]

MAX_NAME = 32
MAX_KNOWN_RUNS = 4096
LONGEST = max(map(len, SCHOOL))
INTEGRATION_CONSTANT = "C"
UNITS = ("i", "j", "k")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


class ProblemNames:
    """The names and conventions of a problem.

    variables: all names that the problem declares.
    log: the meaning of `log` without a base, "natural" or "ten".
    decimal_comma: `0,5` is a number.
    vector: the answer has components.
    program: a program in LaTeX is read and no answer, so that x with a hat is another name than x,
        and a sum may have names as bounds.
    fixed: variables that may have a factorial, since nothing is differentiated by them.
    degrees: 30° is an angle.
    functions: of one argument, which a program defines.
    """

    __slots__ = ("called_runs", "decimal_comma", "degrees", "fixed", "functions", "log", "longest",
                 "notes", "other_case", "plain_runs", "program", "variables", "vector", "written")

    def __init__(self, variables: tuple[str, ...] = (), log: str = "natural",
                 decimal_comma: bool = False, vector: bool = False, program: bool = False,
                 fixed: frozenset[str] = frozenset(), degrees: bool = False,
                 functions: frozenset[str] = frozenset()) -> None:
        self.variables = tuple(variables)
        self.log = log
        self.decimal_comma = decimal_comma
        self.vector = vector
        self.program = program
        self.fixed = fixed
        self.degrees = degrees
        self.functions = functions
        self.longest = max([LONGEST, *map(len, variables)])
        # Spellings of the declared names: x_1 for x1, θ for theta.
        self.written: dict[str, str] = {}
        for name in self.variables:
            for spelling in _spellings(name):
                self.written.setdefault(spelling, name)
        for name in self.variables:
            self.written[name] = name
        # Runs of letters met before, elsewhere and before a bracket; what to say about them.
        self.plain_runs: dict[str, Pieces] = {}
        self.called_runs: dict[str, Pieces] = {}
        self.notes: dict[str, str] = {}
        self.other_case: set[str] = set()   # letters met that are declared in the other case

    def is_unit(self, word: str) -> bool:
        """Return whether a name is that of a unit vector: i, e_1, or e_x where there is an x."""
        return self.vector and word not in self.variables and (word in UNITS or (
            word[:2] == "e_" and word[2:] in ("1", "2", "3", *self.variables)))

    def pieces(self, run: str) -> Pieces | None:
        """Return the words of a run of letters that is not called; None if it has no meaning."""
        try:
            return self.split(run, False, 0)
        except GradcliError:
            return None

    def split(self, run: str, called: bool, at: int) -> Pieces:
        """Return the words of a run of letters that begins at offset `at`; cached.

        called: a bracket follows. Raises E0711 and E0712 for a run that has no meaning.
        """
        if len(run) > MAX_NAME * 4:
            raise error("E0711", "a word is too long", (at, at + len(run)),
                        help="write * between factors")
        known = self.called_runs if called else self.plain_runs
        if len(known) >= MAX_KNOWN_RUNS:
            known.clear()
        pieces = known[run] = self._split(run, called, at)
        return pieces

    def _split(self, run: str, called: bool, at: int) -> Pieces:
        whole = self._whole(run, called)
        if whole is not None:
            return ((*whole, len(run)),)
        from gradcli.lang.paper.refusals import refuse_run

        refuse_run(self.written, run, called, at)
        pieces: list[Piece] = []
        size = len(run)
        begin = 0
        while begin < size:
            for end in range(min(size, begin + self.longest), begin, -1):
                found = self._word(run[begin:end], called and end == size, begin)
                if found is not None:
                    break
            else:
                found, end = self._letter(run[begin], at + begin), begin + 1
            pieces.append((*found, end - begin))
            begin = end
        return tuple(pieces)

    def _whole(self, run: str, called: bool) -> tuple[int, str] | None:
        """Return the meaning of a run that is one known word; None if it is none."""
        if called and run in self.functions:
            return FUNCTION, run
        if run in self.written:
            return NAME, self.written[run]
        if len(run) == 2 and self._all_declared(run):
            return None
        if run in ALONE:
            return FUNCTION, ALONE[run]
        if run in LOADED and not (called and run in SPECIAL) and (
                run == "pi" or len(run) > 3 or not self._any_declared(run)  # 2xi + 3yj
                or (len(run) == 3 and not self._all_known(run))):
            return NAME, LOADED[run]
        if run in BARE and not self.program and not self._all_known(run):
            return FUNCTION, SPECIAL[run]
        return self._word(run, called, 0)

    def _all_declared(self, run: str) -> bool:
        return all(letter in self.written for letter in run)

    def _all_known(self, run: str) -> bool:
        """Return whether a run is e and declared names, perhaps behind a function of school."""
        for word in (*SCHOOL, "e"):
            if run.startswith(word) and self._all_declared(run[len(word):]):
                return True
        return all(letter == "e" or letter in self.written for letter in run)

    def _any_declared(self, run: str) -> bool:
        return any(letter in self.written for letter in run)

    def _word(self, word: str, called: bool, begin: int) -> tuple[int, str] | None:
        """Return the meaning of a word inside a run: variable, function, constant; else None."""
        if word in self.written:
            return NAME, self.written[word]
        if len(word) == 1:
            return (NAME, "e") if word == "e" else None
        if word == "In" and "I" not in self.written and "n" not in self.written:
            self.notes[word] = "`In` is read as ln"
            return FUNCTION, SCHOOL["ln"]
        if word in SCHOOL:
            if word[0] == "a" and "a" in self.written and word[1:] in SCHOOL:
                return None  # the factor `a` of acos(ax); who means the arcus may write arccos
            return FUNCTION, self._function(word)
        if called and word in CALLED and (len(word) > 2 or (begin == 0 and not self.program)):
            return FUNCTION, CALLED[word]
        if word == "pi":
            return NAME, "pi"
        if word in LONG_GREEK:
            return NAME, LOADED[word]
        lowered = word.lower()
        if word != lowered and not self._all_declared(word):
            if lowered in SCHOOL:
                self.notes[word] = f"`{word}` is read as {lowered}"
                return FUNCTION, self._function(lowered)
            if lowered == "pi":
                self.notes[word] = f"`{word}` is read as pi"
                return NAME, "pi"
        return None

    def _function(self, word: str) -> str:
        return "log10" if word == "log" and self.log == "ten" else SCHOOL[word]

    def _letter(self, letter: str, at: int) -> tuple[int, str]:
        """Return the name of a single letter that is not declared: that of the other case if it is.

        Raises E0711 for such a letter in a program.
        """
        other = letter.swapcase()
        if letter != INTEGRATION_CONSTANT and other in self.written:
            if self.program:
                raise other_case(letter, (at, at + 1))
            self.other_case.add(letter)
            self.notes[letter] = f"`{letter}` is read as {other}"
            return NAME, self.written[other]
        if other == "e":
            self.notes[letter] = f"`{letter}` is read as e"
            return NAME, "e"
        return NAME, LOADED[GREEK[letter]] if letter in GREEK else letter


def other_case(letter: str, span: Span) -> GradcliError:
    """Return E0711 for a letter that is not the declared one, but for its case."""
    other = letter.swapcase()
    return error("E0711", f"`{letter}` is not `{other}`", span,
                 help=f"write {other}: small and capital letters are two names")


def _spellings(name: str) -> list[str]:
    """Return other ways to write a declared name: θ and theta, x1 and x_1."""
    found = [letter for letter, word in GREEK.items() if word == name]
    if name in GREEK:
        found.append(GREEK[name])
    name = name.translate(SUBSCRIPTS)
    stem = name.rstrip("0123456789")
    if stem != name and stem:
        digits = name[len(stem):]
        stem = stem.removesuffix("_")
        found += [stem + digits, f"{stem}_{digits}"]
    return found
