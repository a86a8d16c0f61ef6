"""Errors of text that the grammar can read and an action refuses: two readings, wrong left sides.

Each function returns the error for the action to raise; `at` is the token behind the part that was
read.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.lang.messages.surroundings import statement_start, unclosed_brackets
from gradcli.lang.syntax.lexer import (
    CIRCUMFLEX,
    CLOSING,
    COMMA,
    DOT,
    FALSE,
    IDENTIFIERS,
    LPAR,
    LSQB,
    NONE,
    NUMBER,
    OPENING,
    PI,
    TRUE,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Function
    from gradcli.lang.syntax.lexer import Tokens


def excerpt(tokens: Tokens, first: int, end: int) -> str:
    """Return the user's text of tokens `first` to `end` - 1 in one line, 60 characters at most."""
    text = " ".join(tokens.text[tokens.starts[first]:tokens.ends[end - 1]].split())
    return text if len(text) <= 60 else text[:59] + "…"


def is_function(name: str) -> bool:
    """Return whether an operation (or `print`) has this name."""
    from gradcli.ops import lookup

    return name == "print" or lookup(name) is not None


# ---- numbers in front of something ----------------------------------------------------------


def bad_coefficient(tokens: Tokens, left: int, before: int, number: int, base: int, at: int
                    ) -> GradcliError:
    """Return E0106 for `2[1, 2]` and `sin^2(x)`, E0104 for `1/2x`.

    before: the token in front of the number and its signs.
    left: the first token of the operand on the left of that one, if it is an operator which leaves
        two readings, else -1.
    base: the first token behind the number.
    """
    digits, rest = tokens.token(number), excerpt(tokens, base, at)
    operator = tokens.kinds[before]
    if operator == CIRCUMFLEX and is_function(tokens.token(before - 1)):
        return power_of_function(tokens, before - 1, excerpt(tokens, before + 1, base), base, at)
    if "\n" in tokens.text[tokens.ends[number]:tokens.starts[base]]:
        opened = unclosed_brackets(tokens, base)
        if opened:      # else this would be another line
            bracket = tokens.token(opened[-1])
            return error("E0103", f"`{bracket}` is never closed",
                         tokens.span(opened[-1], opened[-1]), label="opened here")
    if left >= 0:
        return _two_readings(tokens, left, before, number, base, at)
    return error("E0106", "a number in front multiplies a name or a round bracket only",
                 tokens.span(number, at - 1), help=f"write `{digits}*{rest}`")


def malformed_number(tokens: Tokens, number: int, base: int, at: int) -> GradcliError:
    """Return E0105 for `2e`, `0x10` and `1_000`."""
    digits, name = tokens.token(number), tokens.token(base)
    written = digits + name
    span = tokens.span(number, base)
    if name in ("e", "E"):
        return error("E0105", f"`{written}` is a number without its exponent", span,
                     help=f"write `{digits}*{excerpt(tokens, base, at)}` for a product with"
                     f" `{name}`, or `{digits}e0` for a number")
    if name[0] == "_":
        return error("E0105", f"`{written}` is not a number: digits are not grouped", span,
                     help=f"write `{written.replace('_', '')}`")
    return error("E0105", f"`{written}` is not a number: numbers are decimal", span,
                 help=f"write `{int(written, 0)}`")


def power_of_function(tokens: Tokens, name: int, exponent: str, first: int, end: int
                      ) -> GradcliError:
    """Return E0106 for `sin^2(x)` and `sin²(x)`; tokens `first` to `end` are the argument."""
    function = tokens.token(name)
    argument = excerpt(tokens, first, end)
    if not (argument.startswith("(") and argument.endswith(")")):
        argument = f"({argument})"
    if exponent.replace("−", "-") == "-1" and is_function(f"a{function}"):
        advice = (f"write `a{function}{argument}` for the inverse function,"
                  f" `1/{function}{argument}` for the reciprocal")
    else:
        advice = f"write `{function}{argument}^{exponent}`"
    return error("E0106", f"the exponent of `{function}` belongs behind its argument",
                 tokens.span(name, end - 1), help=advice)


