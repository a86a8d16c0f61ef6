"""A sheet, students and results for the tests of what a teacher gets."""

from __future__ import annotations

from typing import Any

from gradcli.homework.handed_in.records import Student
from gradcli.homework.marking import marks
from gradcli.homework.marking.results import Result
from gradcli.homework.sheets import formats
from gradcli.homework.sheets.sheet import Sheet

HEAD = """\
schema = 1
[sheet]
id = "hw3"
title = "Chain rule"
[credit]
missing_chain_factor = 0.5
[late]
penalty = 0.25
"""
TWO_PROBLEMS = """\
[sheet]
id = "hw"
seed = "autumn"
[[problem]]
id = "1"
function = "x^2 sin(x)"
[[problem]]
id = "2"
function = "x^2 + 3xy"
wrt = ["x", "y"]
"""
TEXT = HEAD + """\
[[problem]]
id = "1a"
function = "sin(x^2)"
points = 2
[[problem]]
id = "1b"
kind = "gradient"
function = "x^2 y"
wrt = ["x", "y"]
points = 3
[[problem]]
id = "2"
function = "log(x)"
domain_policy = "review"
[[problem]]
id = "3"
function = "x^3"
hidden = true
"""
SHEET = formats.parse(TEXT, "hw3.toml")

HOSTILE = (
    "=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "\0x", "＝1", "＋1", "－1",
    "＠x", "a[/b]", "[link=http://x]y[/link]", "../../x", "/etc/passwd", "..", ".", "a/b\\c",
    "\u202egpj.exe", "\u2066x\u2069", "😀", "x" * 300, "\x1b[31mred\x1b[0m", "\x1b]0;t\x07",
    "a\nb", "a\r\nb", 'q"u,o;te', "`code`", "``", "<script>alert(1)</script>", "&#x202e;",
    "](http://x)", "![i](http://x)", "# head", "- item", "***", "x\u200by", "\ud800", "\ufffe",
    "NaN", "CON", "con", "é", "e\u0301", "%0A::error::x", "]]>", " x ", "'=1", "$x$", "a|b")


def checked(verdict: str = "correct", **more: Any) -> dict[str, Any]:
    """What `checking.check` would say."""
    return {
        "verdict": verdict, "mistake": None, "also": [], "confidence": None, "message": "",
        "read_as": "2*x", "alternatives": [], "witness": None,
        "points": {"usable": 512, "agree": 512, "disagree": 0, "undefined": 0},
        "score": 1.0 if verdict == "correct" else 0.0, "fingerprint": None, "hint": None,
        "ms": 0.4, **more}


CHAIN = checked(
    "wrong", mistake="missing_chain_factor", confidence="high", also=["constant_factor_dropped"],
    hint="looks like the inner derivative of `x^2` is missing: multiply by 2x",
    message="looks like the inner derivative of `x^2` is missing: multiply by 2x; at x = 1.23457"
    " this is -3, and should be 0.112233",
    read_as="cos(x^2)", fingerprint="c1",
    witness={"at": {"x": 1.23456789}, "expected": 0.112233445566, "got": -3.0})


def answer(student: str, problem: str, text: str, found: dict[str, Any], of: Sheet = SHEET
           ) -> Result:
    return marks.result(of, of[problem], student, text, found, file=f"{student}/answers.txt",
                        line=3)


def some() -> tuple[list[Student], list[Result]]:
    """Four students: most things, late and half read, blank, and missing."""
    students = [
        Student("s1", "Noether", "Emmy", "Emmy@uni.example", "A"),
        Student("s2", "Gauß", "Carl", "carl@uni.example", "A", late=True),
        Student("s3", "Kovalevskaya", "Sofya", "sofya@uni.example", "B"),
        Student("s4", "Abel", "Niels", "niels@uni.example", "B", handed_in=False)]
    results = [
        answer("s1", "1a", "2x cos(x^2)", checked()),
        answer("s1", "1b", "<2xy, x^2>", checked()),
        answer("s1", "2", "1/x", checked("domain", message="right, but undefined for x < 0")),
        answer("s1", "3", "3x^2", checked()),
        answer("s2", "1a", "cos(x^2)", CHAIN),
        answer("s2", "1b", "<2xy, y^2>", checked("wrong", score=0.5, read_as="[2*x*y, y^2]")),
        answer("s2", "2", "1/x)", checked("unreadable", read_as=None, message="one ) too many")),
        answer("s2", "3", "2x^2", checked(
            "wrong", mistake="power_coefficient_off_by_one", also=["missing_chain_factor"],
            confidence="low", message="secret",
            witness={"at": {"x": 2.0}, "expected": 12.0, "got": 8.0})),
        *[answer("s3", p, "", checked("blank", read_as=None)) for p in ("1a", "1b", "2", "3")]]
    return students, results
