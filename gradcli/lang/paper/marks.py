r"""Marks put into an answer: signs of products and brackets behind functions that it leaves out.

One pass from left to right over the raw tokens. The rules:

* Two operands side by side are a product of the rank of `*`: `1/2x` is (1/2)*x, in an answer. A
  program in LaTeX has \frac for both readings, so there it is refused, as is `sin x/2`.
* A function without brackets takes what follows up to `+ - * / ,`, a closing bracket or the next
  function: `sin 2x cos x` is sin(2*x)*cos(x). A sign right behind it belongs to it: `sin -x`.
  `ln|x|y` ends behind the bar, √ behind one operand, and `sin x (1 + y)` before the bracket: only
  a number multiplies one, as in `sin 2(x + y)`. In a vector, i, j and k are not part of it.
* `sin^2 x` is (sin(x))^2; exactly -1 there means the inverse: `sin^-1 x`, `tan^(-1) x`, and where
  the sign of the power was lost, `tan-1(x)`.
* A sum over an index takes a whole term, up to `+ -`, a comma or a closing bracket. Where a product
  over one meets `* /` it is not clear whether it has ended.
* A bar closes if one is open and an operand stands before it.
* Brackets of any shape group; with a comma or semicolon inside they are a list, where the answer
  may be one.
"""

from __future__ import annotations

from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.tokens import CLOSER, INVERSE, AnswerTokens

MAX_DEPTH = 100

# Roles of open brackets. Those up to SUMMAND were put in: the argument of a function; of a root;
# of a function whose argument begins with a bar, before and behind the closing one; of a sum.
IMPLICIT, TIGHT, BARRED, SPENT, SUMMAND, GROUP, CALL, EXPONENT, BARS = range(9)

CLOSERS = frozenset((t.BAR_CLOSE, *CLOSER.values()))
FUNCTIONS = frozenset((t.FUNCTION, t.BASED, t.SUM))
SIGNS = (t.PLUS, t.MINUS)
FACTORS = (t.STAR, t.SLASH)
OPENING = (t.LPAR, t.LSQB, t.BAR_OPEN)
CLOSING = (t.RPAR, t.RSQB, t.BAR_CLOSE)
SEPARATORS = (t.COMMA, t.SEMICOLON)
OPERANDS = frozenset((t.NUMBER, t.NAME, t.FUNCTION, t.BASED, t.SUM, t.ROOT, t.BAR_OPEN, *CLOSER))
# The tokens that end the argument of a sum, and that of a function.
ENDING_TERMS = CLOSERS | {t.END, t.PLUS, t.MINUS, t.COMMA, t.SEMICOLON}
ENDING = ENDING_TERMS | {t.STAR, t.SLASH}


def arrange(raw: AnswerTokens, names: ProblemNames) -> AnswerTokens:
    """Return the tokens that `answer.lark` reads.

    Raises E0712 (no inverse), E0713 (two numbers), E0714 (a factorial), E0715 (a function without
    its argument), E0716 (brackets), E0717 (bars), E0718 (commas), E0720 (two readings in a program)
    and E0721 (comparisons).
    """
    return _Arrangement(raw, names).run()


class _Bracket:
    """An open bracket.

    place: of its token in the output.
    closer: the token that closes it, 0 for one that was put in.
    separator: the COMMA or SEMICOLON inside it, else 0.
    head: the raw token of the function whose exponent it is.
    """

    __slots__ = ("closer", "head", "place", "role", "separator")

    def __init__(self, role: int, place: int, closer: int, head: int = -1) -> None:
        self.role = role
        self.place = place
        self.closer = closer
        self.separator = 0
        self.head = head


