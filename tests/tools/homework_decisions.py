"""What happens to decisions of a teacher: spreadsheets, edited answers, killed runs, full disks.

    python tests/tools/homework_decisions.py 100            # each of them so many times
    python tests/tools/homework_decisions.py 100 spreadsheet --office soffice

Each time a class hands in, some of its answers get scores and comments, and something happens. Then
all scores that were given have to count, or to stand in review.csv with the answer that waits.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import transcripts
from folders import ROOT

from gradcli.homework.marking.overrides import form, key
from gradcli.homework.marking.review import COLUMNS

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252", "mac_roman")
SHEET = """\
schema = 1
[sheet]
id = "hw"
[[problem]]
id = "1"
function = "x^2 sin(x)"
points = 2
[[problem]]
id = "1-2"
function = "sin(x^2)"
points = 4
"""
NAMES = ("0007", "007", "12345678901", "12345678902", "MAR1", "Jürgen Groß", "王伟", "1e5", "ann",
         "=x", "s-1", "Zoë", "O'Neil", "b, c", 'q"q', "1/2", "02")
RIGHT = {"1": "2x sin x + x^2 cos x", "1-2": "2x cos(x^2)"}
COMMENTS = ("", "für Sie – schön", "see me, please", "-1 for the sign", "a \"word\"\nin two lines",
            "50%", "1.5")


# --- review.csv -----------------------------------------------------------------------------------


def read_list(folder: Path) -> list[dict[str, str]]:
    with open(folder / "review.csv", newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def write_list(folder: Path, rows: Iterable[Mapping[str, str]]) -> None:
    rows = list(rows)
    (folder / "review.csv").write_bytes(saved(rows, "utf-8-sig", ","))


def saved(rows: list[Mapping[str, str]], encoding: str, separator: str, program: str = ""
          ) -> bytes:
    """The bytes of a table as a spreadsheet saves it; "excel": what looks like a number became one.
    """
    names = list(dict.fromkeys([name for row in rows for name in row])) or list(COLUMNS)
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, names, restval="", delimiter=separator,
                            lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: shown(text, separator) if program == "excel" else text
                         for name, text in row.items()})
    # What an encoding has not becomes a question mark.
    return stream.getvalue().encode(encoding, "replace")


def shown(text: str, separator: str) -> str:
    """A cell as Excel shows it after it was opened: numbers, dates and truth values."""
    if text in ("MAR1", "1-2", "1/2"):
        return {"MAR1": "01. Mrz", "1-2": "01. Feb", "1/2": "01. Feb"}[text]
    if text.lower() in ("true", "false"):
        return "WAHR" if text.lower() == "true" else "FALSCH"
    try:
        number = float(text)
    except ValueError:
        return text
    return (f"{number:.2E}" if abs(number) >= 1e10 else f"{number:g}").replace(
        ".", "," if separator == ";" else ".")


# --- a class ----------------------------------------------------------------------------------


class Room:
    """A class in a folder, its answers, and what the teacher gave to whom."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(f"decisions {seed}")
        self.answers: dict[tuple[str, str], str] = {}
        self.given: dict[tuple[str, str], tuple[str, float]] = {}
        self.alone: set[tuple[str, str, str]] = set()   # what was said of one answer alone
        (folder / "sheet.toml").write_text(SHEET)
        for name in NAMES:
            for problem in RIGHT:
                self.answers[name, problem] = self.answer(problem)
        self.hand_in()

    def answer(self, problem: str) -> str:
        """A right one, one that several give, or one that is nobody else's."""
        some = RIGHT[problem], f"{RIGHT[problem]} +", "2x cos(", f"=x{self.random.random()}("
        return self.random.choice(some)

    def hand_in(self) -> None:
        rows = [f'{{"student": "{name}", "problem": "{problem}", "answer": "{text}"}}\n'
                for (name, problem), text in self.answers.items()]
        text = "".join(rows).replace('q"q', 'q\\"q')
        (self.folder / "class.ndjson").write_text(text, encoding="utf-8")

    def command(self, *arguments: str, before: str = "pass") -> subprocess.Popen[str]:
        program = f"{before}\nfrom gradcli.cli.main import main\nmain()"
        return subprocess.Popen(
            [sys.executable, "-c", program, "hw", "run", "sheet.toml", "class.ndjson", "-j", "1",
             "-q", *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})

    def run(self) -> None:
        """Run once, in this process."""
        before, transcripts.ROOT = transcripts.ROOT, self.folder
        try:
            status, _, err = transcripts.in_process(
                ["hw", "run", "sheet.toml", "class.ndjson", "-j", "1", "-q"])
        finally:
            transcripts.ROOT = before
        assert status in (0, 1), (status, err)

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def decide(self) -> list[dict[str, str]]:
        """Give scores to half of the rows; return all."""
        rows = read_list(self.results)
        for row in rows:
            if row["override_score"] or row["reason"] in ("earlier answer",):
                continue
            if self.random.random() < 0.5:
                score = self.random.choice((0.5, 1.25, 1.0, 0.0, 2.0))
                row["override_score"] = f"{score:g}"
                row["comment"] = self.random.choice(COMMENTS)
                whose, *forms = row["digest"].split("-")
                for (name, problem), text in self.answers.items():
                    if whose == key(problem, name):     # whose answer may have changed since
                        self.given[name, problem] = text if form(text) in forms else "", score
                        self.alone.add((name, problem, text))
                    elif (whose == key(problem) and form(text) in forms
                          and (name, problem, text) not in self.alone):     # which goes before
                        self.given[name, problem] = text, score
        return rows

    def kept(self) -> None:
        """Hold what counts to what was given."""
        with open(self.results / "gradebook.csv", newline="", encoding="utf-8") as file:
            scores = {row["student_id"].removeprefix("'"): row for row in csv.DictReader(file)}
        rows = read_list(self.results)
        for (name, problem), (text, score) in self.given.items():
            if self.answers.get((name, problem)) == text:
                assert float(scores[name][problem]) == score, (name, problem, text, score)
            else:
                assert any(float(row["override_score"]) == score for row in rows
                           if row["override_score"]), (name, problem, score)


