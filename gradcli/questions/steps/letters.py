"""Derivations with letters: rule by rule, from outside in, until no derivative is left to take."""

from __future__ import annotations

from abc import abstractmethod

from gradcli.base.errors import error
from gradcli.base.lazy import quiet
from gradcli.formulas.rewrites import factored
from gradcli.formulas.terms import MINUS, NAME, ONE, ZERO
from gradcli.formulas.text.gradcli import Gradcli
from gradcli.formulas.text.languages import Language
from gradcli.formulas.text.latex import Latex
from gradcli.formulas.textbook import textbook
from gradcli.ops.text import ATOM
from gradcli.questions.derive.answer import conditions_of
from gradcli.questions.derive.derive import Derivation
from gradcli.questions.steps.rules import MARK, Rules, substituted
from gradcli.render import latex
from gradcli.render.numbers import first_derivative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import GradcliError
    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term
    from gradcli.ops.text import Piece
    from gradcli.questions.derive.derive import Derivative
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question
    from gradcli.questions.steps.rules import Rule

MOST, LARGEST = 60, 300
"""Nobody reads a derivation of more steps, or of a term of more parts."""
SIMPLIFIED, SOLVED = "simplified", "solved"


def wanted(question: Question, problem: GradcliError) -> bool:
    """Return whether a question that failed without any point has steps with letters."""
    return problem.code == "E0203" and not question.at


def derivations(question: Question, hint: int | None = None) -> Answer:
    """Return the derivation of each target by each source: `steps`, each with the general rule,
    what stands for its letters, and the whole line behind it; `derivative`. hint: of each only the
    first steps. Raises E0803 for more than MOST steps, E0804 for formulas of arrays.
    """
    found = Derivation(question, "gradient", 1, near=True)
    with quiet():
        results = [_derivation(found, part, hint) for part in found.parts]
    return {"schema": 1, "command": "steps", "file": question.program.source.name,
            "mode": "letters", "results": results, "conditions": conditions_of(found, {})}


def implicit(question: Question, dependent: str, hint: int | None = None) -> Answer:
    """Return dy/dx of F(x, y(x)) = 0 for each x: both sides differentiated step by step, and the
    equation solved for y'. Raises E0803, E0804 as `derivations`, E0835 where F has no y.
    """
    found = Derivation(question, "gradient", 1, near=True)
    with quiet():
        results = [
            _solved(found, of, term, name, dependent, hint) for of, term in found.primal.items()
            for name in found.algebra.table.names([term]) if name != dependent and (
                not question.wrt or name in question.wrt)]
    return {"schema": 1, "command": "implicit", "file": question.program.source.name,
            "mode": "letters", "results": results, "conditions": conditions_of(found, {})}


def _solved(found: Derivation, of: str, term: Term, name: str, dependent: str, hint: int | None
            ) -> Answer:
    a = found.algebra
    walk = Walk(a, name, len(a.table.names([term])) < 3, [dependent])
    steps = [walk.equation(step, "0") for step in walk.steps(term, shorten=False)]
    line = walk.line
    slope = walk.rules.dependent[a.table.name(dependent)]
    without, with_it = (substituted(a, line, {slope: a.number(n)}) for n in (ZERO, ONE))
    factor = a.add(with_it, a.negative(without))
    if factor.is_number(0):
        raise error("E0835", f"`{of}` does not depend on `{dependent}`",
                    help="name another variable with --dependent")
    quotient = a.times(a.negative(textbook(a, without, [term])), a.power(
        textbook(a, factor, [term]), a.number(MINUS)))
    # One fraction, if there is one, is what a class writes.
    solved = min([textbook(a, quotient, [term]), quotient], key=lambda form: (
        walk.text.of(form).count("/"), len(walk.text.of(form))))
    step = walk.plain(f"{SOLVED} for {dependent}'", solved)
    steps.append(walk.equation(step, "", walk.text.slope(dependent), walk.tex.slope(dependent)))
    return {**walk.answer(of, term, steps, hint, []), "dependent": dependent}


