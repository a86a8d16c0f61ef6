"""Code as a formula that gradcli and students read alike: every product signed, few brackets."""

from __future__ import annotations

from gradcli.lang import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.lang.code import Code

# Ranks, loosest first: a sum, a product, a sign, a power, and what needs no brackets anywhere.
SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 6)

# Operation -> sign, rank, the least rank of the left and of the right operand. The operand of a
# sign has the rank of a power at least: -x^2. A sign itself gets brackets wherever it is not first.
BINARY = {
    "add": (" + ", SUM, SUM, PRODUCT),
    "subtract": (" - ", SUM, SUM, PRODUCT),
    "multiply": ("*", PRODUCT, PRODUCT, POWER),
    "divide": ("/", PRODUCT, PRODUCT, POWER),
    "power": ("^", POWER, ATOM, POWER),
}

# Where an operation's own name could be read in another way: `log` in base ten, `asin` as a*sin.
SPELLING = {
    "log": "ln", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "acot": "arccot",
    "asec": "arcsec", "acsc": "arccsc", "asinh": "arsinh", "acosh": "arcosh", "atanh": "artanh",
    "acoth": "arcoth", "asech": "arsech", "acsch": "arcsch",
}


def written(code: Code) -> str:
    """The formula of the code of an answer; reading it gives the same code."""
    texts: list[str] = []
    ranks: list[int] = []
    for opcode, argument, _, _ in code:
        if opcode == c.LOAD:
            texts.append(argument)
            ranks.append(ATOM)
        elif opcode == c.PUSH:
            texts.append(number(argument))
            ranks.append(ATOM)
        elif opcode == c.BINARY:
            sign, rank, left, right = BINARY[argument]
            second, second_rank = texts.pop(), ranks.pop()
            first = texts[-1]
            if ranks[-1] < left:
                first = f"({first})"
            if second_rank < right or second[0] == "-":
                second = f"({second})"
            texts[-1] = f"{first}{sign}{second}"
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
    """The shortest text of a number, without a fraction where it has none; E, because e is one."""
    if value == int(value) and value < 1e15:
        return str(int(value))
    return repr(value).upper()
