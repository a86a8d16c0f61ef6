"""One class, written in the export format of every system: whatever they hand in by, the marks are
the same.

`python tests/tools/homework_formats.py FOLDER [STUDENTS]` writes all formats, each with the roster
that belongs to it, and checks them.
"""

from __future__ import annotations

import csv
import io
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

ROME = ZoneInfo("Europe/Rome")
DUE = datetime(2026, 11, 20, 23, 59, 59, tzinfo=ROME)
# A function, its derivative as students write it, and answers that are wrong.
PROBLEMS = (
    ("1a", "x^2 sin x", ["2x sin x + x^2 cos x", "x(2sinx + x cosx)"], ["2x cos x", "2x sin x"]),
    ("1b", "sin(x^2)", ["2x cos(x^2)", "2xcos(x²)"], ["cos(x^2)"]),
    ("1c", "e^(3x)", ["3e^(3x)", "3e^{3x}"], ["e^(3x)", "3x e^(3x-1)"]),
    ("2a", "x/(1 + x^2)", ["(1 - x^2)/(1 + x^2)^2"], ["1/(2x)", "(1 + x^2)/(1 - x^2)^2"]),
    ("2b", "ln(1 + x^2)", ["2x/(1 + x^2)"], ["1/(1 + x^2)"]),
    ("2c", "sqrt(1 + x^2)", ["x/sqrt(1 + x^2)", "x/√(1 + x²)"], ["1/(2sqrt(1 + x^2))"]),
    ("3", "x^3 - 4x", ["3x^2 - 4", "3x² − 4"], ["3x^2 - 4x", "x^2 - 4"]),
    ("4", "tan x", ["1/cos^2 x", "sec^2 x", "1 + tan^2 x"], ["1/cos x", "-1/cos^2 x"]),
    ("5", "x ln x", ["ln x + 1", "1 + ln(x)"], ["1/x", "ln x"]),
    ("6", "cos(2x)", ["-2sin(2x)", "-2 sin 2x"], ["-sin(2x)", "2sin(2x)"]),
    ("7", "(2x + 1)^5", ["10(2x + 1)^4"], ["5(2x + 1)^4"]),
    ("8", "1/x^2", ["-2/x^3", "-2x^(-3)"], ["2/x^3", "-2/x"]),
    ("9", "e^(-x^2)", ["-2x e^(-x^2)", "-2xe^{-x^2}"], ["e^(-x^2)"]),
    ("10a", "arctan x", ["1/(1 + x^2)"], ["1/sqrt(1 - x^2)"]),
    ("10b", "x^2 + 2^x", ["2x + 2^x ln 2"], ["2x + x 2^(x-1)"]))
NAMES = (
    ("Zhang", "Wei"), ("Zhang", "Wei"), ("Müller", "Jürgen"), ("Mueller", "Juergen"),
    ("王", "伟"), ("欧阳", "娜娜"), ("García López", "María José"), ("van der Berg", "Anna-Lena"),
    ("O'Brien", "Seán"), ("Sørensen", "Bjørn"), ("Łukasiewicz", "Jan"), ("Çelik", "Işıl"),
    ("Nguyễn", "Văn Minh"), ("Иванов", "Пётр"), ("Smith", "John"), ("Smith", "John"))
FIRST = ("Ada", "Ben", "Chiara", "Dmitri", "Eva", "Farid", "Grete", "Hana", "Igor", "Jana", "Kofi",
         "Lea", "Mina", "Noël", "Olu", "Pia", "Quinn", "Rosa", "Saïd", "Tove")
LAST = ("Abel", "Brandt", "Castro", "Dvořák", "Eriksen", "Fischer", "Gómez", "Hansen", "Ito",
        "Jansen", "Kovács", "Lindström", "Moreau", "Novak", "Okafor", "Petit", "Rossi", "Schäfer",
        "Tanaka", "Ünal")
STANDS = "schema = 1\n[sheet]\nid = \"hw3\"\ntitle = \"Homework 3\"\n[late]\npenalty = 0.25\n" \
    "due = 2026-11-20T23:59\ntimezone = \"Europe/Rome\"\n"