def _derivation(found: Derivation, part: Derivative, hint: int | None) -> Answer:
    name = part.by[0][0]
    term = found.expanded.get(name) or found.primal[part.of]
    alone = len(found.algebra.table.names([term])) < 2
    walk = Walk(found.algebra, name, alone)
    left = first_derivative(part.of, name), latex.derivative(
        latex.latex_name(part.of), {latex.latex_name(name): 1}, "d" if alone else r"\partial")
    steps = [] if part.term is None else [
        walk.equation(step, "", *left) for step in walk.steps(term)]
    return walk.answer(part.of, term, steps, hint, part.reasons)


class Walk:
    """A derivation on its way. text, tex: the writers of its lines; line: the last one."""

    __slots__ = ("_made", "algebra", "line", "rules", "tex", "text", "wrt")

    def __init__(self, algebra: Algebra, wrt: str, alone: bool, dependent: Sequence[str] = ()
                 ) -> None:
        table = algebra.table
        self.algebra = algebra
        self.wrt = wrt
        slopes = {table.name(y): table.name(f"{MARK}'{y}") for y in dependent}
        self.rules = Rules(algebra, table.name(wrt), slopes)
        self._made: dict[str, tuple[Rule, Term]] = {}
        self.text = Spelled(self, alone)
        self.tex = Typeset(self, alone)

    def steps(self, term: Term, shorten: bool = True) -> list[Answer]:
        """Return the steps of a term's derivative, the last one to its shortest form. Raises E0803
        for more than MOST.
        """
        line = self.rules.taken(term)
        found: list[Answer] = []
        size = len(self.algebra.table.of([term]))
        while True:
            waiting = [name for name in self.algebra.table.names([line])
                       if name in self.rules.pending]
            if not waiting:
                break
            if len(found) == MOST or size > LARGEST:
                raise error("E0803", f"the derivation has more than {MOST} steps",
                            help="ask for the formula: gradcli derive")
            first, *others = waiting
            (rule, right) = self._applied(first)
            taken = {first: right}
            if self._ends(right):    # what the same rule ends is one step
                for name in others:
                    other, made = self._applied(name)
                    if other.name == rule.name and self._ends(made):
                        taken[name] = made
            line = substituted(self.algebra, line, {
                self.algebra.table.name(name): made for name, made in taken.items()})
            found.append(self._step(rule, list(taken), line))
        self.line = line
        if not shorten:
            return found
        short = textbook(self.algebra, factored(self.algebra, [line])[0], [term])
        if len(self.text.of(short)) < len(found[-1]["formula"]):
            found.append(self.plain(SIMPLIFIED, short))
        return found

    def _applied(self, name: str) -> tuple[Rule, Term]:
        """Return the rule for a derivative that is to be taken, and what becomes of it."""
        if name not in self._made:
            rule = self.rules.rule(self.rules.pending[name])
            self._made[name] = rule, rule.right(*rule.parts)
        return self._made[name]

    def _ends(self, made: Term) -> bool:
        """Return whether no derivative is left to take."""
        return not any(name in self.rules.pending for name in self.algebra.table.names([made]))

    def _step(self, rule: Rule, names: Sequence[str], line: Term) -> Answer:
        """Return a step. names: of the derivatives that it takes."""
        pending = self.rules.pending
        letters = self.rules.letters(rule)
        left, right = rule.left(*letters), rule.right(*letters)
        parts = zip(letters, rule.parts, strict=True) if len(letters) == len(rule.parts) and (
            len(names) == 1) else ()
        made = self.plain(rule.name, line)
        for form, writer in ((made, self.text), (made["tex"], self.tex)):
            sign = " = " if writer is self.text else " &= "
            form["general"] = f"{writer.primed(left)}{sign}{writer.of(right)}"
            form["equations"] = []
            for name in names:
                _, becomes = self._applied(name)
                form["equations"].append(
                    f"{writer.primed(pending[name])}{sign}{writer.of(becomes)}")
        made["parts"] = [{"name": self.text.of(letter), "formula": self.text.of(part),
                          "tex": self.tex.of(part)} for letter, part in parts]
        return made

    def plain(self, rule: str, line: Term) -> Answer:
        """Return a step that needs no explanation."""
        nothing: dict[str, Any] = {"general": None, "equations": []}
        return {"rule": rule, **nothing, "parts": [], "formula": self.text.of(line),
                "tex": {**nothing, "formula": self.tex.of(line)}}

    def equation(self, step: Answer, right: str, left: str = "", tex: str = "") -> Answer:
        """Return a step whose line is an equation, with another side where one is given."""
        for form, side in ((step, left), (step["tex"], tex)):
            sign = " = " if form is step else " &= "
            form["line"] = f"{form['formula']}{sign}{right}" if right else (
                f"{side}{sign}{form['formula']}")
        return step

    def answer(self, of: str, term: Term, steps: list[Answer], hint: int | None,
               reasons: Sequence[Answer]) -> Answer:
        """Return the derivation as plain data. hint: how many steps are shown."""
        shown = steps[:hint]
        return {"of": of, "wrt": self.wrt, "formula": self.text.of(term),
                "tex": self.tex.of(term), "steps": shown, "more": len(steps) - len(shown),
                "derivative": steps[-1]["formula"] if steps and len(shown) == len(steps) else None,
                "reasons": list(reasons)}


