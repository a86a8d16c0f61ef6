r"""Equations of word processors as LaTeX: OMML of Word, MathML of LibreOffice and of web pages.

LaTeX keeps what is seen apart from what is meant: whether `\sin (x+1)^{2}` squares the sine is for
`gradcli.lang.paper` to say, which reads what students type. An element that stands in no table
becomes a command that LaTeX has not, so that the answer is unreadable and a person looks at it.
"""

from __future__ import annotations

import re
from unicodedata import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from xml.etree.ElementTree import Element

FUNCTIONS = frozenset(
    "arccos arcsin arctan cos cosh cot coth csc exp lg lim ln log max min sec sin sinh tan tanh"
    .split())
SUMS = {"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∮": r"\oint"}
ACCENTS = {"\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0305": r"\overline",
           "\u0307": r"\dot", "\u0308": r"\ddot", "\u20d7": r"\vec", "→": r"\vec",
           "^": r"\hat", "~": r"\tilde", "¯": r"\bar", "˙": r"\dot", "¨": r"\ddot"}
# Mathematical letters, 𝑥 and ℎ, and signs that are there without being seen.
_LETTERS = re.compile("[\U0001d400-\U0001d7ff\u210e]")
_UNSEEN = str.maketrans({"\u2061": " ", "\u2062": " ", "\u2063": ",", "\u200b": "", "\xa0": " ",
                         "\u2009": " ", "\u200a": " ", "\u2005": " ", "\u2004": " "})


def unread(what: str) -> str:
    """Return a command that LaTeX has not, for what must not be passed over."""
    return "\\" + "".join([c for c in what if c.isascii() and c.isalpha()]) + "?"


def letters(text: str) -> str:
    """Return a text of an equation with plain letters."""
    return _LETTERS.sub(lambda found: normalize("NFKC", found[0]), text).translate(_UNSEEN)


def scripts(base: str, sub: str | None, sup: str | None) -> str:
    """Return a base with what stands below and above it on its right, primes as such."""
    base = base.rstrip()
    lower = f"_{{{sub}}}" if sub is not None and sub.strip() else ""
    if sup is not None and re.fullmatch(r"\s*[′″'‴]+\s*", sup):
        return base + lower + sup.strip()
    return base + lower + (f"^{{{sup}}}" if sup is not None and sup.strip() else "")


def root(radicand: str, degree: str) -> str:
    return rf"\sqrt[{degree}]{{{radicand}}}" if degree.strip() else rf"\sqrt{{{radicand}}}"


def fenced(opening: str, inside: str, closing: str) -> str:
    """Return something in brackets that grow with it."""
    named = {"{": r"\{", "}": r"\}", "": ".", "⟨": r"\langle ", "⟩": r"\rangle ", "‖": r"\|",
             "〈": r"\langle ", "〉": r"\rangle ", "∥": r"\|", "│": "|"}
    return (rf"\left{named.get(opening, opening)}{inside}"
            rf"\right{named.get(closing, closing)}")


def table(rows: Iterable[Iterable[str]]) -> str:
    inside = r"\\".join(["&".join(row) for row in rows])
    return rf"\begin{{matrix}}{inside}\end{{matrix}}"


def applied(name: str, argument: str) -> str:
    """Return a function before its argument, which has brackets unless it begins with some."""
    bare = argument.strip()
    if not bare.startswith((r"\left", "(", "[", "|")):
        bare = rf"\left({bare}\right)"
    return f"{name} {bare}"


def function(name: str) -> str:
    """Return a name as LaTeX has it if it is one of a function."""
    bare = name.strip()
    return f"\\{bare} " if bare in FUNCTIONS else name


# --------------------------------------------------------------------------------------------------
# OMML: elements of Word, with the prefix m-.

def omml(node: Element) -> str:
    """Return the LaTeX of an equation of Word, or of a part of it."""
    name = node.tag.removeprefix("m-")
    made = _OMML.get(name)
    if made is not None:
        return made(node)
    return unread(name)


# What stands among the parts of an equation and is none; what holds parts, as revisions do.
_PASSED = frozenset(
    "w-bookmarkStart w-bookmarkEnd w-proofErr w-del w-moveFrom w-commentRangeStart w-rPr"
    " w-commentRangeEnd m-ctrlPr".split())