def _two_readings(tokens: Tokens, left: int, operator: int, number: int, base: int, at: int
                  ) -> GradcliError:
    """Return E0104 for `1/2x`: `1/(2x)` or `(1/2)*x`; arguments as in `bad_coefficient`."""
    text = tokens.text
    between = text[tokens.ends[operator - 1]:tokens.starts[operator + 1]]  # with the user's spaces
    head, tail = excerpt(tokens, left, operator), excerpt(tokens, base, at)
    first = f"{head}{between}({excerpt(tokens, operator + 1, at)})"
    second = f"{head}{between}{excerpt(tokens, operator + 1, base)}"
    if tokens.kinds[operator] != CIRCUMFLEX:  # which binds tighter than the `*` anyway
        second = f"({second})"
    return two_readings(excerpt(tokens, left, at), tokens.span(left, at - 1),
                        first, f"{second}*{tail}")


def two_readings(written: str, span: Span, first: str, second: str) -> GradcliError:
    """Return E0104 with both readings."""
    return error("E0104", f"`{written}` can be read in two ways", span,
                 help=f"write `{first}` or `{second}`")


def ambiguous_root(tokens: Tokens, root: int, operator: int, at: int) -> GradcliError:
    """Return E0104 for `√x^2`, which is `√(x^2)` or `(√x)^2`."""
    inside, power = excerpt(tokens, root + 1, operator), excerpt(tokens, operator, at)
    sign = tokens.token(root)
    return two_readings(excerpt(tokens, root, at), tokens.span(root, at - 1),
                        f"{sign}({inside}{power})", f"({sign}{inside}){power}")


# ---- calls ----------------------------------------------------------------------------------


def prime_keywords(tokens: Tokens, first: int, at: int) -> GradcliError:
    """Return E0102 for `f'(x=1)`."""
    return error("E0102", f"`{tokens.token(first)}` takes no keyword arguments",
                 tokens.span(first, at - 1), help=f"write `{tokens.token(first)}(x)`")


def no_numpy_constant(tokens: Tokens, first: int, at: int) -> GradcliError:
    """Return E0102 for `np.linalg`, or `np.mean` without brackets."""
    written = excerpt(tokens, first, at)
    return error("E0102", f"`{written}` is not a constant of NumPy", tokens.span(first, at - 1),
                 help="functions stand right behind `np.`, as in `np.mean(x)`"
                 if tokens.kinds[at] == DOT else f"write `{written}(...)` to call a function;"
                 " the constants are `np.pi`, `np.e`, `np.inf` and `np.nan`")


# ---- statements -----------------------------------------------------------------------------


def bad_target(tokens: Tokens, first: int, equal: int, at: int) -> GradcliError:
    """Return E0107 for a left side of `=` that is not a name, no `a, b` and no `f(x, y)`."""
    kinds = tokens.kinds[first:equal]
    left, right = excerpt(tokens, first, equal), excerpt(tokens, equal + 1, at)
    span = tokens.span(first, equal - 1)
    if kinds in ([TRUE], [FALSE], [NONE], [PI]):
        return error("E0107", f"`{left}` is a constant and cannot be bound", span,
                     help="choose another name")
    if kinds == [NUMBER]:
        swap = at == equal + 2 and tokens.kinds[equal + 1] in IDENTIFIERS
        return error("E0107", f"`{left}` is a number, not a name", span,
                     help=f"write `{right} = {left}`" if swap
                     else f"write `{left} == {right}` to compare")
    if set(kinds) <= IDENTIFIERS | {COMMA}:
        return error("E0107", f"a name stands twice in `{left}`",
                     _no_new_name(tokens, first, equal) or span,
                     help="choose different names")
    if kinds[0] in IDENTIFIERS and kinds[1] == LPAR and _closes(kinds, 1) == len(kinds) - 1:
        return error("E0107", f"the parameters in `{left}` are not different names",
                     _no_new_name(tokens, first + 2, equal - 1) or span,
                     help=f"write `{tokens.token(first)}(x) = ...` to define a function,"
                     " `==` to compare")
    if kinds[0] in IDENTIFIERS and kinds[1] in (LSQB, DOT):
        return error("E0107", f"`{left}` cannot be changed in place", span,
                     help="bind a new tensor to a name, or use `x.assign(...)` on a variable")
    if COMMA in kinds:
        return error("E0107", f"`{left}` is not a list of names", span,
                     help="write names on the left, as in `a, b = f(x)`")
    minus = right if at == equal + 2 else f"({right})"
    return error("E0107", f"`{left}` is not a name", span,
                 help=f"`=` binds a name; an equation is written `{left} - {minus}`, a comparison"
                 f" `{left} == {right}`")