# --- the writers of lines -------------------------------------------------------------------------


class _Primes(Language):
    """A writer of formulas in which derivatives are still to be taken. alone: whether there are no
    other names, so that a prime says it all.
    """

    __slots__ = ("alone", "walk")

    def __init__(self, walk: Walk, alone: bool) -> None:
        super().__init__(walk.algebra, paper=True)
        self.walk = walk
        self.alone = alone

    @abstractmethod
    def primed(self, term: Term) -> str:
        """Return the derivative of a term, to be taken."""

    @abstractmethod
    def slope(self, name: str) -> str:
        """Return the derivative of a name that depends on x."""

    def of(self, term: Term) -> str:
        """Return a line. Raises E0803 where it is too long."""
        (text,) = self.texts([term], {})
        return text

    def place(self, item: tuple[Term, Term]) -> tuple[float, float]:
        """Return the sort key of a factor: a derivative stands where what it is of would."""
        base, exponent = item
        rules = self.walk.rules
        of = rules.pending.get(base.value) if base.kind == NAME else None
        of = of or next((y for y, slope in rules.dependent.items() if slope is base), None)
        rank, number = super().place((of or base, exponent))
        return rank, number + 0.5 * (of is not None)

    def identifier(self, name: str) -> Piece:
        """Return a name, `u` of a rule, or a derivative such as (x^2)'."""
        if not name.startswith(MARK):
            return super().identifier(name)
        if name in self.walk.rules.pending:
            return self.primed(self.walk.rules.pending[name]), ATOM
        if name.startswith(MARK + "'"):
            return self.slope(name[2:]), ATOM
        return name[1:], ATOM


class Spelled(_Primes, Gradcli):
    """The writer in gradcli's spelling."""

    __slots__ = ()

    def primed(self, term: Term) -> str:
        """Return (x^2)', or d/dx(x^2) where there are other names."""
        text = self.of(term)
        if not self.alone:
            return f"d/d{self.walk.wrt}({text})"
        return f"{text}'" if text.isidentifier() else f"({text})'"

    def slope(self, name: str) -> str:
        """Return y'."""
        return f"{name}'"


class Typeset(_Primes, Latex):
    """The writer in LaTeX."""

    __slots__ = ()

    def primed(self, term: Term) -> str:
        r"""Return \left(x^2\right)', or a partial derivative where there are other names."""
        text = self.of(term)
        if self.alone:
            return f"{text}'" if len(text) == 1 else rf"\left({text}\right)'"
        x = latex.latex_name(self.walk.wrt)
        return rf"\frac{{\partial}}{{\partial {x}}}\left({text}\right)"

    def slope(self, name: str) -> str:
        """Return y'."""
        return f"{latex.latex_name(name)}'"
