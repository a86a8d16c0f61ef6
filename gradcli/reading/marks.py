"""What an answer leaves out is put in: signs of products, brackets behind functions.

One pass from left to right over the raw tokens. The rules:

* Two operands side by side are a product of the rank of `*`: `1/2x` is (1/2)*x.
* A function without brackets takes what follows up to `+ - * / ,`, a closing bracket or the next
  function: `sin 2x cos x` is sin(2*x)*cos(x). A sign right behind it belongs to it: `sin -x`.
  `ln|x|y` ends behind the bar, √ behind one operand, and `sin x (1 + y)` before the bracket: only
  a number multiplies one, as in `sin 2(x + y)`. In a vector, i, j and k are no part of it.
* `sin^2 x` is (sin(x))^2; exactly -1 there means the inverse: `sin^-1 x`, `tan^(-1) x`.
* A bar closes if one is open and an operand stands before it.
* Brackets of any shape group; with a comma or semicolon inside they are a list, where the answer
  may be one.
"""

from __future__ import annotations

from gradcli.reading import tokens as t
from gradcli.reading.functions import INVERSE
from gradcli.reading.names import Names
from gradcli.reading.tokens import Tokens

MAX_DEPTH = 100
UNITS = ("i", "j", "k")

# What is open. Those up to SPENT were put in: the argument of a function; of a root; of a function
# whose argument begins with a bar, before and behind the closing one.
IMPLICIT, TIGHT, BARRED, SPENT, GROUP, CALL, EXPONENT, BARS = range(8)

CLOSER = {t.LPAR: t.RPAR, t.LSQB: t.RSQB, t.LBRACE: t.RBRACE, t.LESS: t.GREATER}
CLOSERS = frozenset((t.BAR_CLOSE, *CLOSER.values()))


