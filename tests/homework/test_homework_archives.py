"""Zip archives: those of a class, those of students, and those that were made to do harm."""

from __future__ import annotations

import io
import random
import stat
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from homework_formats import FORMATS, class_of
from homework_formats import write as write_class

from gradcli.base.errors import GradcliError
from gradcli.homework.handed_in.class_tables import open_submissions
from gradcli.homework.handed_in.files import MAX_MEMBERS, Archive
from gradcli.homework.handed_in.records import Submission, Unreadable
from gradcli.homework.handed_in.roster import open_roster
from gradcli.homework.sheets.formats import open_sheet, parse
from gradcli.homework.sheets.sheet import Sheet

IDS = ("1a", "1b", "2")
CLASS = {
    "plain": {"alice/answers.txt": "1a: x", "bob/answers.txt": "1b: y"},
    "one file each": {"alice.txt": "1a: x", "bob.json": '{"1b": "y"}'},
    "nbgrader": {"submitted/alice/hw3/answers.txt": "1a: x",
                 "submitted/bob/hw3/answers.txt": "1b: y", "source/hw3/answers.txt": "2: no"},
    "Moodle": {"Ann Lee_1_assignsubmission_file_/a.txt": "1a: x",
               "Bob Ray_2_assignsubmission_onlinetext_/onlinetext.html": "<p>1b: y</p>"},
    "Canvas": {"leeann_LATE_12_34_a.txt": "1a: x", "raybob_13_35_a.txt": "1b: y"},
    "names": {"José/answers.txt": "1a: x", "王伟/answers.txt": "1b: y"},
}


@pytest.fixture
def sheet() -> Sheet:
    return parse("\n".join(f"{id}: x^2" for id in IDS), "hw3.txt")


