"""Errors of an answer that cannot be read, for a student: one span, one reason, one suggestion.

    E0710  nothing to read, or too much of it        E0716  a bracket
    E0711  a word                                    E0717  a bar
    E0712  a function that is not known              E0718  a comma or a list
    E0713  a number                                  E0719  an equation or an apostrophe
    E0714  a character                               E0720  LaTeX
    E0715  a function without its argument           E0721  a sign, or what it needs beside it

Texts of students are shown as far as they can be printed; of any other character only the number.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.tokens import CALLED, CLOSER, OTHER_SYSTEMS, SCHOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcli.base.errors import GradcliError, Span
    from gradcli.lang.paper.tokens import AnswerTokens
    from gradcli.lang.syntax.export import Row

OPERATORS = {t.PLUS: "+", t.MINUS: "-", t.STAR: "*", t.SLASH: "/", t.CIRCUMFLEX: "^"}

NO_FORMULA = frozenset((
    "dne", "idk", "inf", "infinity", "nan", "none", "null", "undefined", "undef", "unknown"))

# Characters that are not part of a formula: the reason and the advice.
CHARACTERS = {
    "!": ("`!` is a factorial, which has no derivative", "write gamma(n + 1)"),
    "%": ("`%` is not part of a formula", "write a decimal number: 0.05 for 5 %"),
    "±": ("`±` stands for two values", "give one of them"),
    "∓": ("`∓` stands for two values", "give one of them"),
    "∞": ("`∞` is not a number", "give a formula"),
    "°": ("degrees are not understood", "write the angle in radians"),
    "$": ("a `$` stands alone", "put the formula between two of them, or leave it out"),
    "…": ("an answer with gaps cannot be checked", "write all of it"),
    "'": ("an apostrophe belongs to the left side of an answer", "write out the derivative"),
    '"': ("quotation marks are not part of a formula", "leave them out"),
    "\\": ("a backslash that begins no command", "leave it out"),
    "#": ("`#` is not part of a formula", "leave it out"),
    **dict.fromkeys("≤≥≠≈", ("a comparison is not a formula", "give a formula")),
    "∂": ("a partial derivative is not written out", "write out the derivative"),
    "∇": ("a gradient is not written out", "write out its components"),
    "&": ("`&` is not part of a formula", "leave it out"),
    "=": ("an equals sign stands in the middle", "give one formula"),
    "?": ("`?` is not part of a formula", "leave it out"),
    ":": ("`:` is not part of a formula", "write / for a quotient"),
    "@": ("`@` is not part of a formula", "leave it out"),
    "_": ("an index needs a name before it", "write a name such as x_1"),
    "~": ("`~` is not part of a formula", "write - for a sign"),
    "`": ("a backquote is not part of a formula", "leave it out"),
}


def bad_character(text: str, at: int) -> GradcliError:
    """Return E0714 for a character that means nothing; E0719 for an apostrophe or equals sign."""
    character = text[at]
    span = (at, at + 1)
    if character == ".":  # two or more of them
        character = "…"
        span = (at, at + 2)
    if character == "'" and text[:at].rstrip()[-1:] in ("", *"([{,=+-*/"):
        character = '"'
    if character in CHARACTERS:
        message, advice = CHARACTERS[character]
        return error("E0719" if character in "='" else "E0714", message, span, help=advice)
    import unicodedata

    name = unicodedata.name(character, "")
    shown = f"`{character}` is " if character.isprintable() else ""
    what, advice = "no part of a formula", "leave it out"
    if name.startswith("LATIN"):
        what, advice = "no letter of a formula", "write one from a to z"
    elif unicodedata.category(character)[0] == "L":
        what, advice = ("a letter of another alphabet",
                        "type the letter again on a Latin keyboard")
    return error("E0714", f"{shown}U+{ord(character):04X}{' ' if name else ''}{name}, {what}", span,
                 help=advice)


def lone_dot(text: str, at: int) -> GradcliError:
    """Return E0713 for a dot without digits, E0714 for several."""
    if text[at + 1] == ".":
        return bad_character(text, at)
    return error("E0713", "a dot is not a number", (at, at + 1), help="write * for a product")


def too_large(span: Span) -> GradcliError:
    """Return E0713 for a number that no double holds."""
    return error("E0713", "this number is too large", span, help="write a number below 1e308")


def refuse_run(written: Collection[str], run: str, called: bool, at: int) -> None:
    """Raise E0711 or E0712 for a run of letters that is no product.

    written: the names that are declared, in each spelling. called: a bracket follows.
    """
    span = (at, at + len(run))
    if run.lower() in NO_FORMULA:
        raise error("E0711", f"`{run}` is not a formula", span, help="give a formula such as 2x")
    if run[-2:-1] == "d" and "d" not in written and run[-1] in written:
        raise error("E0711", f"`{run[-2:]}` is not part of a derivative's formula",
                    (span[1] - 2, span[1]), help="leave it out")
    if called and len(run) > 2 and not all(letter in written for letter in run):
        _refuse_word(written, run, at)
    if called and run[-1] in "fghyFG" and run[-1] not in written:
        if not any(run.endswith(word) for word in SCHOOL):
            strange = [letter for letter in run[:-1] if letter not in written]
            begin = 0 if len(strange) > 2 else len(run) - 1     # diag(x), but a x f(x)
            raise error("E0712", f"`{run[begin:]}` is not a function that is known here",
                        (at + begin, span[1]), help="write its formula in place of it")


def _refuse_word(written: Collection[str], run: str, at: int) -> None:
    """Raise E0712 for a function of other systems, and for one that is nearly known."""
    word = run.lower()
    for begin in range(len(word) - 2):
        if word[begin:] in OTHER_SYSTEMS and not all(
                letter in written for letter in run[begin:]):
            raise error("E0712", f"`{run[begin:]}` is not a function that is known here",
                        (at + begin, at + len(run)),
                        help=f"write {OTHER_SYSTEMS[word[begin:]]}")
    doubled = word[:-1] if word[-1] == word[-2] and run[-1] not in written else ""
    if doubled not in SCHOOL and (word in SCHOOL or word in CALLED or any(
            school in word for school in SCHOOL)):
        return
    near = doubled if doubled in SCHOOL else nearest(word) if len(word) > 3 else ""
    if near:
        raise error("E0712", f"`{run}` is not a function that is known here",
                    (at, at + len(run)), help=f"did you mean `{near}`?")


def nearest(word: str) -> str:
    """Return the function whose name is nearly this one; "" if there is none."""
    import difflib

    found = difflib.get_close_matches(word, [*SCHOOL, *CALLED], n=1, cutoff=0.8)
    return found[0] if found else ""


def apostrophe(at: int, stop: int) -> GradcliError:
    """Return E0719 for y' in a formula."""
    return error("E0719", "an apostrophe belongs to the left side of an answer", (stop, stop + 1),
                 help="write out the derivative")