def arrange(raw: Tokens, names: Names) -> Tokens:
    """The tokens that `answer.lark` reads.

    Raises E0713 (two numbers), E0715 (a function without its argument), E0716 (brackets), E0717
    (bars) and E0718 (commas).
    """
    out = Tokens(raw.text)
    out.raw = raw
    kinds, starts, ends, words = out.kinds, out.starts, out.ends, out.words
    products = out.products
    raw_kinds, raw_starts, raw_ends, raw_words = raw.kinds, raw.starts, raw.ends, raw.words
    roles: list[int] = []      # what is open, and for each:
    opened: list[int] = []     # where its bracket is in `kinds`
    closers: list[int] = []    # the token that closes it
    separators: list[int] = []  # 0, COMMA or SEMICOLON: what stood in it
    top_separator = 0
    operand = False            # whether an operand has just ended
    head = -1                  # the raw token of a function that waits for its argument
    at = 0
    while True:
        kind = raw_kinds[at]
        start = raw_starts[at]
        end = raw_ends[at]

        if kind == t.BAR:
            kind = t.BAR_CLOSE if operand and _bar_is_open(roles) else t.BAR_OPEN
        # What ends here: arguments without brackets.
        if roles and roles[-1] <= SPENT and operand and kind in ENDING:
            _close(out, roles, opened, closers, separators)
        if kind in OPERANDS and (kind != t.LESS or (names.vector and not operand)):
            # An operand begins.
            if operand:
                base = kind == t.NUMBER and raw_kinds[at - 1] == t.NUMBER  # 3 2^x, x^2 3
                if base and t.CIRCUMFLEX not in (raw_kinds[at + 1], raw_kinds[at - 2]):
                    from gradcli.reading.refusals import two_numbers

                    raise two_numbers(raw, at)
                if kind in FUNCTIONS or base or (roles and roles[-1] <= SPENT and _ends_argument(
                        raw, at, names, words[opened[-1]:])):
                    _close(out, roles, opened, closers, separators)
                else:
                    while roles and roles[-1] == SPENT:
                        _close_one(out, roles, opened, closers, separators)
                products.append(len(kinds))
                kinds.append(t.STAR)
                starts.append(start)
                ends.append(start)
                words.append("")
                operand = False
            elif head >= 0 and kind not in CLOSER:
                roles.append(TIGHT if raw_kinds[head] == t.ROOT else
                             BARRED if kind == t.BAR_OPEN else IMPLICIT)
                _open(out, opened, closers, separators, start)
            called = head >= 0
            head = -1
            word = raw_words[at]
            if kind <= t.NAME:
                kinds.append(kind)
                starts.append(start)
                ends.append(end)
                words.append(word)
                operand = True
                while roles and roles[-1] == TIGHT:
                    _close_one(out, roles, opened, closers, separators)
            elif kind in CLOSER or kind == t.BAR_OPEN:
                bars = kind == t.BAR_OPEN
                roles.append(BARS if bars else CALL if called else GROUP)
                opened.append(len(kinds))
                closers.append(t.BAR_CLOSE if bars else CLOSER[kind])
                separators.append(0)
                kinds.append(t.BAR_OPEN if bars else t.LPAR)
                starts.append(start)
                ends.append(end)
                words.append("")
            else:
                head = at
                if kind == t.BASED or (kind == t.FUNCTION and raw_kinds[at + 1] == t.CIRCUMFLEX):
                    kinds.append(t.BASED if kind == t.BASED else t.POWERED)
                    starts.append(start)
                    ends.append(end)
                    words.append(word)
                    behind = _exponent(out, raw, at)
                    if behind < 0:  # a bracket, which `behind` is the place of
                        behind = -behind
                        head = -1
                        roles.append(EXPONENT)
                        opened.append(len(kinds))
                        closers.append(CLOSER[raw_kinds[behind]])
                        separators.append(at)
                        kinds.append(t.LPAR)
                        starts.append(raw_starts[behind])
                        ends.append(raw_ends[behind])
                        words.append("")
                    at = behind
                else:
                    kinds.append(t.FUNCTION)
                    starts.append(start)
                    ends.append(end)
                    words.append(word)
            if len(roles) > MAX_DEPTH:
                from gradcli.reading.refusals import too_deep

                raise too_deep(raw, at, MAX_DEPTH)
            at += 1
            continue

        if head >= 0:
            if kind not in SIGNS or not _is_sign(raw, at, head):
                from gradcli.reading.refusals import no_argument

                raise no_argument(raw, head)
            roles.append(TIGHT if raw_kinds[head] == t.ROOT else IMPLICIT)
            _open(out, opened, closers, separators, start)
            head = -1
        if kind <= t.CIRCUMFLEX and kind != t.END:
            operand = False
        elif kind in CLOSERS:
            if not roles or closers[-1] != kind or not operand:
                from gradcli.reading.refusals import wrong_bracket

                raise wrong_bracket(raw, at, out, opened, closers)
            if (roles[-1] == CALL and words[opened[-1] - 1] == "root"
                    and raw_kinds[at + 1] == t.LPAR and raw_starts[at + 1] == end
                    and not separators[-1]):  # root(3)(x): two arguments
                words[opened[-1] - 1] = "degree_root"
                separators[-1] = t.COMMA
                kinds.append(t.COMMA)
                starts.append(start)
                ends.append(end + 1)
                words.append("")
                operand = False
                at += 2
                continue
            role = roles.pop()
            place = opened.pop()
            closers.pop()
            separator = separators.pop()
            kind = t.RPAR
            if role == BARS:
                kind = t.BAR_CLOSE
            elif role == EXPONENT:
                head = separator
                operand = False
            elif separator and role == GROUP:
                kinds[place] = t.LSQB
                kind = t.RSQB
            kinds.append(kind)
            starts.append(start)
            ends.append(end)
            words.append("")
            if role == BARS and roles and roles[-1] == BARRED:
                roles[-1] = SPENT
            if operand:
                while roles and roles[-1] == TIGHT:
                    _close_one(out, roles, opened, closers, separators)
            at += 1
            continue
        elif kind == t.COMMA or kind == t.SEMICOLON:
            if roles and roles[-1] in (GROUP, CALL):
                if not names.vector and (roles[-1] == GROUP or kind == t.SEMICOLON):
                    from gradcli.reading.refusals import wrong_comma

                    raise wrong_comma(raw, at, names)
                separators[-1] = kind
            elif names.vector and not roles:
                top_separator = kind
            else:
                from gradcli.reading.refusals import wrong_comma

                raise wrong_comma(raw, at, names)
            operand = False
        elif kind == t.END:
            break
        else:  # < or > that is no bracket
            from gradcli.reading.refusals import comparison

            raise comparison(raw, at, names)
        kinds.append(kind)
        starts.append(start)
        ends.append(end)
        words.append("")
        at += 1

    if roles:
        from gradcli.reading.refusals import unclosed

        raise unclosed(out, opened[-1])
    if top_separator:
        kinds.insert(0, t.LSQB)
        starts.insert(0, starts[0])
        ends.insert(0, starts[0])
        words.insert(0, "")
        out.products = [place + 1 for place in products]
        out.closing = [(first + 1, last + 1) for first, last in out.closing]
        kinds.append(t.RSQB)
        starts.append(ends[-1])
        ends.append(ends[-1])
        words.append("")
    kinds.append(t.END)
    starts.append(start)
    ends.append(end)
    words.append("")
    return out