def packed(files: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def written(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return folder


def told(path: Path, sheet: Sheet) -> dict[str, tuple[bool, list[tuple[str, bool]]]]:
    return {one.student.id: (one.student.late, [(a.answer, a.fault is None) for a in one.answers])
            for one in open_submissions(str(path), sheet)}


def only(path: Path, sheet: Sheet) -> Submission:
    (one,) = open_submissions(str(path), sheet)
    return one


@pytest.mark.parametrize("below", ["", "class/", "submissions/"])
@pytest.mark.parametrize("shape", CLASS)
def test_an_archive_of_a_class_is_its_folder(
        tmp_path: Path, sheet: Sheet, shape: str, below: str) -> None:
    files: dict[str, str | bytes] = dict(CLASS[shape])
    beside: dict[str, str | bytes] = {"__MACOSX/._x": b"\0", f"{below}.DS_Store": b"\0"}
    (tmp_path / "class.zip").write_bytes(packed(
        {**{below + name: data for name, data in files.items()}, **beside}))
    found = told(tmp_path / "class.zip", sheet)
    if below != "submissions/" or shape != "one file each":
        assert found == told(written(tmp_path / "folder", files), sheet)
        assert len(found) == 2


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("top", ["", "export/"])
def test_an_archive_of_a_system_is_its_folder(tmp_path: Path, name: str, top: str) -> None:
    """With the times and the lists that systems put beside."""
    path, folder, roster = write_class(tmp_path, name, class_of(12))
    if not folder.is_dir():
        return
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as made:
        for file in folder.rglob("*"):
            made.write(file, f"{top}{file.relative_to(folder)}")
    sheet = open_sheet(str(path))
    found = [[(one.student.id, one.student.late, [(a.answer, a.fault, a.doubt)
                                                  for a in one.answers])
              for one in open_submissions(str(there), sheet, open_roster(str(roster)))]
             for there in (folder, tmp_path / "class.zip")]
    assert found[0] == found[1]


@pytest.mark.parametrize("shape", CLASS)
def test_what_students_packed_counts_as_if_it_were_not(
        tmp_path: Path, sheet: Sheet, shape: str) -> None:
    """Each student's files in an archive, in a folder and in the archive of the class."""
    loose: dict[str, str | bytes] = {}
    tight: dict[str, str | bytes] = {}
    for name, data in CLASS[shape].items():
        above, _, last = name.rpartition("/")
        there = f"{above}/" if above else ""
        stem, _, ending = last.rpartition(".")
        loose[name] = data
        tight[f"{there}{stem}.zip"] = packed({f"{stem}.{ending}" if there else f"hw.{ending}": data,
                                              "__MACOSX/._hw": b"\0"})
    expected = told(written(tmp_path / "loose", loose), sheet)
    assert told(written(tmp_path / "tight", tight), sheet) == expected
    (tmp_path / "class.zip").write_bytes(packed(tight))
    assert told(tmp_path / "class.zip", sheet) == expected


def test_one_archive_in_another(tmp_path: Path, sheet: Sheet) -> None:
    once = packed({"hw/answers.txt": "1a: x"})
    for depth, good in ((1, True), (2, True), (3, False)):
        one = only(written(tmp_path / str(depth), {"eve/hw.zip": once}), sheet)
        assert one.answers[0].answer == ("x" if good else "")
        if not good:
            assert "in an archive in an archive" in str(one.answers[0].fault)
        else:
            assert one.answers[0].file == "eve/hw.zip" + "/in.zip" * (depth - 1) + "/hw/answers.txt"
        once = packed({"in.zip": once})


def raw_name(name: bytes, utf8: bool) -> bytes:
    """An archive whose one member is called so, marked as UTF-8 or not."""
    data = packed({"a" * len(name): "1a: x"}).replace(b"a" * len(name), name)
    if utf8:
        at = data.index(b"PK\x01\x02")
        data = data[:6] + struct.pack("<H", 0x800) + data[8:at + 8] + struct.pack(
            "<H", 0x800) + data[at + 10:]
    return data


@pytest.mark.parametrize(("name", "utf8", "shown"), [
    ("Lösung.txt".encode(), True, "Lösung.txt"), ("Lösung.txt".encode(), False, "Lösung.txt"),
    ("Lösung.txt".encode("cp437"), False, "Lösung.txt"), (b"hw\\answers.txt", False,
                                                          "hw/answers.txt")])
def test_names_in_any_encoding(
        tmp_path: Path, sheet: Sheet, name: bytes, utf8: bool, shown: str) -> None:
    one = only(written(tmp_path, {"eve/hw.zip": raw_name(name, utf8)}), sheet)
    assert (one.answers[0].answer, one.answers[0].file) == ("x", f"eve/hw.zip/{shown}")


@pytest.mark.parametrize(("files", "students"), [
    (("hw/ann.txt", "hw/bob.txt", "hw/eve.tex"), ["ann", "bob", "eve"]),
    (("ann/hw.txt", "ann/hw.pdf"), ["ann"]), (("ann/answers.txt", "ann/a.png"), ["ann"]),
    (("answers.txt",), ["class"]), (("class/answers.txt",), ["class"]),
    (("x/ann/a.txt", "x/bob/a.txt"), ["ann", "bob"]), (("ann/a.txt", "bob.txt"), ["ann", "bob"])])
def test_whose_the_files_of_an_archive_are(
        tmp_path: Path, sheet: Sheet, files: tuple[str, ...], students: list[str]) -> None:
    (tmp_path / "class.zip").write_bytes(packed(dict.fromkeys(files, "1a: x")))
    assert list(told(tmp_path / "class.zip", sheet)) == students


def unusual(kind: str) -> bytes:
    """An archive with one member that is not read."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        entry = zipfile.ZipInfo({"up": "../../answers.txt", "root": "/etc/answers.txt",
                                 "dots": "a/./../answers.txt"}.get(kind, "answers.txt"))
        if kind == "link":
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        if kind in ("bzip2", "lzma"):
            entry.compress_type = zipfile.ZIP_BZIP2 if kind == "bzip2" else zipfile.ZIP_LZMA
        made.writestr(entry, "1a: x")
        if kind == "twice":
            with pytest.warns(UserWarning, match="Duplicate"):
                made.writestr(entry, "1a: y")
    data = out.getvalue()
    if kind == "encrypted":
        at = data.index(b"PK\x01\x02")
        data = data[:6] + b"\1\0" + data[8:at + 8] + b"\1\0" + data[at + 10:]
    return data


@pytest.mark.parametrize(("kind", "reason"), [
    ("up", "leads out"), ("root", "leads out"), ("dots", "leads out"), ("link", "a link"),
    ("bzip2", "unusual method"), ("lzma", "unusual method"), ("twice", "two files"),
    ("encrypted", "encrypted")])
def test_members_that_are_not_read_wait_for_a_person(
        tmp_path: Path, sheet: Sheet, kind: str, reason: str) -> None:
    one = only(written(tmp_path / "in", {"eve/hw.zip": unusual(kind)}), sheet)
    assert [answer.answer for answer in one.answers] == [""] * 3
    assert all(reason in str(answer.fault) for answer in one.answers)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["eve", "hw.zip", "in"]
    # In the archive of a class they are a student's as well.
    (tmp_path / "class.zip").write_bytes(unusual(kind))
    assert [set(map(bool, [answer.fault for answer in one.answers]))
            for one in open_submissions(str(tmp_path / "class.zip"), sheet)] == [{True}]


def test_an_archive_of_a_class_that_is_none(tmp_path: Path, sheet: Sheet) -> None:
    for data in (b"", b"PK", b"1a: x", packed({"a.txt": "x"})[:-9]):
        (tmp_path / "class.zip").write_bytes(data)
        with pytest.raises(GradcliError) as caught:
            open_submissions(str(tmp_path / "class.zip"), sheet)
        assert caught.value.code == "E0730"


# --- made to do harm ----------------------------------------------------------------------------

ZEROS = bytes(1024 * 1024)
NONE = packed({})
BOMBS: dict[str, Callable[[], bytes]] = {
    "zeros": lambda: packed({"answers.txt": ZEROS * 40}),
    "lines": lambda: packed({f"{k}.txt": b"1a: x\n" * 10_000 for k in range(MAX_MEMBERS)}),
    "nested": lambda: packed({f"{k}.zip": packed({"a.txt": ZEROS * 9}) for k in range(20)}),
    "archive": lambda: packed({"in.zip": packed({"in.zip": ZEROS * 30})}),
    "names": lambda: packed({f"{k:04}" + "x/" * 3000: b"" for k in range(300)}),
    "many": lambda: packed({str(k): b"" for k in range(MAX_MEMBERS + 1)}),
    "directory": lambda: b"PK\x01\x02" * 3_000_000 + NONE[:12] + struct.pack(
        "<L", 12_000_000) + bytes(6),
    "claims": lambda: NONE[:8] + b"\xff" * 8 + NONE[16:],
}


def harmless(tmp_path: Path, sheet: Sheet, data: bytes) -> Submission:
    """Read a student's archive: in time, in bounds of memory, without an exception."""
    folder = written(tmp_path, {"eve/hw.zip": data})
    begin = time.process_time()
    one = only(folder, sheet)
    assert time.process_time() - begin < 2
    return one


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs(tmp_path: Path, sheet: Sheet, bomb: str) -> None:
    data = BOMBS[bomb]()
    one = harmless(tmp_path, sheet, data)
    assert any(answer.fault for answer in one.answers)
    if bomb == "lines":     # is long to trace
        return
    tracemalloc.start()
    try:
        one = only(tmp_path, sheet)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * 1024 * 1024


def test_archives_that_were_cut_off_or_changed(tmp_path: Path, sheet: Sheet) -> None:
    """Each has its answers, or waits for a person; no changed byte makes it blank."""
    whole = packed({"hw/answers.txt": "1a: x\n1b: y\n2: z\n" * 20, "b.txt": "2: z", "c.zip": packed(
        {"d.txt": "1a: x"})})
    drawn = random.Random(17)
    changed = [whole[:len(whole) * k // 20] for k in range(20)]
    for _ in range(200):
        data = bytearray(whole)
        for _ in range(drawn.randint(1, 4)):
            data[drawn.randrange(len(data))] = drawn.randrange(256)
        changed.append(bytes(data))
    changed += [drawn.randbytes(drawn.randrange(2000)) for _ in range(20)]
    changed += [whole[:22] + drawn.randbytes(200) + whole[222:] for _ in range(20)]
    for data in changed:
        one = harmless(tmp_path, sheet, data)
        assert all(answer.answer or answer.fault for answer in one.answers), data


def test_what_is_no_archive_is_refused() -> None:
    for data in (b"", b"PK\x05\x06", b"PK\x05\x06" + bytes(17), b"PK\x06\x07" + bytes(16)
                 + b"PK\x05\x06" + bytes(18)):
        with pytest.raises(Unreadable):
            Archive(io.BytesIO(data), "a.zip", 1)