def two_numbers(raw: AnswerTokens, at: int) -> GradcliError:
    """Return E0713 for `2 3`, `1 000`, `2 1/2`."""
    if raw.kinds[at + 1:at + 3] == [t.SLASH, t.NUMBER]:
        return error("E0713", "a mixed number, or a product",
                     (raw.starts[at - 1], raw.ends[at + 2]),
                     help="put + or * between the number and the fraction")
    return error("E0713", "two numbers stand side by side", (raw.starts[at - 1], raw.ends[at]),
                 help="put + or * between them, or write them as one number")


def no_argument(raw: AnswerTokens, head: int) -> GradcliError:
    """Return E0715 for `sin`, `ln*x`, `sin^2`."""
    span = (raw.starts[head], raw.ends[head])
    if raw.kinds[head] == t.ROOT:
        return error("E0715", "a root needs what it is taken of", span, help="write sqrt(x)")
    if raw.kinds[head] == t.SUM:
        return error("E0715", "nothing follows the sign of a sum or product", span,
                     help="write its terms there, with brackets around a sum of them")
    word = raw.text[span[0]:span[1]].rstrip("_")
    if word.lower() == "exp":
        return error("E0715", "`exp` needs an argument", span, help="write exp(x) or e^x")
    return error("E0715", f"`{word}` needs an argument", span, help=f"write {word}(x)")


