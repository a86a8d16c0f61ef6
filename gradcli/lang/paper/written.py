"""Code as a formula that gradcli and students read alike: every product signed, few brackets."""

from __future__ import annotations

from gradcli.lang.syntax import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Code

# Ranks, loosest first: `or`, `and`, a comparison, a sum, a product, a sign, a power, and what needs
# no brackets anywhere.
OR, AND, TEST, SUM, PRODUCT, SIGN, POWER, ATOM = range(-2, 6)

# Operation -> sign, rank, the least rank of the left and of the right operand. The operand of a
# sign has the rank of a power at least: -x^2. A sign itself gets brackets wherever it is not first.
BINARY = {
    "add": (" + ", SUM, SUM, PRODUCT),
    "subtract": (" - ", SUM, SUM, PRODUCT),
    "multiply": ("*", PRODUCT, PRODUCT, POWER),
    "divide": ("/", PRODUCT, PRODUCT, POWER),
    "power": ("^", POWER, ATOM, POWER),
}

COMPARISONS = {
    "less": (" < ", TEST, SUM, SUM), "less_equal": (" <= ", TEST, SUM, SUM),
    "greater": (" > ", TEST, SUM, SUM), "greater_equal": (" >= ", TEST, SUM, SUM),
    "equal": (" == ", TEST, SUM, SUM), "not_equal": (" != ", TEST, SUM, SUM),
}
INFIX = {**BINARY, **COMPARISONS, "logical_and": (" and ", AND, AND, TEST),
         "logical_or": (" or ", OR, OR, AND)}

# Spellings of operations whose own names are ambiguous: `log` in base ten, `asin` as a*sin.
SPELLING = {
    "log": "ln", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "acot": "arccot",
    "asec": "arcsec", "acsc": "arccsc", "asinh": "arsinh", "acosh": "arcosh", "atanh": "artanh",
    "acoth": "arcoth", "asech": "arsech", "acsch": "arcsch",
}


def written(code: Code) -> str:
    """Return the formula of an answer's code; reading it gives the same code, but for cases."""
    texts: list[str] = []
    ranks: list[int] = []
    for opcode, argument, _, _ in code:
        if opcode == c.LOAD:
            texts.append(argument)
            ranks.append(ATOM)
        elif opcode == c.PUSH:
            texts.append(number(argument))
            ranks.append(ATOM)
        elif opcode == c.BINARY or (opcode == c.CALL and argument[0] in INFIX):
            sign, rank, left, right = INFIX[argument if opcode == c.BINARY else argument[0]]
            second, second_rank = texts.pop(), ranks.pop()
            first = texts[-1]
            if ranks[-1] < left:
                first = f"({first})"
            if second_rank < right or second[0] == "-":
                second = f"({second})"
            # The value without a case is nan, whatever it varies with (`parts`).
            texts[-1] = f"{first}{sign}{second}" if first != "nan" else first
            ranks[-1] = rank
        elif opcode == c.UNARY:
            texts[-1] = f"-{texts[-1]}" if ranks[-1] >= POWER else f"-({texts[-1]})"
            ranks[-1] = SIGN
        else:
            count = argument if opcode == c.LIST else argument[1]
            inside = ", ".join(texts[-count:])
            del texts[1 - count:len(texts) if count > 1 else 0]
            del ranks[1 - count:len(ranks) if count > 1 else 0]
            name = "" if opcode == c.LIST else SPELLING.get(argument[0], argument[0])
            texts[-1] = f"{name}({inside})" if name else f"[{inside}]"
            ranks[-1] = ATOM
    return texts[-1]


def number(value: float) -> str:
    """Return the shortest text of a number; its exponent is written E, since e is a constant."""
    if value != value:
        return "nan"
    if value == int(value) and value < 1e15:
        return str(int(value))
    return repr(value).upper()


# --------------------------------------------------------------------------------------------------
# Functions with an optional second argument, and roots of higher degree.
#
# log(x, b)      log(x)/log(b)
# root(x, n)     x^(1/n), and so are root(n)(x), sqrt(x, n) and ∜x; cbrt(x) for 3

NAMES = frozenset(("log", "log10", "sqrt", "root", "degree_root", "∜"))


def emit(code: Code, name: str, count: int, span: Span) -> bool:
    """Emit the code of a function of NAMES with `count` operands, whose code is there; return False
    if it is an ordinary call.
    """
    if name == "∜" and count == 1:
        code += [(c.PUSH, 1.0, *span), (c.PUSH, 4.0, *span), (c.BINARY, "divide", *span),
                 (c.BINARY, "power", *span)]
        return True
    if name == "root" and count == 1:
        code.append((c.CALL, ("sqrt", 1, ()), *span))
        return True
    if count != 2:
        return False
    middle = operand_begin(code, len(code))
    begin = operand_begin(code, middle)
    first, second = code[begin:middle], code[middle:]
    del code[begin:]
    if name in ("log", "log10"):
        code += [*first, (c.CALL, ("log", 1, ()), first[0][2], first[-1][3]), *second,
                 (c.CALL, ("log", 1, ()), second[0][2], second[-1][3]),
                 (c.BINARY, "divide", *span)]
        return True
    if name == "degree_root" or (len(first) == 1 and first[0][0] == c.PUSH and (
            len(second) > 1 or second[0][0] != c.PUSH)):
        first, second = second, first
    if [ins[1] for ins in second] == [3.0]:
        code += [*first, (c.CALL, ("cbrt", 1, ()), *span)]
    elif [ins[1] for ins in second] == [2.0]:
        code += [*first, (c.CALL, ("sqrt", 1, ()), *span)]
    else:
        code += [*first, (c.PUSH, 1.0, *span), *second, (c.BINARY, "divide", *span),
                 (c.BINARY, "power", *span)]
    return True


def operand_begin(code: Code, end: int) -> int:
    """Return the index at which the operand begins that ends before `end`."""
    wanted = 1
    while wanted:
        end -= 1
        opcode, argument, _, _ = code[end]
        wanted -= 1
        if opcode == c.BINARY:
            wanted += 2
        elif opcode == c.UNARY:
            wanted += 1
        elif opcode == c.CALL:
            wanted += argument[1]
        elif opcode == c.LIST:
            wanted += argument
    return end
