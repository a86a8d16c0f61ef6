"""Functions with an optional second argument, and roots of higher degree.

    log(x, b)      log(x)/log(b)
    root(x, n)     x^(1/n), and so are root(n)(x), sqrt(x, n) and ∜x; cbrt(x) for 3
"""

from __future__ import annotations

from gradcli.lang import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import Span
    from gradcli.lang.code import Code

NAMES = frozenset(("log", "log10", "sqrt", "root", "degree_root", "∜"))


def emit(code: Code, name: str, count: int, span: Span) -> bool:
    """Emit what a function of NAMES does with its `count` operands, whose code is there; false if
    it is an ordinary call.
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
    """Where the code of the operand begins that ends before `end`."""
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
