"""Answers of several statements: the function again, a step, a slope or a point beside the answer,
`f(x) = x^2, f'(x) = 2x`, `m = 6, y = 6x - 9`, `12 when x = 2`.

The last one that is no point is the answer, if all others are true. Where one is false, or is not
known to be true, a person decides.
"""

from __future__ import annotations

import re

from gradcli.homework.checking.facts import Facts, sides_of
from gradcli.homework.checking.outcome import RIGHT, leave
from gradcli.lang.paper.left import is_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem

MOST = 8
"""So many statements make one answer at most."""
JOINED = re.compile(
    r"=>|⇒|⟹|⟶|→|-+>|\\(?:Rightarrow|implies|Longrightarrow|rightarrow|to)(?![A-Za-z])|[;\n]"
    r"|,(?!\d)|(?<!\d),|:(?!=)|(?<![\w\\])(?:so|then|hence|thus|therefore|and|where|with|when|for"
    r"|at|also|und|daher|damit|für|bei|mit|is|ist|if|given|let|since|because|as|we\s+have|we\s+get)"
    r"(?![\w'])", re.IGNORECASE)
MAY_JOIN = re.compile(r"[,;:>⇒⟹⟶→\n\\]|[(\s][A-Za-z]{2,}\s|\(\s*[A-Za-z]\s*=")
STEP = re.compile(r"[·⋅∙•∇'’]|\\cdot|\\nabla|/\s*\(?\s*d[a-z]")
"""What stands in sides that are no formulas alone: a product of vectors, a quotient of slopes."""
WRITTEN = (
    (re.compile(r"\\(?:text|textrm|mathrm|mbox)\s*\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"\\(?:quad|qquad|left|right|displaystyle)(?![A-Za-z])|\\[,;:! ]|\$"), " "),
    (re.compile(r"\^\s*\{\s*(?:\\prime\s*)+\}|\^\s*\\prime|[’′]"), "'"),
    (re.compile(r"[✓✔✅☑]\ufe0f?"), " "),
    (re.compile(r"\(\s*((?:at|when|for|where|with|if)?\s*[A-Za-z]\s*=[^()=]*)\)\s*$"), r", \1"))
FILLING = frozenset(
    "the line equation of it its this that function curve point graph our".split())
SLOPE = re.compile(r"(?:slope|steigung)\s*(?:m\s*)?=?\s*(?=[-\d(\\√])", re.IGNORECASE)


def settle(prepared: PreparedProblem, answer: str, whole: dict[str, Any],
           judged: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the result for an answer as several statements, or as steps between equals signs;
    `whole`, that for it as it stands, where it is neither.

    judged: function from the one that is the answer to its result.
    """
    if whole["verdict"] == "blank" or not (MAY_JOIN.search(answer) or STEP.search(answer)):
        return whole
    pieces = statements(answer, prepared)
    if not 0 < len(pieces) <= MOST:
        return whole
    facts = prepared.kept("facts", lambda: Facts(prepared)).about()
    if len(pieces) == 1:
        if whole["verdict"] == "unreadable" and pieces[0] != answer.strip():
            whole = judged(pieces[0])
        return _by_steps(facts, pieces[0], whole, judged)
    last = max([k for k, piece in enumerate(pieces) if not facts.is_place(piece)], default=-1)
    if last < 0:
        return whole
    functions = len(facts.functions)
    others = [*pieces[:last], *pieces[last + 1:]]
    true = [facts.states(piece) for piece in others]
    if False not in true and (not all(true) or not facts.knows(pieces[last])):
        return whole
    found = _by_steps(facts, pieces[last], judged(pieces[last]), judged)
    if False in true:
        if found["verdict"] in RIGHT or whole["verdict"] in RIGHT:
            whole = {**whole, "mistake": None, "also": [], "confidence": None, "hint": None}
            leave(whole, f"`{others[true.index(False)]}` stands beside it, and is not so")
        return whole
    if found["verdict"] in RIGHT:
        return found
    # What is true is no wrong answer: f'(2) = 12, f(2) = 8.
    sure = found["verdict"] == "wrong" and whole["verdict"] not in RIGHT and not (
        prepared.reference.shape or len(facts.functions) > functions
        or facts.states(pieces[last]))
    return found if sure and not any(
        judged(piece)["verdict"] in RIGHT for piece in others) else whole


def _by_steps(facts: Facts, text: str, found: dict[str, Any],
              judged: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the result for an equation whose sides are steps that a formula alone cannot be:
    (dy/dt)/(dx/dt), (4, 4)·(3/5, 4/5). It is that of the last side if all are equal.
    """
    sides = sides_of(text)
    if len(sides) < 2 or not STEP.search(text):
        return found
    names = facts.prepared.reference.names
    labels = [k for k, side in enumerate(sides) if is_label(side, names)]
    if found["verdict"] in RIGHT:
        steps = sides[max(labels, default=-1) + 1:]
        if len(steps) > 1 and any(map(STEP.search, steps)) and facts.are_equal(steps) is False:
            found = {**found}
            leave(found, f"the sides of `{text}` are not all equal")
        return found
    if found["verdict"] != "wrong" and 0 not in labels and facts.are_equal(sides):
        last = judged(sides[-1])
        return last if last["verdict"] in RIGHT else found
    return found


def statements(answer: str, prepared: PreparedProblem) -> list[str]:
    """Return the statements of an answer, without words between them and words without meaning."""
    for pattern, meant in WRITTEN:
        answer = pattern.sub(meant, answer)
    if "\\\\" in answer:
        from gradcli.lang.paper.notations import typeset

        answer = typeset(answer)
    found, begin, at, depth = [], 0, 0, 0
    while at < len(answer):
        depth += (answer[at] in "([{") - (answer[at] in ")]}")
        sign = JOINED.match(answer, at) if not depth else None
        if sign is None or _goes_on(answer, sign):
            at += 1
            continue
        found.append(answer[begin:at])
        begin = at = sign.end()
    found.append(answer[begin:])
    return [piece for piece in (_bare(one, prepared) for one in found) if piece]


def _goes_on(answer: str, sign: re.Match[str]) -> bool:
    """Return whether a line goes on behind its end: with = or a sign."""
    if sign.group() != "\n":
        return False
    before, behind = answer[:sign.start()].rstrip()[-1:], answer[sign.end():].lstrip()[:1]
    return before in ("=", "+", "*", "/", "(") or behind in ("=", "+", "*", "/", ")")


def _bare(piece: str, prepared: PreparedProblem) -> str:
    """Return a statement without words around it that mean nothing."""
    kind = prepared.reference.kind
    words = piece.strip(" .,\t\r").split()
    own = {*FILLING, kind.name} if kind.line else FILLING
    while words and words[0].casefold() in own:
        del words[0]
    while words and words[-1].casefold().strip(".") in own:
        del words[-1]
    bare = " ".join(words)
    return SLOPE.sub("m = ", bare) if kind.line else bare