_HOLDERS = frozenset("w-ins w-moveTo w-smartTag w-hyperlink".split())


def _all(node: Element | None) -> str:
    """Return the parts of an element, without its properties."""
    return "" if node is None else "".join([
        _all(part) if part.tag in _HOLDERS else omml(part) for part in node
        if part.tag not in _PASSED and not (part.tag[:2] == "m-" and part.tag.endswith("Pr"))])


def _part(node: Element, name: str) -> str:
    return _all(node.find(f"m-{name}"))


def _property(node: Element, name: str, otherwise: str) -> str:
    """Return the value of a property in an element's `...Pr`."""
    for properties in node:
        if properties.tag.endswith("Pr"):
            found = properties.find(f"m-{name}")
            if found is not None:
                return found.get("m-val", "")
    return otherwise


def _run(node: Element) -> str:
    found = []
    for part in node:
        if part.tag in ("m-t", "w-t"):
            found.append(letters(part.text or ""))
        elif part.tag in ("w-br", "w-cr"):
            found.append("\n")
        elif part.tag == "w-tab":
            found.append(" ")
        elif part.tag not in ("m-rPr", "w-rPr", "w-lastRenderedPageBreak"):
            found.append(unread(part.tag[2:]))
    text = "".join(found)
    if node.find("w-rPr/w-strike") is not None:
        text = unread("struck out") + text
    return function(text) if _property(node, "nor", "no") == "no" else text


def _fraction(node: Element) -> str:
    kind = _property(node, "type", "bar")
    over, under = _part(node, "num"), _part(node, "den")
    return rf"\frac{{{over}}}{{{under}}}" if kind != "noBar" else rf"\binom{{{over}}}{{{under}}}"


def _delimited(node: Element) -> str:
    opening, closing = _property(node, "begChr", "("), _property(node, "endChr", ")")
    separator = _property(node, "sepChr", "|")
    parts = node.findall("m-e")
    if len(parts) == 1:
        # (n over k) is a binomial: the brackets belong to it.
        inner = [part for part in parts[0] if part.tag != "m-ctrlPr"]
        if len(inner) == 1 and inner[0].tag == "m-f" and (
                _property(inner[0], "type", "bar") == "noBar"):
            return _fraction(inner[0])
        if closing == "" and opening == "{" and len(inner) == 1 and inner[0].tag == "m-eqArr":
            rows = r"\\".join([_all(row) for row in inner[0].findall("m-e")])
            return rf"\begin{{cases}}{rows}\end{{cases}}"
    return fenced(opening, f" {separator} ".join([_all(part) for part in parts]), closing)


def _nary(node: Element) -> str:
    sign = _property(node, "chr", "∫")
    return scripts(SUMS.get(sign, unread("nary")), _part(node, "sub"), _part(node, "sup")) + (
        f" {_part(node, 'e')}")


def _accent(node: Element) -> str:
    sign = ACCENTS.get(_property(node, "chr", "\u0302"), unread("acc"))
    return rf"{sign}{{{_part(node, 'e')}}}"


def _bar(node: Element) -> str:
    name = "overline" if _property(node, "pos", "bot") == "top" else "underline"
    return rf"\{name}{{{_part(node, 'e')}}}"


def _boxed(node: Element) -> str:
    struck = any("strike" in one.tag for one in node.iterfind("m-borderBoxPr/*"))
    return unread("struck out") * struck + _part(node, "e")


def _equation(node: Element) -> str:
    """Return an equation, the lines of an array on lines of their own."""
    return "".join(["\n".join([_all(row).replace("&", "") for row in part.findall("m-e")])
                    if part.tag == "m-eqArr" else "" if part.tag in _PASSED else
                    _all(part) if part.tag in _HOLDERS else omml(part) for part in node
                    if not part.tag.endswith("Pr")])