def no_inverse(raw: AnswerTokens, at: int, last: int) -> GradcliError:
    """Return E0712 for `ln^-1`."""
    word = raw.text[raw.starts[at]:raw.ends[at]]
    return error("E0712", f"`{word}^-1` has two readings", (raw.starts[at], raw.ends[last]),
                 help=f"write 1/{word}(x), or the inverse function by its own name")


def too_deep(raw: AnswerTokens, at: int, limit: int) -> GradcliError:
    """Return E0716 for more than `limit` brackets inside each other."""
    return error("E0716", f"more than {limit} nested brackets",
                 (raw.starts[at], raw.ends[at]), help="use fewer brackets")


TYPED = {t.RPAR: ")", t.RSQB: "]", t.RBRACE: "}", t.GREATER: ">", t.BAR: "|", t.LPAR: "(",
         t.BAR_OPEN: "|", t.BAR_CLOSE: "|",
         t.LSQB: "[", t.LBRACE: "{", t.LESS: "<"}


def wrong_bracket(raw: AnswerTokens, at: int, closer: int | None) -> GradcliError:
    """Return E0716, E0717 or E0721 for a closing bracket without or of another shape than its
    opening one, or too early.

    closer: the token that closes the open bracket, 0 for one that was put in; None if nothing is
    open.
    """
    span = (raw.starts[at], raw.ends[at])
    kind = raw.kinds[at]
    shown = TYPED[kind]
    if closer is None:
        if shown == ">":
            return error("E0721", "a comparison is not a formula", span, help="give a formula")
        return error("E0716", f"`{shown}` closes nothing", span,
                     help="leave it out, or open a bracket before")
    if closer != kind and (closer != t.BAR_CLOSE or kind != t.BAR):
        if closer == t.BAR_CLOSE:
            return error("E0717", f"a bar is still open before `{shown}`", span,
                         help="write abs(x) for the absolute value")
        return error("E0716", f"`{shown}` cannot close `{_opening(closer)}`", span,
                     help=f"write {TYPED.get(closer, ')')} in its place")
    return error("E0721", "something is missing here", span,
                 help=f"write a value before `{shown}`")


def _opening(closer: int) -> str:
    return next((TYPED[kind] for kind, closing in CLOSER.items() if closing == closer), "(")


def wrong_factorial(raw: AnswerTokens, at: int) -> GradcliError:
    """Return E0714 for `!` behind nothing, `x^2!`, `n!!`."""
    return error("E0714", "it is not clear what this is the factorial of",
                 (raw.starts[at], raw.ends[at]), help="put it in brackets: (n!)!, x^{(n!)}")


def two_quotients(raw: AnswerTokens, at: int) -> GradcliError:
    r"""Return E0720 for 1/2x or \sin x/2 in a program."""
    return error("E0720", "it is not clear what stands below the `/`",
                 (raw.starts[at], raw.ends[at]), help=r"write \frac{...}{...}, or brackets")


def unclear_product(raw: AnswerTokens, at: int) -> GradcliError:
    r"""Return E0720 for \prod_{k=1}^{n} k \cdot x."""
    return error("E0720", "it is not clear where the product over the index ends",
                 (raw.starts[at], raw.ends[at]), help="put brackets around it or its factors")