def edited(folder: Path, seed: int) -> None:
    """Answers change, come back, and students leave."""
    room = Room(folder, seed)
    room.run()
    write_list(room.results, room.decide())
    room.run()
    room.kept()
    there = dict(room.answers)
    for name, problem in room.random.sample(list(there), 8):
        room.answers[name, problem] = room.answer(problem)
    for problem in RIGHT:
        del room.answers[NAMES[0], problem]
    room.hand_in()
    room.run()
    room.kept()
    room.answers = there
    room.hand_in()
    room.run()
    room.kept()


def taken(folder: Path, seed: int) -> None:
    """Rows are taken out of the list, answers change and come back."""
    room = Room(folder, seed)
    room.run()
    write_list(room.results, room.decide())
    room.run()
    there = dict(room.answers)
    for _ in range(3):
        rows = read_list(room.results)
        write_list(room.results, room.random.sample(rows, room.random.randrange(len(rows) + 1)))
        for name, problem in room.random.sample(list(there), room.random.randrange(6)):
            room.answers[name, problem] = room.answer(problem)
        room.hand_in()
        room.run()
        room.kept()
    if room.random.random() < 0.5:
        (room.results / "review.csv").unlink()
    room.answers = there
    room.hand_in()
    room.run()
    room.kept()


def sheet(folder: Path, seed: int) -> None:
    """Points, functions and ids of the sheet change, and change back."""
    room = Room(folder, seed)
    room.run()
    write_list(room.results, room.decide())
    for old, new in (("points = 2", "points = 3"), ("x^2 sin(x)", "x^3 sin(x)"),
                     ('id = "1-2"', 'id = "other"'), ("points = 4", "points = 2.5"),
                     ('id = "hw"', 'id = "hw"\ntitle = "Chain"\nseed = 4')):
        (folder / "sheet.toml").write_text(SHEET.replace(old, new))
        room.run()
        if "other" not in new:
            room.kept()
    (folder / "sheet.toml").write_text(SHEET)
    room.run()
    room.kept()


def spreadsheet(folder: Path, seed: int, office: str = "") -> None:
    """The list is opened and saved in one of the encodings; by a real program if one is given."""
    room = Room(folder, seed)
    room.run()
    rows = room.decide()
    encoding = ENCODINGS[seed % len(ENCODINGS)]
    path = room.results / "review.csv"
    if office:
        through(office, rows, room.results, encoding, room.random)
    else:
        room.random.shuffle(rows)
        path.write_bytes(saved(rows, encoding, room.random.choice(",;\t"), "excel"))
    room.run()
    room.kept()
    room.run()
    room.kept()