_OMML: dict[str, Callable[[Element], str]] = {
    "oMath": _equation,
    "oMathPara": lambda node: "\n".join([omml(one) for one in node if one.tag[:2] == "m-"
                                         and one.tag != "m-oMathParaPr"]),
    "r": _run, "f": _fraction, "d": _delimited, "nary": _nary, "acc": _accent, "bar": _bar,
    "box": lambda node: _part(node, "e"), "borderBox": _boxed,
    "eqArr": lambda node: table([[_all(row).replace("&", "")] for row in node.findall("m-e")]),
    "func": lambda node: applied(_part(node, "fName"), _part(node, "e")),
    "limLow": lambda node: scripts(_part(node, "e"), _part(node, "lim"), None),
    "limUpp": lambda node: scripts(_part(node, "e"), None, _part(node, "lim")),
    "m": lambda node: table([[_all(cell) for cell in row.findall("m-e")]
                             for row in node.findall("m-mr")]),
    "rad": lambda node: root(_part(node, "e"), _part(node, "deg")),
    "sSub": lambda node: scripts(_part(node, "e"), _part(node, "sub"), None),
    "sSup": lambda node: scripts(_part(node, "e"), None, _part(node, "sup")),
    "sSubSup": lambda node: scripts(_part(node, "e"), _part(node, "sub"), _part(node, "sup")),
}


# --------------------------------------------------------------------------------------------------
# MathML, with the prefix math-.

def mathml(node: Element) -> str:
    """Return the LaTeX of an equation in MathML, or of a part of it."""
    name = node.tag.removeprefix("math-")
    made = _MATHML.get(name)
    return made(node) if made is not None else unread(name)


def _row(node: Element) -> str:
    return " ".join([mathml(part) for part in node])


def _text(node: Element) -> str:
    return letters((node.text or "").strip())


def _identifier(node: Element) -> str:
    return function(_text(node))


def _arguments(node: Element, count: int) -> list[str]:
    """Return the parts of an element that has so many; an unreadable one for each that misses."""
    found = [mathml(part) for part in node]
    return found if len(found) == count else [unread(node.tag)] * count


def _over_and_under(node: Element, below: bool, above: bool) -> str:
    base, *rest = _arguments(node, 1 + below + above)
    if above and not below and rest[0].strip() in ACCENTS:
        return rf"{ACCENTS[rest[0].strip()]}{{{base}}}"
    base = SUMS.get(base.strip(), base)
    return scripts(base, rest[0] if below else None, rest[-1] if above else None)


def _quotient(node: Element) -> str:
    over, under = _arguments(node, 2)
    name = "binom" if node.get("linethickness", "1")[:1] == "0" else "frac"
    return rf"\{name}{{{over}}}{{{under}}}"


def _scripted(below: bool, above: bool) -> Callable[[Element], str]:
    def made(node: Element) -> str:
        base, *rest = _arguments(node, 1 + below + above)
        base = SUMS.get(base.strip(), base)
        return scripts(base, rest[0] if below else None, rest[-1] if above else None)

    return made


def _rooted(node: Element) -> str:
    radicand, degree = _arguments(node, 2)
    return root(radicand, degree)


def _fences(node: Element) -> str:
    separator = (node.get("separators", ",").strip() or ",")[0]
    return fenced(node.get("open", "("), separator.join([mathml(part) for part in node]),
                  node.get("close", ")"))


_MATHML: dict[str, Callable[[Element], str]] = {
    "math": _row, "mrow": _row, "mstyle": _row, "mpadded": _row,
    "semantics": lambda node: mathml(node[0]) if len(node) else "",
    "mi": _identifier, "mn": _text, "mo": _identifier, "mtext": _text, "ms": _text,
    "mspace": lambda node: " ", "mphantom": lambda node: " ", "none": lambda node: "",
    "mfrac": _quotient, "msqrt": lambda node: root(_row(node), ""), "mroot": _rooted,
    "msup": _scripted(False, True), "msub": _scripted(True, False),
    "msubsup": _scripted(True, True), "mfenced": _fences,
    "mover": lambda node: _over_and_under(node, False, True),
    "munder": lambda node: _over_and_under(node, True, False),
    "munderover": lambda node: _over_and_under(node, True, True),
    "mtable": lambda node: table([[_row(cell) for cell in line] for line in node]),
}