class _Arrangement:
    """One answer while its marks are put in.

    at: the raw token that is looked at.
    operand: an operand has just ended.
    head: the raw token of a function that waits for its argument, or -1.
    brackets: those that are open, outermost first.
    separator: the one outside of all brackets.
    """

    __slots__ = ("at", "brackets", "head", "names", "operand", "out", "raw", "separator")

    def __init__(self, raw: AnswerTokens, names: ProblemNames) -> None:
        self.raw = raw
        self.names = names
        self.out = AnswerTokens(raw.text)
        self.out.raw = raw
        self.at = 0
        self.operand = False
        self.head = -1
        self.brackets: list[_Bracket] = []
        self.separator = 0

    def run(self) -> AnswerTokens:
        """Go through the raw tokens; return the output."""
        raw, out, brackets = self.raw, self.out, self.brackets
        vector, program = self.names.vector, self.names.program
        kinds, starts, ends, words = raw.kinds, raw.starts, raw.ends, raw.words
        put_kind, put_start = out.kinds.append, out.starts.append
        put_end, put_word = out.ends.append, out.words.append
        while True:
            at = self.at
            kind = kinds[at]
            if kind == t.BAR:
                kind = t.BAR_CLOSE if self.operand and self.bar_is_open() else t.BAR_OPEN
            if brackets and self.operand and kind in ENDING:
                if kind == t.SLASH and program and brackets[-1].role == IMPLICIT:
                    self.refuse_quotient(at)  # sin x/2
                self.end_arguments(SUMMAND if kind in ENDING_TERMS else SPENT)
            if kind in OPERANDS and (kind != t.LESS or (
                    vector and (not self.operand or t.GREATER in kinds[at:]))):
                if self.operand:
                    self.multiply(kind)
                elif self.head >= 0 and (kind not in CLOSER or kinds[self.head] == t.SUM):
                    self.begin_argument(kind)
                    self.head = -1
                if kind <= t.NAME:
                    put_kind(kind)
                    put_start(starts[at])
                    put_end(ends[at])
                    put_word(words[at])
                    self.operand = True
                    if brackets:
                        self.end_roots()
                elif kind in FUNCTIONS or kind == t.ROOT:
                    self.function(kind)
                else:
                    self.open(kind)
                if len(brackets) > MAX_DEPTH:
                    from gradcli.lang.paper.refusals import too_deep

                    raise too_deep(raw, self.at, MAX_DEPTH)
            else:
                if self.head >= 0:
                    self.begin_signed_argument(kind)
                if kind in CLOSERS:
                    self.close(kind)
                elif kind == t.END:
                    return self.finish()
                elif kind == t.FACTORIAL:
                    self.factorial()
                else:
                    if kind > t.CIRCUMFLEX:
                        self.separate(kind)
                    elif brackets and kind in FACTORS:
                        self.check_product()
                    self.operand = False
                    put_kind(kind)
                    put_start(starts[at])
                    put_end(ends[at])
                    put_word("")
            self.at += 1

    # ---- operands side by side ----------------------------------------------------------------

    def multiply(self, kind: int) -> None:
        """Put in the sign between an operand and the one that begins here; arguments of the first
        one may end between them. Raises E0713 for two numbers.
        """
        raw, at, brackets = self.raw, self.at, self.brackets
        number = kind == t.NUMBER and raw.kinds[at - 1] == t.NUMBER
        if number and t.CIRCUMFLEX not in (raw.kinds[at + 1], raw.kinds[at - 2]):
            from gradcli.lang.paper.refusals import two_numbers

            raise two_numbers(raw, at)
        if (kind in FUNCTIONS or number  # 3 2^x, x^2 3
                or (brackets and brackets[-1].role <= SPENT and self.ends_argument())):
            self.end_arguments(SPENT)
        else:
            while brackets and brackets[-1].role == SPENT:
                self.end_argument()
        if self.names.program and self.follows_slash():
            self.refuse_quotient(at)  # 1/2x
        self.out.products.append(len(self.out.kinds))
        self.out.put(t.STAR, raw.starts[at], raw.starts[at])
        self.operand = False

    def ends_argument(self) -> bool:
        """Return whether the operand that begins here is not part of the argument that is open.

        It is none if it begins with a bracket, a space and a number, a space and e^, or a space and
        a letter that the argument has already: `cos x (1 + y)`, `cos x^2 2x`, `cos x e^x`, `ln x
        x^3`.
        """
        raw, at, names = self.raw, self.at, self.names
        kind, word = raw.kinds[at], raw.words[at]
        if raw.kinds[at - 1] == t.NUMBER and raw.kinds[at - 2] != t.CIRCUMFLEX:
            return False
        if kind in CLOSER or kind == t.BAR:
            return True
        if kind == t.NAME and names.is_unit(word):
            return True
        if raw.starts[at] == raw.ends[at - 1]:
            return False
        return kind == t.NUMBER or (kind == t.NAME and (
            word in self.out.words[self.brackets[-1].place:]
            or (word == "e" and raw.kinds[at + 1] == t.CIRCUMFLEX)))

    def follows_slash(self) -> bool:
        """Return whether the operand that just ended, with its powers, is the right side of `/`."""
        kinds = self.out.kinds
        at = len(kinds) - 1
        while True:
            at -= kinds[at] == t.FACTORIAL
            if kinds[at] in OPENING:  # nothing is raised here: (^2 x
                return False
            depth = 0
            while True:
                depth += (kinds[at] in CLOSING) - (kinds[at] in OPENING)
                if not depth:
                    break
                at -= 1
            while at and kinds[at - 1] == t.FUNCTION:
                at -= 1
            if at > 1 and kinds[at - 2] in (t.POWERED, t.BASED):
                at -= 2
            while at > 1 and kinds[at - 1] in SIGNS and kinds[at - 2] == t.CIRCUMFLEX:
                at -= 1
            if at < 2 or kinds[at - 1] != t.CIRCUMFLEX:
                return at > 0 and kinds[at - 1] == t.SLASH
            at -= 2  # to the last token of what is raised

    def refuse_quotient(self, at: int) -> None:
        """Raise E0720 for a quotient that people read in two ways."""
        from gradcli.lang.paper.refusals import two_quotients

        raise two_quotients(self.raw, at)

    # ---- arguments without brackets -------------------------------------------------------------

    def begin_argument(self, kind: int) -> None:
        """Put in the bracket between a function and its argument, which begins here."""
        head = self.raw.kinds[self.head]
        self.brackets.append(_Bracket(
            TIGHT if head == t.ROOT else SUMMAND if head == t.SUM
            else BARRED if kind == t.BAR_OPEN else IMPLICIT, len(self.out.kinds), 0))
        start = self.raw.starts[self.at]
        self.out.put(t.LPAR, start, start)

    def begin_signed_argument(self, kind: int) -> None:
        """Put in the bracket before an argument that begins with a sign: `sin -x`, not `sin - x`.

        Raises E0715 for all else.
        """
        raw, at = self.raw, self.at
        if (kind not in SIGNS or at - 1 != self.head or raw.ends[at] != raw.starts[at + 1]
                or raw.kinds[at + 1] == t.END):
            from gradcli.lang.paper.refusals import no_argument

            raise no_argument(raw, self.head)
        self.begin_argument(kind)
        self.head = -1

    def end_arguments(self, last: int) -> None:
        """Close the brackets put in since the last typed one, of the roles up to `last`."""
        while self.brackets and self.brackets[-1].role <= last:
            self.end_argument()

    def end_roots(self) -> None:
        """Close the arguments that are one operand."""
        while self.brackets and self.brackets[-1].role == TIGHT:
            self.end_argument()

    def end_argument(self) -> None:
        """Close one bracket that was put in."""
        out = self.out
        out.closing.append((self.brackets.pop().place, len(out.kinds)))
        end = out.ends[-1]
        out.put(t.RPAR, end, end)

    def check_product(self) -> None:
        """Raise E0720 for a sign of a factor in a product over an index."""
        last = self.brackets[-1]
        if last.role == SUMMAND and self.out.words[last.place - 1] in t.PRODUCTS:
            from gradcli.lang.paper.refusals import unclear_product

            raise unclear_product(self.raw, self.at)

    # ---- functions ------------------------------------------------------------------------------

    def function(self, kind: int) -> None:
        """Put out a function, and what stands between it and its argument."""
        raw, at = self.raw, self.at
        powered = kind == t.FUNCTION and raw.kinds[at + 1] == t.CIRCUMFLEX
        self.out.put(t.POWERED if powered else t.BASED if kind == t.BASED else t.FUNCTION,
                     raw.starts[at], raw.ends[at], raw.words[at])
        self.head = at
        if powered or kind == t.BASED or self.is_inverse():
            self.exponent(at + 2 if powered else at + 1)

    def is_inverse(self) -> bool:
        """Return whether an inverse function lost the sign of its power: tan-1(x), sin-1 x."""
        raw, at = self.raw, self.at
        return (raw.words[at] in INVERSE and raw.kinds[at + 1:at + 3] == [t.MINUS, t.NUMBER]
                and raw.words[at + 2] == "1" and raw.kinds[at + 3] in OPERANDS
                and raw.ends[at] == raw.starts[at + 1] and raw.ends[at + 1] == raw.starts[at + 2])

    def exponent(self, first: int) -> None:
        """Put out the exponent of a function, or the base of a log, which begins at `first`.

        `sin^-1` changes the function instead. Raises E0712 where that has no inverse.
        """
        raw, out, head = self.raw, self.out, self.head
        kinds = raw.kinds
        bracket = kinds[first] in CLOSER and kinds[first] != t.LESS
        sign = first + bracket
        last = sign + 1 + bracket
        if (kinds[head] == t.FUNCTION and kinds[sign] == t.MINUS and kinds[sign + 1] == t.NUMBER
                and raw.words[sign + 1] == "1"
                and (not bracket or kinds[last] == CLOSER[kinds[first]])):
            word = raw.words[head]
            if word not in INVERSE:
                from gradcli.lang.paper.refusals import no_inverse

                raise no_inverse(raw, head, last)
            out.kinds[-1] = t.FUNCTION
            out.words[-1] = INVERSE[word]
            self.at = last
            return
        if bracket:
            self.brackets.append(
                _Bracket(EXPONENT, len(out.kinds), CLOSER[kinds[first]], head))
            out.put(t.LPAR, raw.starts[first], raw.ends[first])
            self.head = -1
            self.at = first
            return
        if kinds[first] == t.MINUS and kinds[first + 1] in (t.NUMBER, t.NAME):
            out.put(t.MINUS, raw.starts[first], raw.ends[first])
            first += 1
        elif kinds[first] not in (t.NUMBER, t.NAME):
            from gradcli.lang.paper.refusals import no_argument

            raise no_argument(raw, head)
        out.put(kinds[first], raw.starts[first], raw.ends[first], raw.words[first])
        self.at = first

    def factorial(self) -> None:
        """Put out a factorial, or the sign of degrees, of a number, a name or a bracket. Raises
        E0714 for two of them and for x^2!, which have two readings.
        """
        raw, out = self.raw, self.out
        before = len(out.kinds) - 1
        if self.operand and out.kinds[before] == t.RPAR:
            depth = 0
            while True:
                depth += (out.kinds[before] == t.RPAR) - (out.kinds[before] == t.LPAR)
                if not depth:
                    break
                before -= 1
        if (not self.operand or out.kinds[-1] == t.FACTORIAL
                or (before and out.kinds[before - 1] in (t.CIRCUMFLEX, t.FUNCTION))):
            from gradcli.lang.paper.refusals import wrong_factorial

            raise wrong_factorial(raw, self.at)
        out.put(t.FACTORIAL, raw.starts[self.at], raw.ends[self.at], raw.words[self.at])

    # ---- brackets and bars that were typed ------------------------------------------------------

    def bar_is_open(self) -> bool:
        """Return whether the innermost bracket that was typed is a bar."""
        for bracket in reversed(self.brackets):
            if bracket.role > SUMMAND:
                return bracket.role == BARS
        return False

    def open(self, kind: int) -> None:
        """Put out an opening bracket or bar."""
        raw, at = self.raw, self.at
        if kind == t.BAR_OPEN:
            role, closer, shown = BARS, t.BAR_CLOSE, t.BAR_OPEN
        else:
            role, closer, shown = GROUP if self.head < 0 else CALL, CLOSER[kind], t.LPAR
        self.brackets.append(_Bracket(role, len(self.out.kinds), closer))
        self.out.put(shown, raw.starts[at], raw.ends[at])
        self.head = -1

    def close(self, kind: int) -> None:
        """Put out a closing bracket or bar. Raises E0716, E0717 or E0721 for one that closes
        nothing, or of another shape, or too early.
        """
        raw, at, out = self.raw, self.at, self.out
        start, end = raw.starts[at], raw.ends[at]
        if not self.brackets or self.brackets[-1].closer != kind or not self.operand:
            from gradcli.lang.paper.refusals import wrong_bracket

            raise wrong_bracket(raw, at, self.brackets[-1].closer if self.brackets else None)
        bracket = self.brackets[-1]
        if (bracket.role == CALL and out.words[bracket.place - 1] == "root"
                and raw.kinds[at + 1] == t.LPAR and raw.starts[at + 1] == end
                and not bracket.separator):  # root(3)(x): two arguments
            out.words[bracket.place - 1] = "degree_root"
            bracket.separator = t.COMMA
            out.put(t.COMMA, start, end + 1)
            self.operand = False
            self.at += 1
            return
        self.brackets.pop()
        if bracket.role == BARS:
            out.put(t.BAR_CLOSE, start, end)
            if self.brackets and self.brackets[-1].role == BARRED:
                self.brackets[-1].role = SPENT
        elif bracket.role == GROUP and bracket.separator:
            out.kinds[bracket.place] = t.LSQB
            out.put(t.RSQB, start, end)
        else:
            out.put(t.RPAR, start, end)
        if bracket.role == EXPONENT:
            self.head = bracket.head
            self.operand = False
        else:
            self.end_roots()

    def separate(self, kind: int) -> None:
        """Note a comma or semicolon. Raises E0718 where none may stand, E0721 for a < or >."""
        if kind not in SEPARATORS:
            from gradcli.lang.paper.refusals import comparison

            raise comparison(self.raw, self.at)
        vector = self.names.vector
        inner = self.brackets[-1] if self.brackets else None
        if inner is None and vector and not self.names.program:
            self.separator = kind
        elif inner is not None and (
                (inner.role == CALL and (vector or kind == t.COMMA))
                or (inner.role == GROUP and vector)):
            inner.separator = kind
        else:
            from gradcli.lang.paper.refusals import wrong_comma

            raise wrong_comma(self.raw, self.at, self.names.written)

    def finish(self) -> AnswerTokens:
        """Return the output, as a list if a comma stood outside of all brackets. Raises E0716 or
        E0717 for a bracket or bar that is still open.
        """
        raw, out = self.raw, self.out
        if self.brackets:
            from gradcli.lang.paper.refusals import unclosed

            raise unclosed(out, self.brackets[-1].place)
        if self.separator:
            start = out.starts[0]
            for values, value in ((out.kinds, t.LSQB), (out.starts, start), (out.ends, start)):
                values.insert(0, value)
            out.words.insert(0, "")
            out.products = [place + 1 for place in out.products]
            out.closing = [(first + 1, last + 1) for first, last in out.closing]
            out.put(t.RSQB, out.ends[-1], out.ends[-1])
        out.put(t.END, raw.starts[self.at], raw.ends[self.at])
        return out
