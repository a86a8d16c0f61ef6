"""Suggestions do what they say: a slip is made in a right program, the advice followed, and the
program is right again; and no advice repeats what was typed, or comes from far away.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from draws import drawn
from transcripts import in_process

from gradcli.base.similar import distance, nearest

COUNT, SHARES = 2000, 4
POINT = "x=1.5,y=0.5,t=2,rate=3,alpha=0.25"
PROGRAMS = (
    "x^2*sin(y) + exp(x*y)", "3*x*cos(2*y)/(1 + t)", "sqrt(x*y) + log(t)*x", "rate*exp(-alpha*t)",
    "1.5*x + 0.25*y^2", "where(x > 1, x*sin(x), 0)", "max(x, y)*tanh(t)", "abs(x - y)^1.5",
    "loss = (x - y)^2\nloss*rate", "slope = x/y\noffset = t*y\nslope*x + offset",
    "f(a) = a^2*cos(a)\nf(x)*y", "var width = 2.5\nwidth*x + sigmoid(width*y)",
    "norm([x, y])*t", "sum([x*y, y, t])", "x if x > y else y*t", "arctan(x*y)*pi",
    "n = 0\nfor k in range(3):\n    n = n + x*k\nn", "atan2(y, x) + hypot(x, t)",
    "x*exp(x) + x*ln(y)", "2*pi*x*sinh(y)")
NAME = r"[A-Za-z_]\w*"
LONE = r"(?<![\w.])\d(?![\w.])"


def slips(text: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """(kind, text with one slip), those that are possible."""
    def some(pattern: str) -> re.Match[str] | None:
        found = list(re.finditer(pattern, text))
        return draw.choice(found) if found else None

    def put(match: re.Match[str], new: str) -> str:
        return text[:match.start()] + new + text[match.end():]

    word = some(r"\b[A-Za-z_]\w{2,}\b")
    if word is not None:
        letters = word[0]
        at = draw.randrange(len(letters) - 1)
        yield "turned", put(word, letters[:at] + letters[at + 1] + letters[at] + letters[at + 2:])
        yield "dropped", put(word, letters[:at] + letters[at + 1:])
        yield "doubled", put(word, letters[:at] + letters[at] + letters[at:])
        yield "case", put(word, draw.choice((letters.title(), letters.upper())))
        yield "other letter", put(word, letters[:at] + draw.choice("qwxz") + letters[at + 1:])
    for kind, pattern, new in (
            ("no sign", r"\*", ""), ("blank for sign", r"\*", " "), ("comma", r"(?<=\d)\.(?=\d)",
             ","), ("grouped", LONE, "1.000,5"), ("thousands", LONE, "1,000"),
            ("no brackets", r"\((?=\w+\))", " "), ("two signs", r"\*", "**"), ("double", r"\*",
             "* *"), ("colon", r"=(?!=)", ":="), ("unclosed", r"\)", ""), ("opened", r"\(", "(("),
            ("square", r"\(", "["), ("equals", r">", "=>"), ("power", r"\^", "²^"),
            ("word", LONE, "the slope"), ("degree", LONE, "90°"), ("percent", LONE,
             "5%"), ("bars", r"(?<=\*)x\b(?!\()", "|x|"), ("second argument", r"(?<=\w)\)", ", 3)"),
            ("no argument", r"\(\w+\)", "()"), ("quote", LONE, '"2'), ("factorial",
             LONE, "3!"), ("hex", LONE, "0x1F"), ("grouping", LONE, "1_000"),
            ("coefficient", LONE, "2e"), ("assignment", r"$", " = 3"), ("and", r"\*", " and "),
            ("braces", r"\((?=\w+\))", "{"), ("dot", LONE, "2.x"),
            ("prime", r"\(\w+\)(?! =|:)", "'"), ("augmented", r"=(?!=)", "+="),
            ("lambda", LONE, "lambda q: q")):
        match = some(pattern)
        if match is not None:
            yield kind, put(match, new)


def asked(text: str) -> tuple[int, list[dict[str, object]]]:
    """(status, errors) of a program that is given all values that it may need."""
    names = set(re.findall(rf"\b{NAME}\b", text))
    at = ",".join([pair for pair in POINT.split(",") if pair.partition("=")[0] in names])
    argv = ["eval", "-", *(("--at", at) if at else ()), "--format", "json", "--max-steps", "1000"]
    status, _, err = in_process(argv, text.encode())
    if status != 3:
        return status, []
    told = json.loads(err.splitlines()[-1])
    return status, told.get("errors") or [told["error"]]


def advice(problem: dict[str, object]) -> list[str]:
    """What is to be written instead, if the help says so."""
    help = str(problem["help"]).partition(";")[0]
    if not help.startswith(("did you mean `", "write `")):
        return []
    return [new for new in re.findall(r"(?:did you mean|write|or) `([^`]+)`", help)
            if "..." not in new]


def followed(text: str, problem: dict[str, object], new: str) -> Iterator[tuple[str, str]]:
    """(what stood there, the text with `new` in its place): at the place itself, else for what
    begins there, for the line, for a part of the line around it.
    """
    lines = text.splitlines(keepends=True) or [""]
    line, column = problem["line"], problem["column"]
    assert isinstance(line, int)
    assert isinstance(column, int)
    before = sum(map(len, lines[:line - 1]))
    start, stop = before + column - 1, before + len(lines[line - 1].rstrip("\n"))
    length = problem["end_column"]
    assert isinstance(length, int)
    end = before + length - 1 if problem["end_line"] == line else stop
    edges = [m.end() for m in re.finditer(r"\w+|\W", text)]
    ends = [edge for edge in edges if end < edge <= stop]
    first = before + len(lines[line - 1]) - len(lines[line - 1].lstrip())
    starts = [first, *[edge for edge in edges if first < edge < start]]
    places = [(start, end), *[(start, one) for one in ends], (first, stop)]
    for a, b in dict.fromkeys([*places, *[
            (one, other) for one in reversed(starts) for other in (end, *ends)]]):
        yield text[a:b], text[:a] + new + text[b:]


def cases(share: int) -> Iterator[tuple[str, str, str]]:
    draw = drawn(f"slips {share}")
    while True:
        program = draw.choice(PROGRAMS)
        kind, text = draw.choice(list(slips(program, draw)))
        yield program, kind, text


@pytest.mark.parametrize("share", range(SHARES))
def test_advice_helps(share: int) -> None:
    """Followed, it leaves no mistake of the same kind: it can be read, and names are known."""
    found: Counter[str] = Counter()
    wrong = []
    for (_, kind, text), _ in zip(cases(share), range(COUNT // SHARES), strict=False):
        status, problems = asked(text)
        found["slips"] += 1
        if status != 3 or len(problems) > 1:
            continue
        for new in advice(problems[0]):
            found["advice"] += 1
            told = f"{kind}: {text!r}\n  {problems[0]['message']}: {problems[0]['help']}"
            for old, mended in followed(text, problems[0], new):
                if old == new:
                    wrong.append(f"what was typed: {told}")
                    break
                again, others = asked(mended)
                code = str(others[0]["code"]) if again == 3 else ""
                if not (code.startswith("E01") or code in ("E0201", "E0203")):
                    break
            else:
                wrong.append(told)
    assert not wrong, f"{len(wrong)} times\n" + "\n".join(wrong[:12])
    assert found["advice"] > found["slips"] / 5, found


def test_programs_are_right() -> None:
    for program in PROGRAMS:
        assert asked(program)[0] == 0, program


def test_no_name_is_suggested_from_afar() -> None:
    """For random words, whatever there is: never the word itself, and no more than a third of its
    letters away, unless it is the beginning or has the same letters.
    """
    draw = drawn("afar")
    known = ["sin", "cos", "tanh", "sigmoid", "offset", "off", "rate", "learning_rate", "x", "xs",
             "width", "weights", "weight", "loss", "losses", "alpha", "beta", "max", "mean"]
    for _ in range(3000):
        word = "".join(draw.choices("abcdefghilmnoprstuwx_", k=draw.choice((1, 2, 3, 4, 6, 9, 14))))
        if draw.random() < 0.5:
            base = list(draw.choice(known))
            for _ in range(draw.choice((1, 1, 2, 3))):
                base[draw.randrange(len(base))] = draw.choice("abcdeilnorst")
            word = "".join(base)
        near = nearest(word, known)
        assert near != word
        if near is None:
            continue
        assert (distance(word, near) * 3 <= max(len(word), 3) + 1 or near.startswith(word)
                or sorted(near) == sorted(word)), (word, near)
    assert nearest("off", ["off"]) is None
    assert nearest("off", ["off", "offset"]) == "offset"
    assert [nearest(word, known) for word in ("offest", "witdh", "los", "learn", "zzzz", "q")] == [
        "offset", "width", "loss", "learning_rate", None, None]