def unclosed(out: AnswerTokens, place: int) -> GradcliError:
    """Return E0716 or E0717 for a bracket or bar that is never closed."""
    span = (out.starts[place], out.ends[place])
    if out.kinds[place] == t.BAR_OPEN:
        return error("E0717", "this bar has no partner", span,
                     help="write abs(x) for the absolute value")
    return error("E0716", "this bracket is never closed", span, help="close it")


def wrong_comma(raw: AnswerTokens, at: int, written: Collection[str]) -> GradcliError:
    """Return E0718 for a comma or semicolon outside of a list; E0712 behind an unknown function."""
    span = (raw.starts[at], raw.ends[at])
    kinds = raw.kinds
    word = _called_word(raw, at, written)
    if word is not None:
        first, last = word
        spelled = raw.text[first:last]
        near = nearest(spelled.lower())
        return error("E0712", f"`{spelled}` is not a function that is known here", word,
                     help=f"did you mean `{near}`?" if near else
                     "write its formula in place of it")
    if kinds[at] == t.COMMA and at and kinds[at - 1] == kinds[at + 1] == t.NUMBER \
            and raw.ends[at - 1] == raw.starts[at] and raw.ends[at] == raw.starts[at + 1]:
        last = at + 1
        while raw.kinds[last + 1:last + 3] == [t.COMMA, t.NUMBER] and \
                raw.ends[last] == raw.starts[last + 1] and \
                raw.ends[last + 1] == raw.starts[last + 2]:
            last += 2
        before, after = raw.words[at - 1], raw.words[last]
        if last > at + 1 or "." in after or "." in before:
            whole = "".join(raw.words[at - 1:last + 1])
            return error("E0718", "a comma inside a number", span,
                         help=f"write {whole}" if "." not in whole[:-len(after)] else
                         "leave it out")
        thousands = f"{before}{after} or " if len(after) == 3 else ""
        return error("E0718", "a comma inside a number", span,
                     help=f"write {thousands}{before}.{after}")
    shown = "comma" if kinds[at] == t.COMMA else "semicolon"
    return error("E0718", f"a {shown} where one formula is expected", span,
                 help="give one formula")


def _called_word(raw: AnswerTokens, at: int, written: Collection[str]) -> Span | None:
    """Return the span of the letters, more than one, right before the bracket around token `at`."""
    depth = 0
    while at and depth < 1:
        at -= 1
        depth += (raw.kinds[at] == t.LPAR) - (raw.kinds[at] == t.RPAR)
    last = first = at
    while first and raw.kinds[first - 1] == t.NAME and raw.ends[first - 1] == raw.starts[first]:
        first -= 1
    if depth < 1 or last - first < 2 or all(
            word in written for word in raw.words[first:last]):
        return None
    return raw.starts[first], raw.ends[last - 1]


def comparison(raw: AnswerTokens, at: int) -> GradcliError:
    """Return E0721 for < or > that is no bracket."""
    return error("E0721", "a comparison is not a formula", (raw.starts[at], raw.ends[at]),
                 help="give a formula")


def unexpected(tokens: AnswerTokens, at: int, row: Row) -> GradcliError:
    """Return E0710, E0718 or E0721 for token `at`, which does not fit what is in front of it."""
    kinds = tokens.kinds
    kind = kinds[at]
    span = (tokens.starts[at], tokens.ends[at])
    if kind == t.END:
        if at == 0:
            return error("E0710", "there is nothing to read", span, help="give a formula")
        return error("E0721", f"something is missing behind `{OPERATORS.get(kinds[at - 1], ',')}`",
                     (tokens.starts[at - 1], tokens.ends[at - 1]), help="write a value there")
    if kind in OPERATORS:
        shown = OPERATORS[kind]
        return error("E0721", f"`{shown}` needs a value before it", span,
                     help=f"write a value before `{shown}`, or leave it out")
    if kind in (t.COMMA, t.SEMICOLON, t.RSQB):
        return error("E0718", "this list does not fit here", span,
                     help="write a vector as (a, b)")
    return error("E0721", "something is missing here", span, help="write a value here")
