"""junit.xml: a test suite for each student, a test case for each problem.

A wrong answer is a failure whose message is the mistake, a blank one is skipped, one that waits for
a person is an error. Suites are written one by one; hidden problems show only the verdict.
"""

from __future__ import annotations

from xml.etree import ElementTree

from gradcli.homework.marking.marks import BLANK, FULL, MISSING, RIGHT, WAITING, feedback
from gradcli.homework.sheets.cells import number
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.marking.results import Result
    from gradcli.homework.sheets.sheet import Sheet


class Junit:
    """The file junit.xml while it is written; `finish` closes it."""

    __slots__ = ("_sheet", "_stream")

    def __init__(self, stream: TextIO, sheet: Sheet) -> None:
        self._stream = stream
        self._sheet = sheet
        # The root element, open: ElementTree writes `<testsuites name="..." />`.
        root = _text(ElementTree.Element("testsuites", name=_safe(sheet.title or sheet.id)))
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        stream.write(root.removesuffix("/>").rstrip() + ">\n")

    def add(self, marks: Marks) -> None:
        """Write the suite of a student."""
        suite = ElementTree.Element("testsuite", name=_safe(marks.student.id))
        for problem, kind, result in zip(self._sheet.problems, marks.kinds, marks.results,
                                         strict=True):
            case = ElementTree.SubElement(
                suite, "testcase", classname=_safe(self._sheet.id), name=_safe(problem.id))
            if result is not None and result.ms is not None:
                case.set("time", f"{result.ms / 1000:.6f}")
            _outcome(case, problem, "skipped" if marks.status == MISSING else kind, result)
        counts = {name: str(len(suite.findall(f"testcase/{tag}"))) for name, tag in (
            ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}
        suite.attrib.update(tests=str(len(suite)), **counts)
        self._stream.write(_text(suite) + "\n")

    def finish(self) -> None:
        self._stream.write("</testsuites>\n")


def _outcome(case: ElementTree.Element, problem: Problem, kind: str, result: Result | None
             ) -> None:
    """Fill in a test case; it stays empty if the answer is right."""
    if result is None or kind == BLANK:
        ElementTree.SubElement(
            case, "skipped", message="no answer" if kind == BLANK else "nothing handed in")
        return
    if kind == RIGHT:
        return
    found = feedback(problem, result, FULL)
    name = "review" if kind == WAITING else result.verdict
    mistake = None if problem.hidden else result.mistake
    outcome = ElementTree.SubElement(
        case, "error" if kind == WAITING else "failure",
        message=_safe(mistake or found.message or found.verdict), type=_safe(mistake or name))
    lines = [f"{number(result.score)} of {number(result.max)}: {found.verdict}"]
    lines += [f"answer: {result.answer.strip()}"] if result.answer.strip() else []
    lines += [f"read as: {found.read_as}"] if found.read_as else []
    lines += [text for text in (found.message, found.witness, found.comment) if text]
    outcome.text = "\n".join(map(_safe, lines))


def _safe(text: str) -> str:
    """Return the text with visible escapes, without characters that XML 1.0 cannot write."""
    shown = visible(text)
    return shown if shown.isascii() else "".join([c for c in shown if _is_xml(ord(c))])


def _is_xml(code: int) -> bool:
    # https://www.w3.org/TR/xml/#charsets
    return (code >= 0x20 or code in (9, 10, 13)) and not (
        0xd800 <= code <= 0xdfff or code in (0xfffe, 0xffff))


def _text(element: ElementTree.Element) -> str:
    return ElementTree.tostring(element, "unicode")