FUNCTIONS = frozenset((t.FUNCTION, t.BASED))
SIGNS = (t.PLUS, t.MINUS)
OPERANDS = frozenset((t.NUMBER, t.NAME, t.FUNCTION, t.BASED, t.ROOT, t.BAR_OPEN, *CLOSER))
ENDING = CLOSERS | {t.END, t.PLUS, t.MINUS, t.STAR, t.SLASH, t.COMMA, t.SEMICOLON}


def _bar_is_open(roles: list[int]) -> bool:
    """Whether the innermost bracket that was typed is a bar."""
    for role in reversed(roles):
        if role > SPENT:
            return role == BARS
    return False


def _ends_argument(raw: Tokens, at: int, names: Names, argument: list[str]) -> bool:
    """Whether an operand behind another is no part of the argument that this one is in.

    It is none if it begins with a bracket, a space and a number, a space and e^, or a space and a
    letter that the argument has already: `cos x (1 + y)`, `cos x^2 2x`, `cos x e^x`, `ln x x^3`.
    """
    kind, word = raw.kinds[at], raw.words[at]
    if raw.kinds[at - 1] == t.NUMBER and raw.kinds[at - 2] != t.CIRCUMFLEX:
        return False
    if kind in CLOSER or kind == t.BAR:
        return True
    if kind == t.NAME and names.vector and word in UNITS and word not in names.variables:
        return True
    apart = raw.starts[at] > raw.ends[at - 1]
    return apart and (kind == t.NUMBER or (kind == t.NAME and (
        word in argument or (word == "e" and raw.kinds[at + 1] == t.CIRCUMFLEX))))


def _open(out: Tokens, opened: list[int], closers: list[int], separators: list[int],
          start: int) -> None:
    """Put in an opening bracket."""
    opened.append(len(out.kinds))
    closers.append(0)
    separators.append(0)
    out.kinds.append(t.LPAR)
    out.starts.append(start)
    out.ends.append(start)
    out.words.append("")


def _close(out: Tokens, roles: list[int], opened: list[int], closers: list[int],
           separators: list[int]) -> None:
    """Close all brackets that were put in since the last one that was typed."""
    while roles and roles[-1] <= SPENT:
        _close_one(out, roles, opened, closers, separators)


def _close_one(out: Tokens, roles: list[int], opened: list[int], closers: list[int],
               separators: list[int]) -> None:
    roles.pop()
    closers.pop()
    separators.pop()
    out.closing.append((opened.pop(), len(out.kinds)))
    end = out.ends[-1]
    out.kinds.append(t.RPAR)
    out.starts.append(end)
    out.ends.append(end)
    out.words.append("")


def _is_sign(raw: Tokens, at: int, head: int) -> bool:
    """Whether a sign behind a function begins its argument: `sin -x`, but not `sin - x`."""
    if raw.kinds[at - 1] != raw.kinds[head] or at - 1 != head:
        return False
    return raw.ends[at] == raw.starts[at + 1] and raw.kinds[at + 1] != t.END


def _exponent(out: Tokens, raw: Tokens, at: int) -> int:
    """Put out what stands between a function and its argument: an exponent, the base of a log.

    The number of its last raw token; for a bracket that of the bracket, negative. `sin^-1` changes
    the function instead.
    """
    kinds, words = raw.kinds, raw.words
    first = at + 1 if kinds[at] == t.BASED else at + 2
    bracket = kinds[first] in CLOSER and kinds[first] != t.LESS
    inside = first + 1 if bracket else first
    if (kinds[inside] == t.MINUS and kinds[inside + 1] == t.NUMBER and words[inside + 1] == "1"
            and (not bracket or kinds[inside + 2] == CLOSER[kinds[first]])
            and kinds[at] == t.FUNCTION):
        if words[at] not in INVERSE:
            from gradcli.reading.refusals import no_inverse

            raise no_inverse(raw, at, inside + 1 + bracket)
        out.kinds[-1] = t.FUNCTION
        out.words[-1] = INVERSE[words[at]]
        return inside + 1 + bracket
    if bracket:
        return -first
    if kinds[first] == t.MINUS and kinds[first + 1] in (t.NUMBER, t.NAME):
        out.kinds.append(t.MINUS)
        out.starts.append(raw.starts[first])
        out.ends.append(raw.ends[first])
        out.words.append("")
        first += 1
    elif kinds[first] not in (t.NUMBER, t.NAME):
        from gradcli.reading.refusals import no_argument

        raise no_argument(raw, at)
    out.kinds.append(kinds[first])
    out.starts.append(raw.starts[first])
    out.ends.append(raw.ends[first])
    out.words.append(words[first])
    return first