class Person:
    """A student: who it is for each system, and what was handed in, and when.

    attempts: (time, answers) of each, the last one last.
    """

    def __init__(self, k: int, last: str, first: str, draw: random.Random) -> None:
        self.last, self.first = last, first
        self.sis = str(710000 + k)
        self.login = f"login{k:03}"
        self.email = f"{self.login}@uni.example"
        self.canvas = 20000 + 7 * k
        self.participant = 5000 + 3 * k
        self.submission = 900000 + k
        self.attempts: list[tuple[datetime, dict[str, str]]] = []
        if k % 17 == 16:        # who hands in nothing
            return
        time = DUE - timedelta(minutes=draw.randrange(5, 9000))
        if k % 9 == 3:
            self.attempts.append((time - timedelta(days=7), self._answers(draw, 0.4)))
        if k % 11 == 5:
            time = DUE + timedelta(minutes=draw.randrange(5, 3000))
        # Who hands in again hands in all of it.
        self.attempts.append((time, self._answers(draw, 0.8, 0.0 if self.attempts else 0.05)))

    def _answers(self, draw: random.Random, right: float, blank: float = 0.05) -> dict[str, str]:
        found = {}
        for id, _, good, wrong in PROBLEMS:
            if draw.random() >= blank:
                found[id] = draw.choice(good if draw.random() < right else wrong)
        return found

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    def marks(self, timed: bool = True) -> tuple[str, ...]:
        """What `marks` should find: raw score, penalty, status, and the points of each problem."""
        if not self.attempts:
            return ("0", "0", "missing", *[""] * len(PROBLEMS))
        time, answers = self.attempts[-1]
        points = [2 * (answers.get(id) in right) for id, _, right, _ in PROBLEMS]
        late = sum(points) / 4 if time > DUE and timed else 0
        return str(sum(points)), f"{late:g}", "graded", *map(str, points)


