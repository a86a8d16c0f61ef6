r"""Programs and constants of what people type: read by the language, and where that refuses, as on
paper.

`program` tries the language first, and what it reads is read unchanged. In a line that it refuses,
or in which it would make a new name of what splits into known functions and letters (`xsinx`,
`xe`), the formula is read by `gradcli.lang.paper`, the reader of students' answers, and written
into the program in the language; the source maps each part back to what was typed. What has two
readings stays an error that shows both. Text in LaTeX is that of `--latex`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from unicodedata import normalize

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.lang.messages.unknown import readings
from gradcli.lang.paper.ambiguous import ambiguous
from gradcli.lang.paper.answer import MAX_LENGTH, Reading, alternatives, read
from gradcli.lang.paper.documents import ProgramWriter
from gradcli.lang.paper.documents import program as latex_program
from gradcli.lang.paper.names import MAX_NAME, ProblemNames, other_case
from gradcli.lang.paper.notations import respelled
from gradcli.lang.paper.tokens import SCHOOL
from gradcli.lang.paper.unknown import unknown_word
from gradcli.lang.running import program as running
from gradcli.lang.running.names import is_known
from gradcli.lang.running.program import Program
from gradcli.lang.syntax.lexer import KEYWORDS
from gradcli.lang.typed.readings import refuse_two_readings, two_readings
from gradcli.lang.typed.source import RewrittenSource, moved
from gradcli.lang.typed.words import (
    BARE_WORDS,
    WordsOfFile,
    is_product,
    refuse_two_splits,
    refuse_words,
    splits,
    words_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.typed.source import Piece

TAKEN = frozenset(("E0101", "E0102", "E0106"))
"""Errors of syntax behind which a formula may be one on paper: characters, tokens, and products and
calls without their signs."""
READ_CLOSER = {"E0104": re.compile(r"^[^√]*\d\s+[\w(][^√]*$"), "E0105": re.compile(
    r"^\d+e$|^\d+\s+\d")}
"""What the language refuses in any place, and paper does not: x^2 y, 1/2 x, 2e^x, cos^3 2x."""
MAX_ROUNDS = 20
"""So often a text is parsed again; each time says what is wrong with up to 20 lines."""
LEFT = re.compile(
    r"[\s;]*(?:(?:(?:var|const|input)\s+)?[^\W\d]\w*\s*(?::[^=]*)?=(?!=)"     # y =, var x: int =
    r"|[^\W\d]\w*\s*\([^()]*\)\s*=(?!=)"                                     # f(x, y) =
    r"|return\b)")
SIDES = re.compile(r"(?<![=<>!~:])=(?!=)")
END = re.compile(r"\s*;?\s*(?:#.*)?$")
NO_FORMULA = re.compile(r"[\"'=:@]|[^\W\d]\w*\s*\.\s*[^\W\d]")
"""What stands in a line of a program and in no formula on paper: texts, bindings, methods."""
LATEX = re.compile(r"\\[A-Za-z]+|^\s*\$[^$]+\$\s*$")
QUOTES = frozenset("“”„«»`")


def program(source: Source, known: Collection[str] | None = (), alone: bool = False,
            equation: bool = False) -> Program:
    """Return the program of what was typed.

    known: names that the command line gives or asks for; None where it may be any, so that none is
    taken apart. alone: it is a formula of the command line, where short names of usual letters are
    products as well: xy, ax. equation: two sides are meant to be equal, and are read as their
    difference.

    Raises what the language says of text that paper does not read either, E0104 for a formula with
    two readings, and E0720 for words that ask for something else, or what LaTeX says.
    """
    typed = _TypedText(source, known, alone)
    if equation:
        typed.take_equation()
    refused: GradcliError | None = None
    for _ in range(MAX_ROUNDS):
        refused, made = None, None
        try:
            made = Program(typed.source())
            lines = typed.unclear(made)
        except GradcliError as problem:
            moved(problem)
            refused = problem
            lines = typed.refused(problem)
        new = [k for k in lines if k not in typed.read]
        taken = [typed.take(k) for k in new]
        if made is not None and not any(taken) and not (
                made.names.only_defines and typed.take_body(made)):
            return made
        if refused is not None and not (new and all(taken)):
            break
    if refused is None:
        return Program(typed.source())
    if LATEX.search(source.text) and "#" not in source.text:
        return _latex(source, typed.refusal or refused, alone)
    if alone and typed.is_equation():
        raise GradcliError(Diagnostic(
            "E0107", "an equation is not a formula", span=(0, len(source.text.rstrip())),
            source=source, help="give one side; `gradcli implicit` differentiates an equation"))
    raise typed.refusal or refused


def _latex(source: Source, refused: GradcliError, alone: bool) -> Program:
    """Return the program of a text in LaTeX. Raises `refused` where that is no LaTeX either."""
    try:
        made = latex_program(source)
    except GradcliError as problem:
        if problem.message.startswith("it is not clear what stands below"):
            _refuse_two_readings(source)
        if alone:
            raise
        raise refused from None
    assert isinstance(made.source, RewrittenSource)
    # A sum over an index is a function with a loop, which says nothing to anybody.
    made.source.read_as = "LaTeX" if "def " in made.source.text else re.sub(
        r"\blog\(", "ln(", "; ".join(made.source.text.split("\n")).strip("; "))
    return made


def _refuse_two_readings(source: Source) -> None:
    """Raise E0104, which shows both, for a formula in LaTeX that has two readings."""
    names = ProblemNames()
    try:
        reading = read(source.text, names)
    except GradcliError:
        return
    others = [*ambiguous(reading), *alternatives(reading, names)]
    if others:
        problem = two_readings(reading, others[0])
        problem.diagnostics[0].source = source
        raise problem


def constant_on_paper(text: str, where: str, refused: GradcliError) -> Any:
    """Return the value of a constant expression on paper. Raises `refused`, what the language says,
    where it is none; E0104 for one with two readings.
    """
    if refused.code not in (*TAKEN, "E0201", "E0206", "E0207", "E0214"):
        raise refused
    if "∞" in text:
        return running.constant(text.replace("∞", "inf"), where)
    try:
        made = program(Source(text, where), (), alone=True)
        return running.constant(made.source.text.strip(), where)
    except GradcliError as problem:
        raise (problem if problem.code == "E0104" else refused) from None


def _statements(line: str, begin: int) -> list[Span]:
    """Return the spans of the statements in a line that begins at an offset, each with the `;`
    before it: a line with texts is taken for one.
    """
    if ";" not in line:
        return [(begin, begin + len(line))]
    found, depth, first = [], 0, 0
    for at, character in enumerate(line):
        if character in "\"'#":
            break
        depth += (character in "([{") - (character in ")]}")
        if character == ";" and depth == 0 and at > first:
            found.append((begin + first, begin + at))
            first = at
    return [*found, (begin + first, begin + len(line))]


class _TypedText:
    """A text while it is read.

    read: pieces of the program in place of a line, or of one of its statements, by its number.
    refusal: why paper does not read one, where that is better to know than what the language says.
    """

    __slots__ = ("_alone", "_known", "_lines", "_source", "_words", "read", "refusal")

    def __init__(self, source: Source, known: Collection[str] | None, alone: bool) -> None:
        self._source = source
        self._known = known
        self._alone = alone
        self._words: WordsOfFile | None = None
        self._lines: list[Span] = []
        self.read: dict[int, list[Piece]] = {}
        self.refusal: GradcliError | None = None
        begin = 0
        for line in source.text.split("\n"):
            self._lines += _statements(line, begin)
            begin += len(line) + 1

    def _number(self, source: Source, offset: int) -> int:
        """Return in which line an offset of a source is, of what was typed or of the program."""
        if isinstance(source, RewrittenSource):
            offset = source.moved((offset, offset + 1))[0]
        return bisect_right(self._lines, (offset, len(self._source.text) + 1)) - 1

    def source(self) -> Source:
        """Return the source of the program as far as it is read."""
        if not self.read:
            return self._source
        text, pieces, shown, behind = self._source.text, [], [], 0
        for k in sorted(self.read):
            pieces += [(text[behind:self._lines[k][0]], (behind, self._lines[k][0])), *self.read[k]]
            behind = self._lines[k][1]
            line = "".join([piece for piece, _ in self.read[k]])
            shown.append(line.partition("#")[0].strip(" ;"))
        pieces.append((text[behind:], (behind, len(text))))
        return RewrittenSource(
            self._source, [one for one in pieces if one[0]], "; ".join(shown))

    def refused(self, problem: GradcliError) -> list[int]:
        """Return the lines in which the language finds what may be paper; none if all of it is
        something else.
        """
        lines: dict[int, None] = {}
        for one in problem.diagnostics:
            pattern = READ_CLOSER.get(one.code)
            if one.span is None or not (one.code in TAKEN or (
                    pattern and pattern.search(self._source.text[slice(*one.span)]))):
                return []
            lines[self._number(self._source, one.span[0])] = None
        return list(lines)

    def unclear(self, made: Program) -> list[int]:
        """Return the lines with calls that the language does not know, and with new names that
        split.
        """
        places = [start for name, (start, _), _ in made.names.calls if not made.names.knows(name)]
        places += made.names.two_arguments
        if self._known is not None:
            names = made.names
            others = {*names.order, *self._known}
            for name, (start, end) in names.inputs.items():
                if name in self._known or len(name) > MAX_NAME:
                    continue
                follows = made.source.text[end:].lstrip().startswith(("^", "**"))
                found = readings(name, others - {name, *names.functions}, follows)
                if len(found) == 1 or (self._alone and (
                        found or name in SCHOOL or name.startswith("log_")
                        or normalize("NFKC", name) != name
                        or splits(name, others - {name}, self._known))):
                    places.append(start)
        return list(dict.fromkeys([self._number(made.source, at) for at in places]))

    # ---- one line -------------------------------------------------------------------------------

    def take(self, number: int) -> bool:
        """Read the formula of a line as on paper; return False where that is none.

        Raises E0104 and E0720 for what is clear enough to say so.
        """
        text = self._source.text
        begin, end = self._lines[number]
        left = LEFT.match(text, begin, end)
        first = left.end() if left else begin
        closing = END.search(text, first, end)
        last = closing.start() if closing else end
        while first < last and (text[first].isspace() or text[first] == ";"):
            first += 1
        formula = text[first:last]
        if len(formula) > MAX_LENGTH:
            return False
        try:
            refuse_words(formula)
            reading = self._reading(formula)
        except GradcliError as problem:
            for one in problem.diagnostics:
                one.source = self._source
                one.span = None if one.span is None else (one.span[0] + first, one.span[1] + first)
            if problem.code == "E0104" or (self._alone and (
                    problem.code == "E0720" or formula in SCHOOL)):
                self.refusal = self.refusal or problem
                raise
            return False
        if reading is None:
            return False
        writer = ProgramWriter()
        writer.formula(reading.code, first)
        # Of log, people ask to which base.
        self.read[number] = [
            (text[begin:first], (begin, first)),
            *[("ln(" if word == "log(" else word, place) for word, place in writer.pieces[:-1]],
            (text[last:end], (last, end))]
        return True

    def take_body(self, made: Program) -> bool:
        """Read the last line, f(x) = x^2, as its formula; return False where it has none."""
        number = self._number(made.source, made.statements[-1].start)
        text = self._source.text
        begin, end = self._lines[number]
        left = LEFT.match(text, begin, end)
        if left is None:
            return False
        first = end - len(text[left.end():end].lstrip())
        pieces = self.read.get(number, [("", (first, first)), (text[first:end], (first, end))])
        before = ";" if text[begin] == ";" else ""
        self.read[number] = [(before, (begin, begin + len(before))), *pieces[1:]]
        return True

    def _equation(self) -> tuple[int, int, int, int] | None:
        """Return the number of the one line of the text that has two sides, where it begins, where
        its sign is and where it ends; None for a text of another form.
        """
        lines = [k for k, (begin, end) in enumerate(self._lines)
                 if END.sub("", self._source.text[begin:end]).strip()]
        if len(lines) != 1:
            return None
        begin, end = self._lines[lines[0]]
        text = END.sub("", self._source.text[begin:end])
        sides = [found.start() for found in SIDES.finditer(text)]
        return (lines[0], begin, begin + sides[0], begin + len(text)) if len(sides) == 1 else None

    def is_equation(self) -> bool:
        """Return whether the text is an equation whose left side is no name and no f(x)."""
        found = self._equation()
        return found is not None and LEFT.match(self._source.text, *found[1::2]) is None

    def take_equation(self) -> None:
        """Read the one line of the text as the difference of its sides, if it has two."""
        found = self._equation()
        if found is None:
            return
        number, begin, at, end = found
        name = self._source.text[begin:at].strip()
        if name.isidentifier() and name not in dict(words_of(self._source.text[at:end])) and (
                name not in (self._known or ()) and name != "y"):
            return
        function = re.fullmatch(r"([^\W\d]\w*)\s*\([\w\s,]*\)", name)
        if function is not None and not is_known(function[1]):
            return      # f(x) = x^2
        left, right = self._side(begin, at), self._side(at + 1, end)
        if left and right:
            sign = at, at + 1
            if re.search(r"[<>=]|\b(?:if|and|or|not)\b", "".join([word for word, _ in left])):
                left = [("(", left[0][1]), *left, (")", sign)]
            subtracted = "".join([word for word, _ in right]).strip()
            self.read[number] = left if subtracted == "0" else [
                *left, (" - ", sign), *right] if subtracted.replace(".", "").isalnum() else [
                *left, (" - (", sign), *right, (")", (end, end))]

    def _side(self, begin: int, end: int) -> list[Piece]:
        """Return a side of an equation in the language; empty where it is no formula."""
        text = self._source.text[begin:end]
        side = Source(text.strip(), self._source.name)
        try:
            made = program(side, self._known, self._alone)
        except GradcliError:
            return []
        if len(made.statements) != 1 or made.names.bound or made.names.functions:
            return []
        first = begin + len(text) - len(text.lstrip())
        pieces = made.source.pieces if isinstance(made.source, RewrittenSource) else [
            (side.text, (0, len(side.text)))]
        return [(word, (a + first, b + first)) for word, (a, b) in pieces]

    def _reading(self, formula: str) -> Reading | None:
        """Return the formula as paper reads it; None for what is a line of a program.

        Raises what `read` does, E0104 for two readings, E0711 for words and letters in both cases.
        """
        if not formula or NO_FORMULA.search(formula) or LATEX.search(formula) or (
                not self._alone and not QUOTES.isdisjoint(formula)) or any(
                word in KEYWORDS for word, _ in words_of(formula)):
            return None
        if self._words is None:
            self._words = WordsOfFile(self._source.text, self._known or ())
        if self._words.calls_operations(formula):
            return None
        declared = self._words.declared(formula)
        for word, end in words_of(formula):
            called = formula[end:end + 1] == "("
            if (word in declared and (word in self._words.names or not called)) or (
                    called and word in self._words.functions):
                continue
            if self._known is None and len(word) > 1 and word not in BARE_WORDS:
                return None     # it may be a column
            if not is_product(word, declared, formula[end:], self._alone):
                return None
            refuse_two_splits(word, declared, formula)
        text = respelled(formula)
        names = self._names(declared, text, vector=False)
        try:
            reading = read(text, names)
        except GradcliError as problem:
            if problem.code != "E0718" or text.lstrip()[:1] not in "([<":
                raise
            names = self._names(declared, text, vector=True)
            reading = read(text, names)
        strange = names.other_case.intersection(reading.tokens.spellings())
        if strange:
            raise other_case(min(strange), (0, len(formula)))
        unknown = unknown_word(reading, names)
        if unknown is not None:
            raise unknown
        refuse_two_readings(reading, names)
        return reading

    def _names(self, declared: Collection[str], text: str, vector: bool) -> ProblemNames:
        """Return the names of a formula: any letter may have a factorial, as gamma is continued."""
        return ProblemNames(
            tuple(declared), vector=vector, degrees=True, fixed=frozenset({*declared, *text}),
            functions=frozenset(self._words.functions if self._words else ()))