def _no_new_name(tokens: Tokens, first: int, end: int) -> Span | None:
    """Return the first token in a list of names that is neither a new name nor a comma."""
    known: set[str] = set()
    for at in range(first, end):
        named = not (at - first) % 2
        if tokens.kinds[at] != COMMA if not named else (
                tokens.kinds[at] not in IDENTIFIERS or tokens.token(at) in known):
            return tokens.span(at, at)
        known.add(tokens.token(at))
    return None


def _closes(kinds: list[int], opening: int) -> int:
    """Return the position of the bracket that closes the one at `opening`; -1 if there is none."""
    depth = 0
    for place in range(opening, len(kinds)):
        depth += (kinds[place] in OPENING) - (kinds[place] in CLOSING)
        if not depth:
            return place
    return -1


def loose_tuple(tokens: Tokens, first: int, at: int) -> GradcliError:
    """Return E0107 for `a, b` without brackets; E0105 if it is a decimal comma."""
    if tokens.kinds[statement_start(tokens, first):at].count(COMMA) == 1:
        decimal = decimal_comma(tokens, first, at)
        if decimal:
            return decimal
    written = excerpt(tokens, first, at)
    return error("E0107", "values with commas between them need square brackets",
                 tokens.span(first, at - 1), help=f"write `[{written}]`, or one statement for each")


def decimal_comma(tokens: Tokens, first: int, end: int) -> GradcliError | None:
    """Return E0105 for the first `1,5` without a space among the tokens; None without one."""
    kinds, starts, ends = tokens.kinds, tokens.starts, tokens.ends
    for comma in range(first + 1, end - 1):
        if (kinds[comma] == COMMA and kinds[comma - 1] == NUMBER == kinds[comma + 1]
                and ends[comma - 1] == starts[comma] and ends[comma] == starts[comma + 1]):
            written = excerpt(tokens, comma - 1, comma + 2)
            return error("E0105", f"`{written}`: the decimal separator is a point",
                         tokens.span(comma - 1, comma + 1), help=_points_for_commas(written))
    return None


def _points_for_commas(written: str) -> str:
    """Return advice for what `1,5`, `1.000,5`, `1,000.5` and `1,000` may have meant."""
    left, _, right = written.partition(",")
    whole, point, end = left.partition(".")
    group = right.partition(".")[0]
    if len(group) == 3 and group.isdecimal() and left.isdecimal() and len(left) < 4 and left != "0":
        other = "" if "." in right else f", or `{left}.{right}` with a decimal point"
        return f"write `{left}{right}`{other}"
    if "." in right or (point and not (0 < len(whole) < 4 and len(end) == 3)):
        return f"write `[{written}]` for a list"
    return f"write `{whole}{end}.{right}`, or `[{written}]` for a list"


def augmented(tokens: Tokens, first: int, operator: int, value: int, at: int) -> GradcliError:
    """Return E0111 for `x += 1`, with both things it could mean."""
    name, sign = excerpt(tokens, first, operator), tokens.token(operator)
    amount = excerpt(tokens, value, at)
    bracketed = amount if at == value + 1 or sign == "+=" else f"({amount})"
    method = {"+=": "assign_add", "-=": "assign_sub"}.get(sign)
    changed = (f"{name}.{method}({amount})" if method
               else f"{name}.assign({name} {sign[:-1]} {bracketed})")
    return error("E0111", f"`{sign}` has two meanings here", tokens.span(operator, operator),
                 help=f"`{changed}` changes the variable,"
                 f" `{name} = {name} {sign[:-1]} {bracketed}` binds a new tensor")


