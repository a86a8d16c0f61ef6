"""Seeded programs of the expression language, and ways to spoil them: material for test_fuzz.py.

`Generator.program()` writes a program that should have an answer: statements and expressions of
known kind (scalar, vector of three, matrix of three by three), in brackets where the language asks
for them. `wild()` writes by the grammar alone, with any operation of the table applied to anything.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from gradcli.lang.syntax.code import VERBS
from gradcli.ops import NAMES, PUBLIC, TABLE

SCALAR, VECTOR, MATRIX = "scalar", "vector", "matrix"
KINDS = (SCALAR, VECTOR, MATRIX)
# Binding strength of a text, as in the language's list from loosest to tightest.
TEST, SUM, PRODUCT, UNARY, COEFFICIENT, POWER, ATOM = range(7)
INPUTS = {
    SCALAR: ("x", "y", "z", "θ", "gamma", "x_1"), VECTOR: ("u", "w", "λ"), MATRIX: ("A", "M")}
VALUES = {
    SCALAR: ("0.5", "2", "-1.25", "3", "0", "1e-3", "pi/4"),
    VECTOR: ("[1, 2, 3]", "[0.5, -1, 0]", "linspace(0, 1, 3)", "zeros(3)"),
    MATRIX: ("[[1, 2, 3], [0, 1, 4], [5, 6, 0]]", "eye(3)", "ones(3, 3)")}
DECLARED = {SCALAR: ("", ": float64", ": float64[]"), VECTOR: ("", ": float64[3]", ": float64[:]"),
            MATRIX: ("", ": float64[3, 3]", ": float64[:, 3]")}
# Rows whose arguments have more to fulfil than to be numbers.
PARTICULAR = {"cast", "string", "polygamma", "gammainc_log", "gammaincl_log", "erfcx_derivative",
              "dawsn_derivative", "elliptic_moment", "besselj", "bessely", "besseli", "besselk",
              "sphericalj", "where", "isnan", "isfinite"}
ONE_OF_EACH = [name for name, op in PUBLIC.items() if op.elementwise and len(op.parameters) == 1
               and op.kind != "stop" and op.name not in PARTICULAR]
TWO_OF_EACH = [name for name, op in PUBLIC.items() if op.elementwise and len(op.parameters) == 2
               and op.kind != "stop" and op.name not in PARTICULAR]
REDUCTIONS = ("sum", "mean", "prod", "max", "min", "norm", "logsumexp", "var", "std")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "≠", "≤", "≥")
WORDS = (*NAMES, *VERBS, "x", "y", "var", "const", "input", "tape", "forward", "resume", "if",
         "else", "and", "or", "not", "for", "while", "def", "expect", "print", "none", "true",
         "False", "pi", "e", "inf", "nan", "float64", "int32", "lambda", "import", "f", "f'", "f''")
SIGNS = ("+", "-", "*", "/", "//", "%", "@", "^", "**", "=", "==", "<", "(", ")", "[", "]", "{",
         "}", ",", ":", ";", ".", "'", '"', "\n", " ", "\t", "#", "√", "π", "²", "⁻¹", "·", "×",
         "−", "÷", "≤", "+=", "|", "$", "!", "&", "\\", "\r", "\0", "\u202e", "é", "e\u0301", "0",
         "1", "2.5", "1e9", "1e999", ".5", "3.", "0x1", "1_0", "1e400", "9" * 40)


def names_read(text: str) -> set[str]:
    """The names in a text that are not called; of a coefficient as in 2x the name alone."""
    found = re.finditer(r"[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|([^\W\d]\w*)(\(?)",
                        re.sub("[²³⁻¹]", " ", text))
    return {match[1] for match in found if match[1] and not match[2]}


class Generator:
    """Programs from one stream of random numbers."""

    def __init__(self, stream: random.Random) -> None:
        self.random = stream
        self.names: dict[str, list[str]] = {}
        self.functions: list[str] = []

    # --- whole programs -----------------------------------------------------------------------

    def program(self) -> str:
        """A program that should have an answer, once its inputs have values."""
        self.names = {kind: list(names) for kind, names in INPUTS.items()}
        self.functions = []
        lines = [self._statement() for _ in range(self.random.choice((0, 0, 1, 1, 2, 3, 5)))]
        nothing = not lines or re.match(r"input |g\d\(", lines[-1])
        if nothing or self.random.random() < 0.7:
            lines.append(self._expression(self._kind(), 3)[0])
        text = lines[0]
        for line in lines[1:]:
            text += self.random.choice(("\n", "\n", "\n", "; ", "  # a comment\n", "\r\n\n")) + line
        return text + self.random.choice(("", "\n", "  # end", ";\n"))

    def point(self, text: str) -> str:
        """Values for the inputs that a text reads, as --at takes them."""
        read = names_read(text)
        return ",".join([f"{name}={self.random.choice(VALUES[kind])}"
                         for kind, names in INPUTS.items() for name in names if name in read])

    def _statement(self) -> str:
        form = self.random.randrange(8)
        kind = self._kind()
        if form == 0:
            name = f"p{len(self.names[kind])}{kind[0]}"
            value = self.random.choice(VALUES[kind])
            keyword = self.random.choice(("var", "const", "input"))
            more = ", trainable=false" if keyword == "var" and self.random.random() < 0.2 else ""
            self.names[kind].append(name)
            return f"{keyword} {name}{self.random.choice(DECLARED[kind])} = {value}{more}"
        if form == 1:
            name = f"g{len(self.functions)}"
            kept, self.names = self.names, {SCALAR: ["t"], VECTOR: [], MATRIX: []}
            body = self._expression(SCALAR, 3)[0]
            self.names = kept
            self.functions.append(name)
            return f"{name}(t) = {body}"
        if form == 2:
            first, second = (f"q{len(self.names[SCALAR])}{letter}" for letter in "ab")
            line = f"{first}, {second} = [{self._bare(SCALAR)}, {self._bare(SCALAR)}]"
            self.names[SCALAR] += [first, second]
            return line
        if form == 3:
            return self._expression(kind, 2)[0]
        name = self.random.choice((f"r{len(self.names[kind])}{kind[0]}", *self.names[kind][-1:]))
        line = f"{name} = {self._bare(kind)}"
        if name not in self.names[kind]:
            self.names[kind].append(name)
        elif name in INPUTS[kind]:
            return f"{name}_ = {self._bare(kind)}"      # bound, an input would be read too early
        return line

    def _kind(self) -> str:
        return self.random.choice((SCALAR, SCALAR, SCALAR, SCALAR, VECTOR, MATRIX))

    # --- expressions --------------------------------------------------------------------------

    def _in(self, kind: str, strength: int, depth: int) -> str:
        text, own = self._expression(kind, depth)
        return text if own >= strength and self.random.random() < 0.95 else f"({text})"

    def _bare(self, kind: str, depth: int = 3) -> str:
        return self._in(kind, TEST, depth)

    def _expression(self, kind: str, depth: int) -> tuple[str, int]:
        choose = self.random.choice
        if depth == 0 or self.random.random() < 0.15:
            return self._leaf(kind)
        form = self.random.randrange(12)
        if form <= 1:
            sign = choose(("+", "-", " + ", " - ", "−"))
            return self._in(kind, SUM, depth - 1) + sign + self._in(kind, PRODUCT, depth - 1), SUM
        if form <= 3:
            sign = choose(("*", "/", " * ", "·", "×", "÷", "%"))
            # A number in front of a name is ambiguous behind these: the right side is an atom.
            left, right = self._in(kind, PRODUCT, depth - 1), self._in(kind, ATOM, depth - 1)
            return left + sign + right, PRODUCT
        if form == 4:
            return choose("-+") + self._in(kind, UNARY, depth - 1), UNARY
        if form == 5:
            base = self._in(kind, ATOM, depth - 1)
            power = choose(("^2", "²", "³", "**3", "^0.5", "^-1", "⁻¹",
                            f"^{self._leaf(SCALAR)[0]}"))
            if base[0].isdigit() or base[0] == ".":
                base = f"({base})"
            return base + power, POWER
        if form == 6 and kind == SCALAR:
            name = choose(self.names[SCALAR] or ["t"])
            return f"{choose(('2', '3.5', '.5'))}{name}", COEFFICIENT
        if form == 7 and kind == SCALAR:
            return self._to_scalar(depth), ATOM
        if form == 8:
            return (f"{self._in(kind, SUM, depth - 1)} if {self._condition(depth - 1)}"
                    f" else {self._in(kind, SUM, depth - 1)}", TEST)
        if form == 9 and kind == SCALAR and self.functions:
            name = choose(self.functions)
            return f"{name}{choose(('', '', chr(39), chr(39) * 2))}({self._bare(SCALAR, 1)})", ATOM
        if form == 10:
            return self._array(kind, depth)
        if self.random.random() < 0.35:
            a, b = self._bare(kind, depth - 1), self._bare(kind, depth - 1)
            return f"{choose(TWO_OF_EACH)}({a}, {b})", ATOM
        return f"{choose(ONE_OF_EACH)}({self._bare(kind, depth - 1)})", ATOM

    def _array(self, kind: str, depth: int) -> tuple[str, int]:
        choose, matrix = self.random.choice, self._in(MATRIX, ATOM, depth - 1)
        if kind == SCALAR:
            return f"√({self._bare(SCALAR, depth - 1)})", COEFFICIENT
        if kind == VECTOR:
            parts = ", ".join([self._bare(SCALAR, depth - 1) for _ in range(3)])
            return choose((
                (f"{matrix} @ {self._in(VECTOR, ATOM, depth - 1)}", PRODUCT),
                (f"[{parts}]", ATOM), (f"sum({matrix}, axis={choose((0, 1, -1))})", ATOM),
                (f"where({self._in(VECTOR, SUM, 1)} > 0, {self._bare(VECTOR, 1)}, 0)", ATOM)))
        return choose((
            (f"{matrix} @ {self._in(MATRIX, ATOM, depth - 1)}", PRODUCT), (f"{matrix}.T", ATOM),
            (f"reshape({matrix}, [3, 3])", ATOM), (f"exp({matrix})", ATOM)))

    def _to_scalar(self, depth: int) -> str:
        choose = self.random.choice
        kind = choose((VECTOR, MATRIX))
        array = self._bare(kind, depth - 1)
        if self.random.random() < 0.5:
            return f"{choose(REDUCTIONS)}({array})"
        name = choose(self.names[VECTOR] or ["[1, 2, 3]"])
        return choose((f"{name}[{choose((0, 1, 2, -1))}]", f"dot({name}, {self._bare(VECTOR, 1)})",
                       f"sum({name}[{choose(('1:', ':2', '::2', '::-1'))}])"))

    def _condition(self, depth: int) -> str:
        one = (f"{self._in(SCALAR, SUM, depth)} {self.random.choice(COMPARISONS)}"
               f" {self._in(SCALAR, SUM, depth)}")
        form = self.random.randrange(6)
        if form == 0:
            return f"not {one}"
        if form == 1:
            return f"{one} {self.random.choice(('and', 'or'))} {self._leaf(SCALAR)[0]} > 0"
        return one

    def _leaf(self, kind: str) -> tuple[str, int]:
        names = self.names[kind]
        if not names or self.random.random() < 0.3:
            text = self.random.choice(VALUES[kind])
            return (text, ATOM) if text[0] != "-" and "/" not in text else (f"({text})", ATOM)
        name = self.random.choice(names)
        return name, ATOM

    # --- by the grammar alone -----------------------------------------------------------------

    def wild(self) -> str:
        """Statements that parse, with anything applied to anything."""
        lines = []
        for _ in range(self.random.choice((1, 1, 2, 3, 4))):
            lines.append(self.random.choice((
                "{e}", "{e}", "{e}", "a = {e}", "b = {e}", "a, b = {e}", "f(x) = {e}",
                "f(x, y) = {e}", "var a = {e}", "const b = {e}", "input x = {e}",
                "input x = {e}, domain={e}", "var n: int64 = {e}", "var w: float32[3, :] = {e}",
                "var s: string = {e}", "var k = {e}, trainable={e}", "x.assign({e})", "x += {e}",
                "grad({e}, x)", "grad({e}, [x, y])", "hessian({e}, x)", "jacobian({e}, x)",
                "jvp({e}, x, {e})", "vjp({e}, x, {e})", "hvp({e}, x, {e})", "f'({e})", "f''({e})",
            )).replace("{e}", "\0"))
        text = "\n".join(lines)
        while "\0" in text:
            text = text.replace("\0", self._anything(3), 1)
        return text

    def _anything(self, depth: int) -> str:
        choose = self.random.choice
        if depth == 0 or self.random.random() < 0.2:
            return choose(("x", "y", "a", "b", "f", "u", "A", "0", "1", "2.5", "-3", "1e300", "inf",
                           "nan", "pi", "none", "true", '"text"', "[]", "{}", "[1, 2, 3]",
                           "[[1, 2], [3, 4]]", "int(2)", "float32(1)", "bool(1)", "[x, y]",
                           '{"w": x}', "range(3)", "zeros(0)", "zeros(2, 0)", "x.shape", "1 == 2"))
        some = [self._anything(depth - 1) for _ in range(3)]
        form = self.random.randrange(8)
        if form <= 3:
            name = choose(tuple(NAMES) + tuple(VERBS))
            row = TABLE.get(name)
            count = len(row.parameters) if row is not None and self.random.random() < 0.8 \
                else choose((0, 1, 2, 3))
            given = [self._anything(depth - 1) for _ in range(count)]
            if row is not None and row.attributes and self.random.random() < 0.4:
                given.append(f"{choose(tuple(row.attributes))}={some[0]}")
            return f"{name}({', '.join(given)})"
        if form == 4:
            sign = choose(("+", "-", "*", "/", "//", "%", "@", "^", "**"))
            return f"({some[0]}) {sign} ({some[1]})"
        if form == 5:
            return choose(("[{0}, {1}]", "({0})[{1}]", "({0})[{1}:{2}]", "({0})[:, {1}]", "({0}).T",
                           "({0}).shape", '{{"k": {0}}}', '({0})["k"]', "({0})[{1}, {2}]")
                          ).format(*some)
        if form == 6:
            return f"(({some[0]}) if ({some[1]}) else ({some[2]}))"
        return choose(("-({0})", "not ({0})", "({0}) {c} ({1})", "({0}) and ({1})",
                       "({0}) or ({1})", "f({0})", "f'({0})", "√({0})")
                      ).format(*some, c=choose(COMPARISONS))

    # --- spoiling -----------------------------------------------------------------------------

    def soup(self) -> str:
        """Words and signs in any order."""
        return "".join([self.random.choice(SIGNS if self.random.random() < 0.6 else WORDS)
                        for _ in range(self.random.randrange(1, 30))])

    def noise(self) -> bytes:
        """Any bytes."""
        return self.random.randbytes(self.random.choice((0, 1, 2, 3, 8, 20, 60, 200)))

    def spoiled(self, text: bytes, others: Sequence[bytes]) -> bytes:
        """One to three small changes: what a slip of the keyboard or a broken download does."""
        for _ in range(self.random.choice((1, 1, 2, 3))):
            at = self.random.randrange(len(text) + 1)
            end = min(len(text), at + self.random.choice((1, 1, 1, 2, 5, 20)))
            form = self.random.randrange(7)
            if form == 0:
                text = text[:at]
            elif form == 1:
                text = text[:at] + text[end:]
            elif form == 2:
                text = text[:at] + text[at:end] * 2 + text[end:]
            elif form == 3:
                text = text[:at] + self.random.choice(SIGNS).encode() + text[at:]
            elif form == 4:
                text = text[:at] + self.random.randbytes(1) + text[end:]
            elif form == 5:
                other = self.random.choice(others)
                text = text[:at] + other[self.random.randrange(len(other) + 1):]
            else:
                text = text[at:] + self.random.choice((b"\n", b" ", b"")) + text[:at]
        return text


class Blocks:
    """Programs of nested blocks. Those of `runnable()` are Python's, but for the four kinds of
    blocks that `with` would open there; all end, and read no name that may not be bound.
    """

    def __init__(self, stream: random.Random) -> None:
        self.random = stream
        self.indent = "    "
        self.only_python = True
        self.count = 0
        self.functions: list[tuple[str, int, int]] = []     # name, parameters, values returned

    def runnable(self) -> str:
        """A program whose effects are its calls of `out` and the blocks that it opens."""
        return self._program(only_python=True)

    def anything(self) -> str:
        """A program with every statement there is; it need not have a meaning."""
        return self._program(only_python=False)

    def _program(self, only_python: bool) -> str:
        self.only_python = only_python
        self.indent = self.random.choice(("  ", "    ", "\t", " "))
        self.count = 0
        self.functions = []
        lines = ["x = 1", "y = 2", "z = 3"]
        names = ["x", "y", "z"]
        for _ in range(self.random.choice((1, 2, 3) if only_python else (1, 1, 2))):
            lines += self._statement(names, self.random.randint(1, 4), False, False, "")
        if only_python:
            return "\n".join([*lines, f"out({', '.join(names)})"]) + "\n"
        end = self.random.choice(("\n", "\r\n"))
        shown = []
        for line in lines:
            shown += self.random.choice(([], [], [], [], [""], ["# a comment"], ["   # another"]))
            shown.append(line + self.random.choice(("", "", "", "  ", "  # why", "\t")))
        return end.join(shown) + self.random.choice(("", end))

    def _name(self, letters: str = "abcuvw") -> str:
        self.count += 1
        return f"{self.random.choice(letters)}{self.count}"

    # --- statements: lines, each with its indentation ------------------------------------------

    def _block(self, head: str, names: list[str], depth: int, loop: bool, function: bool,
               margin: str, first: Sequence[str] = ()) -> list[str]:
        """A head and its block; `first` begins it. What is bound in it is not used outside."""
        inner, functions = list(names), list(self.functions)
        if not first and self.random.random() < 0.3:
            some = [self._simple(inner, loop, function)
                    for _ in range(self.random.choice((1, 1, 2, 3)))]
            return [f"{margin}{head} {'; '.join(some)}{self.random.choice(('', '', ';'))}"]
        deeper = margin + self.indent
        lines = [deeper + line for line in first]
        for _ in range(self.random.choice((1, 1, 2, 3))):
            lines += self._statement(inner, depth - 1, loop, function, deeper)
        self.functions = functions
        return [margin + head, *lines]

    def _statement(self, names: list[str], depth: int, loop: bool, function: bool, margin: str
                   ) -> list[str]:
        form = self.random.randrange(12) if depth > 0 else 12
        if form <= 2:
            return self._conditional(names, depth, loop, function, margin)
        if form <= 5:
            return self._loop(names, depth, function, margin)
        if form == 6:
            return self._function(names, depth, margin)
        if form <= 8:
            return self._block(self._entered(names), names, depth, loop, function, margin)
        return [margin + self._simple(names, loop, function)]

    def _conditional(self, names: list[str], depth: int, loop: bool, function: bool, margin: str
                     ) -> list[str]:
        lines = self._block(f"if {self._condition(names)}:", names, depth, loop, function, margin)
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            lines += self._block(f"elif {self._condition(names)}:", names, depth, loop, function,
                                 margin)
        if self.random.random() < 0.5:
            lines += self._block("else:", names, depth, loop, function, margin)
        return lines

    def _loop(self, names: list[str], depth: int, function: bool, margin: str) -> list[str]:
        if self.random.random() < 0.4:
            name = self._name("n")      # which is not bound again, so that the loop ends
            return [f"{margin}{name} = 0", *self._block(
                f"while {name} < {self.random.randint(0, 4)}:", [*names, name], depth, True,
                function, margin, [f"{name} = {name} + 1"])]
        name = self._name()
        items = ", ".join([self._expression(names, 1) for _ in range(self.random.randint(1, 4))])
        if self.random.random() < 0.4:
            other = self._name()
            head = f"for {name}, {other} in zip([{items}], [{items}]):"
            return self._block(head, [*names, name, other], depth, True, function, margin)
        over = self.random.choice((f"range({self.random.randint(0, 4)})", f"[{items}]"))
        return self._block(f"for {name} in {over}:", [*names, name], depth, True, function, margin)

    def _function(self, names: list[str], depth: int, margin: str) -> list[str]:
        name, parameters = self._name(), [self._name() for _ in range(self.random.randint(0, 3))]
        head = f"def {name}({', '.join(parameters)}):"
        if not parameters:
            parameters.append(self._name())     # which the function binds itself
            lines = self._block(head, parameters, depth, False, True, margin,
                                [f"{parameters[0]} = 5"])
            count = 0
        else:
            lines = self._block(head, parameters, depth, False, True, margin,
                                [f"out({parameters[0]})"])
            count = len(parameters)
        values = self.random.choice((1, 1, 2))
        lines.append(f"{margin}{self.indent}return"
                     f" {', '.join([self._expression(parameters, 1) for _ in range(values)])}")
        self.functions.append((name, count, values))
        if not self.only_python and self.random.random() < 0.3:
            if self.random.random() < 0.5:
                return [f"{margin}@gradient_of(floor)", *lines]
            rule = self._block("def grad(upstream):", ["upstream"], depth - 1, False, True,
                               margin + self.indent)
            return [f"{margin}@custom_gradient", lines[0], *rule, *lines[1:]]
        return lines

    def _entered(self, names: list[str]) -> str:
        keyword = self.random.choice(("tape", "stop_recording", "resume", "forward"))
        name = self._name()
        if keyword == "forward":
            return f"forward {name}({self._expression(names, 1)}, {self._expression(names, 1)}):"
        attributes = self.random.choice(("", "", f", persistent={self._condition(names)}",
                                         f", persistent=true, other={self._expression(names, 1)}"))
        return f"{keyword} {name}{attributes if keyword == 'tape' else ''}:"

    def _simple(self, names: list[str], loop: bool, function: bool) -> str:
        form = self.random.randrange(10 if self.only_python else 16)
        value = self._expression(names, 2)
        if form <= 1:
            return f"out({value})"
        if form == 2 and loop:
            return self.random.choice(("break", "continue"))
        if form == 3 and function:
            # Both values are numbers, so that a caller may add what it gets.
            return f"return {value}" if self.random.random() < 0.7 else "pass"
        if form == 4:
            return "pass"
        if form == 5 and self.functions and self.only_python:
            name, count, _ = self.random.choice(self.functions)
            given = ", ".join([self._expression(names, 1) for _ in range(count)])
            return f"out({name}({given}))"
        if form <= 9:
            free = [name for name in names if name[0] != "n"]
            name = self.random.choice(free) if free and self.random.random() < 0.7 else self._name()
            if name not in names:
                names.append(name)
            return f"{name} = {value}"
        other = self._expression(names, 1)
        return (f"expect {value} == {other}", f"expect {value} ~= {other}, rtol={other}",
                f"var {self._name()} = {value}", f"{names[0]}.assign({value})",
                f"{self._name()}(x) = {value}", f"np.mean({value}) + np.pi")[form - 10]

    # --- expressions ---------------------------------------------------------------------------

    def _condition(self, names: list[str]) -> str:
        left, right = self._expression(names, 1), self._expression(names, 1)
        return self.random.choice(("{0} < {1}", "{0} == {1}", "not {0} >= {1}", "{0} < {1} and {0}",
                                   "{0} > {1} or {1} != 2", "({0} if {1} else {0}) < 2")
                                  ).format(left, right)

    def _expression(self, names: list[str], depth: int) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice((*names, *names, "0", "1", "2", "7"))
        left, right = self._expression(names, depth - 1), self._expression(names, depth - 1)
        return self.random.choice(("{0} + {1}", "({0} - {1})", "({0} + {1})*2", "(-{0})",
                                   "({0} if {1} < 3 else {1})", "({0} and {1})", "({0} or {1})")
                                  ).format(left, right)