# The numbers of encodings in the filter of LibreOffice for text; the last letter of a kind of cell:
# 1 as it is read, 2 text.
FILTERS = {"utf-8": 76, "utf-8-sig": 76, "utf-16": 65535, "cp1252": 1, "mac_roman": 2}


def through(office: str, rows: list[dict[str, str]], folder: Path, encoding: str,
            draw: random.Random) -> None:
    """Open the list with LibreOffice, save it as its own file, open that and save it as text."""
    path = folder / "review.csv"
    write_list(folder, rows)
    separator = draw.choice([44, 59, 9])
    with tempfile.TemporaryDirectory() as place:
        base = [office, f"-env:UserInstallation=file://{tempfile.gettempdir()}/decisions-office",
                "--headless", "--convert-to"]
        subprocess.run([*base, "ods", "--infilter=CSV:44,34,76,1", "--outdir", place, str(path)],
                       check=True, capture_output=True)
        subprocess.run([*base, f"csv:Text - txt - csv (StarCalc):{separator},34,{FILTERS[encoding]}"
                        ",1", "--outdir", str(folder), f"{place}/review.ods"], check=True,
                       capture_output=True)


def killed(folder: Path, seed: int) -> None:
    """Runs are killed at ten moments, with new decisions in between."""
    room = Room(folder, seed)
    room.run()
    write_list(room.results, room.decide())
    for _ in range(10):
        for name, problem in room.random.sample(list(room.answers), 3):
            if (name, problem) not in room.given:
                room.answers[name, problem] = room.answer(problem)
        room.hand_in()
        with room.command(*["--fresh"][:room.random.randrange(2)]) as process:
            time.sleep(room.random.uniform(0.05, 1.2))
            process.kill()
        if room.random.random() < 0.3:
            write_list(room.results, room.decide())
    room.run()
    room.kept()
    assert not [name for name in os.listdir(room.results) if name.startswith(".gradcli")]


def full(folder: Path, seed: int) -> None:
    """Files may not be longer than so many bytes, once the journal is, once the list is, ..."""
    room = Room(folder, seed)
    room.run()
    write_list(room.results, room.decide())
    room.run()
    before = {path.name: path.read_bytes() for path in room.results.iterdir() if path.is_file()}
    longest = max(map(len, before.values()))
    limit = room.random.randrange(longest - 200)    # times of other lengths are written, too
    with room.command("--fresh", before=(
            "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))")) as process:
        _, err = process.communicate()
    assert process.returncode == 3, err
    assert "error[E0748]: cannot write `results/" in err, err
    after = {path.name: path.read_bytes() for path in room.results.iterdir() if path.is_file()}
    after.pop("unfinished.ndjson", None)
    assert after == before
    room.run()
    room.kept()


def at_once(folder: Path, seed: int) -> None:
    """Several runs with decisions of their own."""
    room = Room(folder, seed)
    room.run()
    rows = [row for row in room.decide() if row["override_score"]]
    parts = [rows[k::3] for k in range(3)]
    several = []
    for k, part in enumerate(parts):
        (folder / f"{k}.csv").write_bytes(saved(part, "utf-8-sig", ","))
        several.append(room.command("--overrides", f"{k}.csv", "--wait"))
    for process in several:
        with process:
            _, err = process.communicate()
        assert process.returncode == 1, err
    room.kept()


KINDS = {one.__name__: one for one in (
    edited, taken, sheet, spreadsheet, killed, full, at_once)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", type=int)
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--office", default="")
    given = parser.parse_args()
    for name in given.kinds:
        good = 0
        for seed in range(given.times):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    if name == "spreadsheet":
                        spreadsheet(Path(folder), seed, given.office)
                    else:
                        KINDS[name](Path(folder), seed)
                    good += 1
                except AssertionError as wrong:
                    print(f"{name} {seed}: {wrong}", flush=True)
        print(f"{name}: {good} of {given.times}", flush=True)


if __name__ == "__main__":
    main()