def missing_value(tokens: Tokens, first: int, at: int) -> GradcliError:
    """Return E0107 for `var x`, or `var x, y = 1`."""
    keyword, name = tokens.token(first), tokens.token(first + 1)
    if COMMA in tokens.kinds[first:at]:
        return error("E0107", f"`{keyword} {name}` has no value", tokens.span(first, first + 1),
                     help=f"declare one name at a time: `{keyword} {name} = 1.0`")
    written = excerpt(tokens, first, at)
    return error("E0107", f"`{written}` has no value", tokens.span(first, at - 1),
                 help=f"write `{written} = 1.0`, or `input {name}` for a value that is given later")


def bad_size(tokens: Tokens, number: int) -> GradcliError:
    """Return E0102 for `var w: float64[2.5]`."""
    return error("E0102", f"`{tokens.token(number)}` is not a size", tokens.span(number, number),
                 help="write a whole number, or `:` for any size")


# ---- blocks ---------------------------------------------------------------------------------


def repeated_name(tokens: Tokens, places: list[int], what: str) -> GradcliError:
    """Return E0107 for `def f(x, x):` and `for a, a in u:`, E0102 for `f(a=1, a=2)`.

    places: the tokens of the names. what: their kind; "" for keyword arguments.
    """
    names = [tokens.token(place) for place in places]
    second = next(i for i, name in enumerate(names) if name in names[:i])
    name, span = names[second], tokens.span(places[second], places[second])
    if not what:
        return error("E0102", f"`{name}` is given twice", span, help=f"leave one `{name}=...` out")
    return error("E0107", f"`{name}` stands twice among the {what}", span,
                 help="choose different names")


def misplaced(tokens: Tokens, word: int, in_function: bool) -> GradcliError:
    """Return E0113 for `break` or `continue` outside of a loop, or `return` outside of a `def`.

    in_function: the word stands in a `def`.
    """
    written = tokens.token(word)
    span = tokens.span(word, word)
    if written == "return":
        return error("E0113", "`return` is outside of a `def`", span,
                     help="write the expression alone: its value is a result")
    return error("E0113", f"`{written}` is outside of a loop", span,
                 help=f"write `return` to leave the function, or put the `{written}` into a `for`"
                 " or `while` block" if in_function
                 else f"put it into the block of a `for` or `while`, or leave the `{written}` out")


def bad_decorator(tokens: Tokens, first: int, end: int) -> GradcliError:
    """Return E0114 for a decorator other than `@custom_gradient` and `@gradient_of(op)`."""
    written = excerpt(tokens, first, end)
    names = [tokens.token(place) for place in range(first + 1, end)]
    if "custom_gradient" in names:
        advice = "write `@custom_gradient`"
    elif "gradient_of" in names or "RegisterGradient" in names:
        advice = "write `@gradient_of(op)` with the name of the operation, such as `floor`"
    else:
        advice = "the decorators are `@custom_gradient` and `@gradient_of(op)`"
    return error("E0114", f"`{written}` is not a decorator",
                 tokens.span(first, max(first, end - 1)),
                 help=advice)


def no_rule(tokens: Tokens, function: Function, head: Span, inner: list[Function]) -> GradcliError:
    """Return E0114 for `@custom_gradient` before a function without an inner `grad`.

    head: the span of `def f(x)`. inner: the functions that are defined in it.
    """
    found = error("E0114", f"`{function.name}` has no gradient rule: the `def grad(upstream):`"
                  " inside is missing", head, help="define `grad` in its block before the `return`")
    if inner:
        found = error("E0114", f"the gradient rule in `{function.name}` is named"
                      f" `{inner[-1].name}`", (inner[-1].start, inner[-1].end),
                      help=f"name it `grad`: `def grad({', '.join(inner[-1].parameters)}):`")
        place = tokens.text.find(inner[-1].name, inner[-1].start)
        found.diagnostics[0].span = place, place + len(inner[-1].name)
    if function.decorated:
        found.diagnostics[0].related = ((function.decorated, "asks for a rule"),)
    return found


def bad_accumulator(tokens: Tokens, first: int, at: int) -> GradcliError:
    """Return E0107 for `forward acc(x):`."""
    return error("E0107", "`forward` takes two arguments: a primal and its tangent",
                 tokens.span(first, at - 1),
                 help=f"write `forward {tokens.token(first + 1)}(x, v):`")