def class_of(size: int, seed: int = 17) -> list[Person]:
    """A class; the names of the first ones are the odd ones."""
    draw = random.Random(seed)
    names = [*NAMES, *[(LAST[k % 20], FIRST[(k // 20 + k) % 20]) for k in range(size)]][:size]
    return [Person(k, *name, draw) for k, name in enumerate(names)]


def sheet_text() -> str:
    return STANDS + "".join([f'[[problem]]\nid = "{id}"\nfunction = "{function}"\npoints = 2\n'
                             for id, function, _, _ in PROBLEMS])


def text(answers: dict[str, str]) -> str:
    return "".join([f"{id}: {answer}\n" for id, answer in answers.items()])


def table(rows: list[list[str]], sign: str = ",") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=sign).writerows(rows)
    return stream.getvalue()


# --- rosters ------------------------------------------------------------------------------------

def canvas_roster(people: list[Person]) -> str:
    return table([
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Homework 3 (77)"],
        ["", "", "", "", "", "Manual Posting"], ["    Points Possible", "", "", "", "", "30"],
        *[[f"{p.last}, {p.first}", str(p.canvas), p.sis, p.login, "A", ""] for p in people],
        ["Student, Test", "1", "", "0f3a", "A", ""]])


def moodle_roster(people: list[Person]) -> str:
    return "\ufeff" + table([
        ["Identifier", "Full name", "ID number", "Email address", "Status", "Grade",
         "Maximum Grade", "Last modified (submission)"],
        *[[f"Participant {p.participant}", p.name, p.sis, p.email, "Submitted", "", "30.00",
           f"{p.attempts[-1][0]:%A, %d %B %Y, %I:%M %p}" if p.attempts else "-"]
          for p in people]])


def plain_roster(people: list[Person]) -> str:
    return table([["student_id", "last_name", "first_name", "email", "login"],
                  *[[p.sis, p.last, p.first, p.email, p.login] for p in people]])


# --- formats: path to bytes ---------------------------------------------------------------------

Files = dict[str, bytes]


def encoded(k: int, said: str) -> bytes:
    """Text in one of the encodings that students' editors write."""
    if k % 13 == 4:
        return said.encode("utf-16")
    if k % 13 == 7:
        return said.replace("√", "sqrt").replace("−", "-").encode("cp1252")
    return said.encode("utf-8-sig" if k % 13 == 9 else "utf-8")


def attempts(people: list[Person]) -> Iterator[tuple[int, Person, datetime, dict[str, str]]]:
    """All attempts: how many were before, whose, when, and what."""
    for person in people:
        for number, (time, answers) in enumerate(person.attempts):
            yield number, person, time, answers


def canvas_files(people: list[Person]) -> Files:
    found = {}
    for number, p, time, answers in attempts(people):
        name = "".join([c for c in f"{p.last}{p.first}".lower() if c.isalnum()])
        late = "_LATE" if time > DUE else ""
        if p.canvas % 5:
            again = f"-{number}" if number else ""
            found[f"{name}{late}_{p.canvas}_{p.submission + 1000 * number}_hw3{again}.txt"] = \
                encoded(p.canvas, text(answers))
        elif (time, answers) == p.attempts[-1]:
            lines = "".join([f"<p>{line}</p>" for line in text(answers).split("\n")])
            title = f"Homework 3: {p.name}".replace("'", "&#39;")
            found[f"{name}{late}_{p.canvas}_text.html"] = (
                f'<html xmlns="http://www.w3.org/1999/xhtml">\n<head>\n  <title>{title}</title>\n'
                f'</head>\n<body>\n<h1>{title}</h1>\n<div style="width: 600px;">\n  {lines}\n'
                "</div>\n</body>\n</html>").encode()
    return found


def moodle_folders(people: list[Person]) -> Files:
    """Moodle has the last attempt only; its worksheet has the time."""
    found = {}
    for p in people:
        if p.attempts:
            kind, name = (("file", "hw3.txt") if p.participant % 4 else
                          ("onlinetext", "onlinetext.html"))
            said = text(p.attempts[-1][1])
            found[f"{p.name}_{p.participant}_assignsubmission_{kind}_/{name}"] = (
                encoded(p.participant, said) if kind == "file" else
                said.replace("\n", "<br>").encode())
    return found


def gradescope_folders(people: list[Person]) -> Files:
    listed, found = [], {}
    for p in people:
        if p.attempts:
            time = p.attempts[-1][0].astimezone(UTC)
            listed.append(
                f"submission_{p.submission}:\n  :submitters:\n  - :name: {p.name}\n    :sid:"
                f" '{p.sis}'\n    :email: {p.email}\n  :created_at: {time:%Y-%m-%d %H:%M:%S}"
                ".861687000 Z\n  :score: 0.0\n")
            found[f"submission_{p.submission}/hw3.txt"] = encoded(
                p.submission, text(p.attempts[-1][1]))
    return {"submission_metadata.yml": "".join(listed).encode(), **found}


def nbgrader_tree(people: list[Person]) -> Files:
    found = {}
    for p in people:
        if p.attempts:
            time, answers = p.attempts[-1]
            folder = f"submitted/{p.login}/hw3"
            found[f"{folder}/answers.txt"] = encoded(p.canvas, text(answers))
            found[f"{folder}/timestamp.txt"] = (
                f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S}.123456 UTC".encode())
    return found


def plain_folders(people: list[Person]) -> Files:
    """A folder for each student, named by whatever tells them apart."""
    same = [p.name for p in people]
    return {f"{p.name if same.count(p.name) == 1 and k % 3 == 0 else p.sis}/answers.txt": encoded(
        k, text(p.attempts[-1][1])) for k, p in enumerate(people) if p.attempts}


def google_form(people: list[Person]) -> Files:
    rows = [[f"{t:%m/%d/%Y %H:%M:%S}", p.email, p.name, *[a.get(id[0], "") for id in PROBLEMS]]
            for _, p, t, a in attempts(people)]
    return {"responses.csv": table([
        ["Timestamp", "Email Address", "Your name", *[f"Question {id[0]} [2 points]"
                                                      for id in PROBLEMS]], *rows]).encode()}


def moodle_quiz(people: list[Person]) -> Files:
    def clock(time: datetime) -> str:
        return f"{time:%d %B %Y  %I:%M %p}"

    rows = [[p.last, p.first, p.sis, p.email, "Finished", clock(t - timedelta(hours=1)), clock(t),
             "1 hour", "0.00", *[a.get(id[0], "-") for id in PROBLEMS]]
            for _, p, t, a in attempts(people)]
    return {"quiz.csv": table([
        ["Last name", "First name", "ID number", "Email address", "Status", "Started", "Completed",
         "Duration", "Grade/30.00", *[f"Response {k + 1}" for k in range(len(PROBLEMS))]],
        *rows]).encode("utf-8-sig")}


def canvas_quiz(people: list[Person]) -> Files:
    """The newest attempt stands first."""
    rows = [[p.name, str(p.canvas), p.sis, "A", "5", f"{t.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC",
             str(n + 1), *[cell for id in PROBLEMS for cell in (a.get(id[0], ""), "0")], "0", "0",
             "0"] for n, p, t, a in reversed(list(attempts(people)))]
    return {"report.csv": table([
        ["name", "id", "sis_id", "section", "section_id", "submitted", "attempt",
         *[cell for k, id in enumerate(PROBLEMS) for cell in (
             f"{70000 + k}: Differentiate {id[1]} for 2 points.", "2.0")],
         "n correct", "n incorrect", "score"], *rows]).encode()}


def spreadsheet(people: list[Person]) -> Files:
    rows = [[p.login, f"{t:%d.%m.%Y %H:%M}", *[a.get(id[0], "") for id in PROBLEMS]]
            for _, p, t, a in attempts(people)]
    return {"class.csv": table([["Login", "Submitted at", *[id[0] for id in PROBLEMS]], *rows],
                               ";").encode("utf-16")}


FORMATS: dict[str, tuple[Callable[[list[Person]], Files], Callable[[list[Person]], str]]] = {
    "canvas": (canvas_files, canvas_roster), "moodle": (moodle_folders, moodle_roster),
    "gradescope": (gradescope_folders, plain_roster), "nbgrader": (nbgrader_tree, plain_roster),
    "folders": (plain_folders, plain_roster), "form": (google_form, canvas_roster),
    "moodle quiz": (moodle_quiz, moodle_roster), "canvas quiz": (canvas_quiz, canvas_roster),
    "spreadsheet": (spreadsheet, canvas_roster)}
# These do not say when something was handed in.
TIMELESS = ("folders",)


def write(root: Path, name: str, people: list[Person]) -> tuple[Path, Path, Path]:
    """Write a class in one format; return the paths of sheet, hand-ins and roster."""
    made, roster = FORMATS[name]
    files = made(people)
    for path, data in files.items():
        (root / "in" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "in" / path).write_bytes(data)
    (root / "sheet.toml").write_text(sheet_text(), encoding="utf-8")
    (root / "roster.csv").write_text(roster(people), encoding="utf-8")
    first = next(iter(files))
    return (root / "sheet.toml", root / "in" / first if first.endswith(".csv") else root / "in",
            root / "roster.csv")


def marks(root: Path, name: str, people: list[Person], jobs: str) -> dict[str, tuple[str, ...]]:
    """Check a class, and return the marks of everybody by the number of the school."""
    sheet, handed_in, roster = write(root, name, people)
    done = subprocess.run([
        sys.executable, "-m", "gradcli", "hw", "run", str(sheet), str(handed_in), "--roster",
        str(roster), "-o", str(root / "results"), "-q", "-j", jobs, "--exit-zero"], check=False,
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(root / "results/gradebook.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["student_id"]: tuple([row[key] for key in (
        "raw_score", "late_penalty", "status", *[id[0] for id in PROBLEMS])]) for row in rows}


if __name__ == "__main__":
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    of_class = class_of(size)
    for system in FORMATS:
        found = marks(Path(sys.argv[1]) / system, system, of_class, "2")
        due = {p.sis: p.marks(system not in TIMELESS) for p in of_class}
        other = [id for id in {*due, *found} if found.get(id) != due.get(id)]
        print(f"{system}: {len(found)} students, {len(other)} with other marks", *other[:5])
