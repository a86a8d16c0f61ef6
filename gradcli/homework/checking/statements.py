"""Answers of several statements: the function again, a step, a slope or a point beside the answer,
`f(x) = x^2, f'(x) = 2x`, `m = 6, y = 6x - 9`, `12 when x = 2`.

The last one that is no point is the answer, if all others are true. Where one is false, or is not
known to be true, a person decides.
"""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError
from gradcli.homework.checking.built import CONSTANTS
from gradcli.homework.checking.facts import VECTOR, Facts, sides_of
from gradcli.homework.checking.outcome import RIGHT, leave
from gradcli.homework.checking.problem import differentiated
from gradcli.homework.checking.readings import read_answer
from gradcli.lang.paper.answer import MAX_LENGTH, SEVERAL_SIDES
from gradcli.lang.paper.left import claim, is_label

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
    r"|at|also|und|daher|damit|für|bei|mit|is|ist|if|given|let|since|because|as|near|around|using|from|by|we\s+have|we\s+get)"
    r"(?![\w'])", re.IGNORECASE)
MAY_JOIN = re.compile(r"[,;:>⇒⟹⟶→\n\\]|[(\s][A-Za-z]{2,}\s|\(\s*[A-Za-z]\s*=")
STEP = re.compile(r"[·⋅∙•∇'’]|\\cdot|\\nabla|/\s*\(?\s*d[a-z]")
"""What stands in sides that are no formulas alone: a product of vectors, a quotient of slopes."""
VALUE = re.compile(r"(?<![\w'’′])[A-Za-z]\s*(?:\\left)?\(\s*[-−+]?[\d.√π\\(][^=]*=")
"""A function's value that may be named, f(2) =."""
LISTED = re.compile(r"\s*[A-Za-z]\s*=[^=]*[,;][^=]*")
"""Several values of one letter: x = 1, 2."""
WRITTEN = (
    (re.compile(r"\\(?:text|textrm|mathrm|mbox)\s*\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"\\(?:quad|qquad|left|right|displaystyle)(?![A-Za-z])|(?<!\\)\\[,;:! ]"), " "),
    (re.compile(r"\^\s*\{\s*(?:\\prime\s*)+\}|\^\s*\\prime|[’′]"), "'"),
    (re.compile(r"[✓✔✅☑]\ufe0f?|[∴∵]|\\(?:therefore|because|checkmark)(?![A-Za-z])"), " "),
    (re.compile(r"\(\s*((?:(?:at|when|for|where|with|if)?\s*[A-Za-z]\s*=|(?i:slope|steigung)\b)"
                r"[^()]*)\)\s*$"), r", \1"))
FILLING = frozenset(
    "the line equation of it its this that function curve point graph our".split())
EVERYWHERE = re.compile(r"(?:D(?:_?f|_\{f\}|\(f\))?\s*=|[a-z]\s*∈)\s*(?:R|ℝ|\\mathbb\s*\{?R\}?)")
"""A domain that leaves nothing out."""
PRIMED = re.compile(r"(?<![^\W\d_uvwfgh])([uvwfgh])'+(?:\(x\))?")
COMPARED = re.compile(r"[^<>=]=.*[<>≠!]|[<>≠!].*=|[<>]$")
OF_RULES = "uvwfgh"
"""The letters of rules, u'v + uv'; u is what stands inside of a function."""
SLOPE = re.compile(r"(?:slope|steigung)\s*(?:m\s*)?=?\s*(?=[-\d(\\√])", re.IGNORECASE)


def settle(prepared: PreparedProblem, answer: str, whole: dict[str, Any],
           judged: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the result for an answer as several statements, or as steps between equals signs;
    `whole`, that for it as it stands, where it is neither.

    judged: function from the one that is the answer to its result.
    """
    if whole["verdict"] == "blank" or len(answer) > MAX_LENGTH:
        return whole
    found = _settle(prepared, answer, whole, judged)
    if found["verdict"] in RIGHT and VALUE.search(answer):
        false = _false_value(prepared, answer)
        if false:
            return _left(found, f"`{false}` is not so")
    return found


def _false_value(prepared: PreparedProblem, answer: str) -> str:
    """Return the statement that gives the function another value than it has, f(2) = 12 where f'(2)
    is 12; "" without one.
    """
    names = prepared.reference.names
    if prepared.reference.kind.component is not differentiated:
        return ""       # f(2.1) = 9.26 is an estimate
    facts = prepared.kept("facts", lambda: Facts(prepared)).about()
    for piece in statements(answer, prepared):
        sides = sides_of(piece)
        for k, side in enumerate(sides[:-1]):
            said = claim(side, names)
            if said is not None and said.order is None and said.at and not said.operator and \
                    facts.are_equal([side, sides[k + 1]]) is False:
                return f"{side} = {sides[k + 1]}"
    return ""


def _settle(prepared: PreparedProblem, answer: str, whole: dict[str, Any],
            judged: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return what `settle` does, whatever values the function is given."""
    if whole["verdict"] != "unreadable" and SEVERAL_SIDES not in whole["message"] and not (
            MAY_JOIN.search(answer) or (whole["verdict"] == "undecided" and STEP.search(answer))):
        return whole
    pieces = statements(answer, prepared)
    facts = prepared.kept("facts", lambda: Facts(prepared)).about()
    found = _settled(facts, pieces, answer, whole, judged) if 0 < len(pieces) <= MOST else whole
    # Where the last of several sides was read, all that stands before it has to be understood.
    if found is whole and SEVERAL_SIDES in found["message"] and found["verdict"] != "undecided":
        stated = [sides_of(piece) for piece in pieces if "=" in piece or _is_compared(piece)]
        strange = next((side for sides in stated for k, side in enumerate(sides)
                        if not _is_known(facts, side, bool(k))), "")
        if strange:
            return _left(found, f"`{strange}` was not understood")
        other = next((piece for piece in pieces[:-1] if "=" not in piece and judged(
            piece)["verdict"] == "wrong"), "")
        if other:
            return _left(found, f"`{other}` may be the answer")
        if found["verdict"] in RIGHT and prepared.problem.steps != "last" and any(
                _differ(facts, sides) for sides in stated):
            return _left(found, "the sides of this are not all equal")
        last = pieces[-1]
        if found["verdict"] in RIGHT and len(pieces) > 1 and (not facts.knows(last) or (
                len(sides_of(last)) == 2 and facts.states(last) is False)):
            return _left(found, f"`{last}` may not be the answer")
        if found["verdict"] == "wrong" and len(pieces) > 1:
            return _left(found, "one of several statements may be the answer")
    return found


def _formulas(facts: Facts, sides: list[str]) -> list[str]:
    """Return the sides that are no names."""
    names = facts.prepared.reference.names
    return [side for side in sides if side and not is_label(side, names)]


def _differ(facts: Facts, sides: list[str]) -> bool:
    """Return whether the sides that are no names are known to differ; where the last is a formula,
    anywhere, not at the point alone.
    """
    steps = _formulas(facts, sides)
    if len(steps) < 2:
        return False
    try:
        read = read_answer(facts.prepared, steps[-1]).names
    except GradcliError:
        read = ()
    everywhere = not {*read}.isdisjoint(facts.prepared.reference.variables)
    return facts.are_equal(steps, everywhere) is False


def _is_compared(text: str) -> bool:
    """Return whether more than an equals sign joins the sides of a text: 6x ≠ y' = 3x^2."""
    return COMPARED.search(VECTOR.sub("", text)) is not None


def _is_known(facts: Facts, side: str, behind: bool) -> bool:
    """Return whether it is known what a side says. behind: another side, so that a letter that
    nobody knows is no name of the answer.
    """
    reference = facts.prepared.reference
    if _is_compared(side):      # no side, but two that are not equal
        return False
    if behind and len(side) == 1 and not facts.knows(f"{side} ="):
        return False
    if not side or is_label(side, reference.names) or (
            not behind and claim(side, reference.names)) or any(
            facts.values(side, samples, name) is not None
            for name, samples in facts.places.items()):
        return True
    primed = PRIMED.findall(side)
    try:
        names = read_answer(facts.prepared, PRIMED.sub(r" \1 ", side)).names
    except GradcliError:
        return False
    of_rules = {*(OF_RULES if primed else "u")}.difference(facts.functions)
    return {*names, *primed} <= {*reference.variables, *CONSTANTS, *of_rules}


def _settled(facts: Facts, pieces: list[str], answer: str, whole: dict[str, Any],
             judged: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the result for an answer of these statements; `whole` where they do not settle it."""
    if LISTED.fullmatch(answer):
        return whole
    if len(pieces) == 1:
        if whole["verdict"] in ("unreadable", "undecided") and pieces[0] != answer.strip():
            found = judged(pieces[0])
            if found["verdict"] in RIGHT or whole["verdict"] == "unreadable":
                whole = found
        return _by_steps(facts, pieces[0], whole, judged)
    if whole["verdict"] == "undecided" and facts.prepared.reference.axes == 2:
        first = [piece for piece in pieces if _is_first_partial(facts, piece)]
        found = judged(", ".join([piece for piece in pieces if piece not in first]))
        if first and found["verdict"] in RIGHT and all(map(facts.states, first)):
            return found
    return _of_statements(facts, pieces, whole, lambda piece: _by_steps(
        facts, piece, judged(piece), judged))


def _is_first_partial(facts: Facts, piece: str) -> bool:
    """Return whether a statement names a first partial derivative: on the way to a Hessian."""
    said = claim(sides_of(piece)[0], facts.prepared.reference.names)
    return said is not None and said.order == 1 and len(said.by or ()) == 1


def _of_statements(facts: Facts, pieces: list[str], whole: dict[str, Any],
                   judged: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the result for several statements: that of the last which is no place and not only
    true, as f(2) = 10 where f'(2) is asked for, if all others are true.
    """
    functions = len(facts.functions)
    if facts.is_place(pieces[-1]) and SEVERAL_SIDES in whole["message"]:
        whole = _left(whole, "one of several statements may be the answer")     # its x is none
    true = [facts.states(piece) for piece in pieces]
    found, last = whole, -1
    for k in range(len(pieces) - 1, -1, -1):
        if facts.is_place(pieces[k]):
            continue
        found, last = judged(pieces[k]), k
        if not true[k] or found["verdict"] in RIGHT:
            break
    right = found["verdict"] in RIGHT
    others = [k for k in range(len(pieces)) if k != last]
    false = [pieces[k] for k in others if true[k] is False]
    if false and (right or whole["verdict"] in RIGHT):
        return _left(whole, f"`{false[0]}` stands beside it, and is not so")
    if right and all(true[k] for k in others) and facts.knows(pieces[last]) and (
            true[last] is not False or len(sides_of(pieces[last])) > 2):
        return found
    if whole["verdict"] != "wrong" and not (
            found["verdict"] == "wrong" and all(true[k] for k in others)):
        return whole
    verdicts = {judged(piece)["verdict"] for piece, found_true in zip(pieces, true, strict=True)
                if found_true and not facts.is_place(piece)} - {"wrong"}
    if right or (verdicts if whole["verdict"] == "wrong" else verdicts & RIGHT):
        return whole if whole["verdict"] in (*RIGHT, "undecided") else _left(
            whole, "some of what stands here is right")
    # Letters of their own may be in a wrong answer, and what is true is none.
    sure = whole["verdict"] not in RIGHT and not (
        facts.prepared.reference.shape or len(facts.functions) > functions or true[last]
        or not all(map(facts.is_place, pieces[last + 1:])))
    return found if sure and all(true[k] for k in others) else whole


def _left(whole: dict[str, Any], why: str) -> dict[str, Any]:
    """Return a result that leaves an answer to a person, without what was said to be wrong."""
    found = {**whole, "mistake": None, "also": [], "confidence": None, "hint": None}
    leave(found, why)
    return found


def _by_steps(facts: Facts, text: str, found: dict[str, Any],
              judged: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the result for an equation whose sides are steps that a formula alone cannot be:
    (dy/dt)/(dx/dt), (4, 4)·(3/5, 4/5). It is that of the last side if all are equal.
    """
    sides = sides_of(text)
    if len(sides) < 2 or not STEP.search(text):
        return found
    if found["verdict"] in RIGHT:
        steps = _formulas(facts, sides)
        if len(steps) > 1 and any(map(STEP.search, steps)) and facts.are_equal(steps) is False:
            return _left(found, f"the sides of `{text}` are not all equal")
        return found
    if found["verdict"] != "wrong" and not is_label(
            sides[0], facts.prepared.reference.names) and facts.are_equal(sides):
        last = judged(sides[-1])
        return last if last["verdict"] in RIGHT else found
    return found


def statements(answer: str, prepared: PreparedProblem) -> list[str]:
    """Return the statements of an answer, without words between them and words without meaning."""
    for pattern, meant in WRITTEN:
        answer = pattern.sub(meant, answer)
    if "\\\\" in answer or "$" in answer:
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
    if EVERYWHERE.fullmatch(bare):
        return ""
    return SLOPE.sub("m = ", bare) if kind.line else bare
