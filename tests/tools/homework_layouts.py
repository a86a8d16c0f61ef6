"""A class that hands in text files, each laid out by its own student: some problems are left
empty, some answers take several lines, and there are sentences around and between.

`python tests/tools/homework_layouts.py [STUDENTS [SEED]]` writes a class, checks it, and says how
many of the right answers are not marked right; of a negative seed many answers are numbers.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from homework_formats import PROBLEMS

from gradcli.homework.handed_in.class_tables import open_submissions
from gradcli.homework.marking.marks import kind
from gradcli.homework.marking.output_folder import OutputFolder
from gradcli.homework.marking.results import read_results
from gradcli.homework.run import RunOptions, run
from gradcli.homework.sheets.formats import parse

SHEETS = (("1a", "1b", "1c", "2", "3a", "3b", "4", "5"), ("1", "2", "3", "4", "5", "6", "7", "8"),
          ("1a", "1b", "2a", "2b", "2c", "3a", "3b", "4"))
# How a problem with parts begins, a part, and a problem without parts: {n} is the number, {p} the
# letter, {A} the answer. The first line is what stands above all, the last what stands below.
LAYOUTS: dict[str, tuple[str, str, str, str, str]] = {
    name: (above, first, part, single, below) for name, above, first, part, single, below in (
        ("colon", "", "", "{n}{p}: {A}", "{n}: {A}", ""),
        ("bracket", "", "", "{n}{p}) {A}", "{n}) {A}", ""),
        ("dash", "", "", "{n}{p} – {A}", "{n} – {A}", ""),
        ("hyphen", "", "", "{n}{p} - {A}", "{n} - {A}", ""),
        ("tab", "", "", "{n}{p}\t{A}", "{n}\t{A}", ""),
        ("equals", "", "", "{n}{p} = {A}", "{n} = {A}", ""),
        ("arrow", "", "", "{n}{p} -> {A}", "{n} -> {A}", ""),
        ("letter apart", "", "", "{n} {p}) {A}", "{n}) {A}", ""),
        ("dot within", "", "", "{n}.{p}) {A}", "{n}) {A}", ""),
        ("dots", "", "", "{n}.{p}. {A}", "{n}. {A}", ""),
        ("letter in brackets", "", "", "{n}({p}) {A}", "{n}) {A}", ""),
        ("all in brackets", "", "", "({n}{p}) {A}", "({n}) {A}", ""),
        ("dot and bracket", "", "", "{n}{p}.) {A}", "{n}.) {A}", ""),
        ("Q", "", "", "Q{n}{p}. {A}", "Q{n}. {A}", ""),
        ("Aufgabe", "", "", "Aufgabe {n}{p}) {A}", "Aufgabe {n}) {A}", ""),
        ("Aufgabe alone", "", "", "Aufgabe {n}{p}\n{A}", "Aufgabe {n}\n{A}", ""),
        ("Problem", "", "", "Problem {n} ({p}): {A}", "Problem {n}: {A}", ""),
        ("lines of their own", "", "", "{n}{p}\n{A}\n", "{n}\n{A}\n", ""),
        ("lines of their own, with signs", "", "", "{n}{p})\n   {A}\n", "{n})\n   {A}\n", ""),
        ("letters below", "", "{n}.", "{p}) {A}", "{n}. {A}", ""),
        ("letters below, indented", "", "{n})", "    {p}) {A}", "{n})  {A}", ""),
        ("letters behind", "", "{n}) ", "{p}) {A}", "{n}) {A}", ""),
        ("problems and letters", "", "Problem {n}", "({p}) {A}", "Problem {n}\n{A}", ""),
        ("problems and items", "", "Problem {n}:", "- ({p}) {A}", "Problem {n}: {A}", ""),
        ("bold", "", "", "**{n}{p})** {A}\n", "**{n})** {A}\n", ""),
        ("bold items", "", "", "- **{n}{p}**: {A}", "- **{n}**: {A}", ""),
        ("headings", "# Homework 3\n", "", "## Problem {n}{p}\n{A}\n", "## Problem {n}\n{A}\n",
         ""),
        ("headings of two levels", "", "# Problem {n}", "## ({p})\n{A}", "# Problem {n}\n{A}", ""),
        ("table", "| Problem | Answer |\n|---|---|", "", "| {n}{p} | {A} |", "| {n} | {A} |", ""),
        ("items of LaTeX", "\\begin{itemize}", "", "\\item[{n}{p}] {A}", "\\item[{n}] {A}",
         "\\end{itemize}"),
        ("lists of LaTeX", "\\begin{enumerate}", "\\item", "    \\item {A}", "\\item {A}",
         "\\end{enumerate}"),
        ("sections of LaTeX", "", "\\section*{Problem {n}}", "\\textbf{({p})} {A}",
         "\\section*{Problem {n}}\n{A}", ""),
        ("bars", "", "", "{n}{p} | {A}", "{n} | {A}", ""),
        ("Answer to", "", "", "Answer to {n}{p}: {A}", "Answer to {n}: {A}", ""),
        ("full width", "", "", "（{n}{p}）{A}", "（{n}）{A}", ""),
        ("numbers of Markdown", "", "{n}.", "   {p}. {A}", "{n}. {A}", ""),
        ("square", "", "", "[{n}{p}] {A}", "[{n}] {A}", ""),
        ("blanks", "", "", "{n}{p}   {A}", "{n}   {A}", ""))}
# Functions whose derivatives look like labels.
NUMBERS = (
    ("5", "2x + 1", ["2"], ["3", "x"]), ("6", "7 - 2x", ["-2", "−2"], ["2"]),
    ("7", "3x", ["3"], ["1", "3x"]), ("8", "4x - 1", ["4"], ["4x"]),
    ("9", "|x|", ["|x|/x", "x/|x|"], ["1"]), ("10", "x^2 - 2x", ["2x - 2", "2 (x - 1)"], ["2 x"]))
ABOVE = ("", "", "", "Ann Lee\nCalculus I\nHomework 3\n", "Name: Ann Lee\nDate: 20/11/2026\n",
         "Hi Professor,\nhere are my answers:\n")
BETWEEN = ("I used the chain rule here.", "(by the product rule)", "This one was hard!",
           "We simplify and collect terms.")
BELOW = ("", "", "", "Thanks and have a nice weekend!", "Best,\nAnn")


def label(template: str, id: str, answer: str = "") -> str:
    number = id.rstrip("abc")
    return template.replace("{n}", number).replace("{p}", id[len(number):]).replace("{A}", answer)


def written(name: str, ids: Sequence[str], answers: dict[str, str], draw: random.Random) -> str:
    """A hand-in with these answers; those that are missing are left out, or their labels are."""
    above, first, part, single, below = LAYOUTS[name]
    lines = [draw.choice(ABOVE), above]
    number = ""
    numbered = name == "lists of LaTeX"     # where nothing may be left out
    leave_out = draw.random() < 0.3 and not numbered
    close = "  \\end{enumerate}"
    for id in ids:
        has_parts = id[-1] in "abc"
        if numbered and number and id.rstrip("abc") != number:
            lines.append(close)
            number = ""
        if has_parts and first and id.rstrip("abc") != number:
            number = id.rstrip("abc")
            lines.append(label(first, id))
            if numbered:
                lines.append("  \\begin{enumerate}")
        if name == "table":     # which has a line for each
            answers = {**answers, id: " ".join(answers.get(id, "").split())}
        if id in answers or not leave_out:
            lines.append(label(part if has_parts else single, id, answers.get(id, "")))
            if answers.get(id) and draw.random() < 0.05:
                lines.append(draw.choice(BETWEEN))
    lines += [*[close] * bool(numbered and number), below, draw.choice(BELOW)]
    return "\n".join(filter(None, lines)) + "\n"


def spoiled(text: str, draw: random.Random) -> bytes:
    """The bytes of a text as editors save it."""
    if draw.random() < 0.3:
        text = "\n".join([line.rstrip() for line in text.split("\n")])
    if draw.random() < 0.1:
        text = text.replace("\n", "\n\n")
    if draw.random() < 0.2:
        text = text.replace(") ", ")\u00a0").replace(": ", ":\u00a0")
    if draw.random() < 0.1:
        text = text.replace(") ", ")\t")
    if draw.random() < 0.3:
        text = text.replace("\n", "\r\n")
    return text.encode("utf-8-sig" if draw.random() < 0.2 else "utf-8")


def answer_of(good: Sequence[str], wrong: Sequence[str], draw: random.Random) -> tuple[str, str]:
    """An answer, "" for none, and what it is: right, wrong or blank."""
    chance = draw.random()
    if chance < 0.12:
        return "", "blank"
    if chance < 0.3:
        return draw.choice(wrong), "wrong"
    answer = draw.choice(good)
    if draw.random() < 0.1:
        answer = f"{answer}\n= {answer}" if draw.random() < 0.5 else answer.replace(
            " + ", "\n    + ")
    return answer, "right"


def measured(folder: Path, students: int, seed: int, numbers: bool = False
             ) -> tuple[Counter[tuple[str, str]], list[str]]:
    """How often (what an answer is, how it is marked), and the hand-ins where they differ.

    numbers: whether many of the right answers are numbers.
    """
    draw = random.Random(seed)
    counts: Counter[tuple[str, str]] = Counter()
    odd = []
    for k, ids in enumerate(SHEETS):
        problems = PROBLEMS[:8]
        if numbers:
            problems = tuple(draw.choices(NUMBERS, k=5)) + PROBLEMS[5:8]
        meant = {}
        subs = folder / f"{seed}-{k}"
        subs.mkdir(parents=True)
        for n in range(students * k // 3, students * (k + 1) // 3):
            drawn = {id: answer_of(*row[2:], draw) for id, row in zip(ids, problems, strict=True)}
            name = list(LAYOUTS)[n % len(LAYOUTS)]
            path = subs / f"s{n:03}.txt"
            path.write_bytes(spoiled(written(name, ids, {
                id: answer for id, (answer, what) in drawn.items() if what != "blank"}, draw),
                draw))
            meant[path.stem] = name, path, {id: what for id, (_, what) in drawn.items()}
        sheet = parse("".join([
            f"{id}: {row[1]}\n" for id, row in zip(ids, problems, strict=True)]), "hw3.txt")
        out = f"{subs}-out"
        run(sheet, open_submissions(str(subs), sheet), None, OutputFolder(out), RunOptions())
        for result in read_results(f"{out}/results.ndjson"):
            name, path, theirs = meant[result.student]
            place = theirs[result.problem], kind(sheet[result.problem], result)
            counts[place] += 1
            if place[0] != place[1] and place != ("wrong", "review"):
                odd.append(f"{path}: {name}: {result.problem} is {place[0]}, marked {place[1]}:"
                           f" {result.answer!r} {result.doubt or result.message}")
    return counts, odd


def main() -> None:
    students, seed = [*map(int, sys.argv[1:]), *(400, 1)[len(sys.argv) - 1:]]
    counts, odd = measured(Path(tempfile.mkdtemp()), students, abs(seed), seed < 0)
    print(*odd, sep="\n")
    right = sum([count for (what, _), count in counts.items() if what == "right"])
    print(counts)
    print(f"{1 - counts['right', 'right'] / right:.2%} of {right} right answers not marked right")


if __name__ == "__main__":
    main()
