"""The files of a folder or of a zip archive, read without going astray.

Links, FIFOs and devices are no files that can be read, but somebody handed them in. An archive is
never unpacked to the disk: its members are read into memory, each up to a limit, all of an archive
up to another; so a bomb costs no more than a file of that size.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from contextlib import contextmanager

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.handed_in.owners import CANVAS_NAME, IGNORED, STEPS
from gradcli.homework.handed_in.records import (
    MAX_BYTES,
    InputNote,
    Unreadable,
    printable,
    read_bytes,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO
    from zipfile import ZipFile, ZipInfo

MAX_FILES = 200_000
MAX_DEPTH = 8


class Folder:
    """The files below a folder. follow: whether links are followed."""

    __slots__ = ("_refused", "follow", "root")

    def __init__(self, root: str, follow: bool = False) -> None:
        self.root = root
        self.follow = follow
        self._refused: dict[str, str] = {}

    def paths(self) -> tuple[list[str], list[InputNote]]:
        """Return the paths of the files, also of what cannot be read; see `walk`."""
        files, self._refused, notes = walk(self.root, self.follow)
        return sorted([*files, *self._refused]), notes

    def read(self, path: str, limit: int = MAX_BYTES) -> bytes:
        """Read the bytes of a file. Raises `Unreadable`."""
        if path in self._refused:
            raise Unreadable(self._refused[path])
        return read_bytes(os.path.join(self.root, path), limit, self.follow)

    def content(self, path: str) -> str:
        """Return a text that is equal for files of equal bytes; of one that is too large to be read
        only its size and time tell.
        """
        try:
            return hashlib.sha256(self.read(path, MAX_PACKED)).hexdigest()
        except Unreadable as problem:
            try:
                found = os.stat(os.path.join(self.root, path), follow_symlinks=self.follow)
            except (OSError, ValueError):
                return str(problem)
            return f"{found.st_size} {found.st_mtime_ns}"

    def inside(self, path: str) -> Archive:
        """Return the archive that is one of the files. Raises `Unreadable`."""
        return Archive(io.BytesIO(self.read(path, MAX_PACKED)), path, 1)


def walk(root: str, follow: bool = False
         ) -> tuple[list[str], dict[str, str], list[InputNote]]:
    """Return the regular files below a folder, as paths from there with / between names; what else
    is there, with the reason why it is not read; and notes on folders that are read elsewhere.
    follow: whether links are followed.

    Raises E0730 (cannot be read) and E0731 (too many).
    """
    try:
        first = os.stat(root)
        with os.scandir(root):
            pass
    except (OSError, ValueError) as problem:
        raise _unread("folder", root, problem,
                      "give the folder that holds the students' files") from None
    files: list[str] = []
    refused: dict[str, str] = {}
    notes: list[InputNote] = []
    seen = {(first.st_dev, first.st_ino)}
    pending = [("", 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            entries = sorted(os.scandir(os.path.join(root, folder)), key=lambda e: e.name)
        except OSError as problem:
            refused[folder] = f"folder: {(problem.strerror or '').lower()}"
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            what, identity = _what(entry, follow)
            if what == "folder" and depth == MAX_DEPTH:
                refused[path] = "folders are nested too deeply"
            elif what == "folder" and follow and identity in seen:
                notes.append(InputNote("skipped", "folder that was seen already", path))
            elif what == "file":
                files.append(path)
            elif what == "folder":
                if follow:
                    seen.add(identity)
                pending.append((path, depth + 1))
            else:
                refused[path] = what
            if len(files) + len(refused) + len(notes) > MAX_FILES:
                raise GradcliError(Diagnostic(
                    "E0731", f"`{root}` holds more than {MAX_FILES:,} files",
                    source=Source("", root), span=(0, 0),
                    help="give the folder of one assignment"))
    return files, refused, notes


def _what(entry: os.DirEntry[str], follow: bool) -> tuple[str, tuple[int, int]]:
    """Return "file", "folder", or why it is neither; and its device and inode."""
    try:
        if entry.is_symlink() and not follow:
            return "a link (--follow reads it)", (0, 0)
        status = entry.stat(follow_symlinks=follow)
    except OSError as problem:
        return (problem.strerror or "unreadable").lower(), (0, 0)
    identity = status.st_dev, status.st_ino
    if stat.S_ISREG(status.st_mode):
        return "file", identity
    if stat.S_ISDIR(status.st_mode):
        return "folder", identity
    return "neither a file nor a folder", identity


# --------------------------------------------------------------------------------------------------
# Zip archives. What stands in their directory is a claim of whoever made them.

MAX_PACKED = 32 * 1024 * 1024
MAX_UNPACKED = 32 * 1024 * 1024
MAX_MEMBERS = 1000      # of what one student packed
NESTED = 2              # an archive may hold archives, which hold none
# Every entry of the directory takes 46 bytes at least, and some 600 once it is read.
MAX_DIRECTORY = 4 * 1024 * 1024
_TAIL = 65_536 + 64


class Archive:
    """The files in a zip archive.

    depth: the number of archives of the student's that this one is in, itself included; 0 for that
        of a class, whose members count as files of a folder.
    """

    __slots__ = ("_left", "_members", "_refused", "_zip", "depth", "root")

    def __init__(self, file: BinaryIO, root: str, depth: int = 0, left: list[int] | None = None
                 ) -> None:
        """Read the directory. left: the bytes that may still be unpacked. Raises `Unreadable`."""
        self.root = root
        self.depth = depth
        self._left = [MAX_UNPACKED] if left is None else left
        self._members: dict[str, ZipInfo] = {}
        self._refused: dict[str, str] = {}
        self._zip = _directory(file)
        entries = [(_member_path(one), one) for one in self._zip.infolist() if not one.is_dir()]
        limit = MAX_MEMBERS if depth else MAX_FILES
        if len(entries) > limit:
            raise Unreadable(f"an archive of more than {limit:,} files")
        top = "" if depth else _top([path for path, _ in entries], root)
        for path, entry in entries:
            harmless = "/".join([part if part.strip(".") else "_" for part in path.split("/")])
            reason = "a name that leads out of the archive" if harmless != path else _refused(entry)
            path = harmless.removeprefix(top)
            if path in self._members:
                reason = "two files of this name in the archive"
            if reason is not None:
                self._refused[path] = reason
            self._members[path] = entry

    def paths(self) -> tuple[list[str], list[InputNote]]:
        """Return the paths of the members, also of those that cannot be read, and no notes."""
        return sorted(self._members), []

    def read(self, path: str, limit: int = MAX_BYTES) -> bytes:
        """Read the bytes of a member. Raises `Unreadable`."""
        if path in self._refused:
            raise Unreadable(self._refused[path])
        most = min(limit, self._left[0]) if self.depth else limit
        with _damage("damaged in the archive"), self._zip.open(self._members[path]) as member:
            data = member.read(most + 1)
        if self.depth:
            self._left[0] -= min(len(data), most)
        if len(data) > most:
            raise Unreadable(f"larger than {limit // 1024:,} KiB" if len(data) > limit else
                             f"the archive holds more than {MAX_UNPACKED // 1024 // 1024:,} MiB")
        return data

    def content(self, path: str) -> str:
        """Return a text that is equal for members of equal bytes, as the directory says."""
        return f"{self._members[path].file_size} {self._members[path].CRC}"

    def inside(self, path: str) -> Archive:
        """Return an archive in this one. Raises `Unreadable`."""
        if self.depth == NESTED:
            raise Unreadable("an archive in an archive in an archive")
        left = self._left if self.depth else None
        return Archive(io.BytesIO(self.read(path, MAX_PACKED)), path, self.depth + 1, left)


def _top(paths: Sequence[str], root: str) -> str:
    """Return the folder, with its /, that holds all files of a class's archive: `hw3/` of
    `hw3.zip`, or one that holds several folders or files and nothing else, or what a system
    writes. "" where there is none.
    """
    paths = [path for path in paths if not IGNORED.fullmatch(path)]
    tops = {path.partition("/")[0] for path in paths}
    if len(tops) != 1 or not all("/" in path for path in paths):
        return ""
    (top,) = tops
    below = {path.split("/", 2)[1] for path in paths}
    folders = all(path.count("/") > 1 for path in paths)
    named = top == os.path.splitext(os.path.basename(root))[0]
    written = all(name in STEPS or CANVAS_NAME.fullmatch(name) for name in below)
    several = folders and len(below) > 1 and top not in STEPS
    # Files of several students, most likely, and not of one whose name the folder has.
    flat = len({os.path.splitext(name)[0] for name in below if not name.startswith("answers.")}) > 2
    return f"{top}/" if named or written or several or (flat and not folders) else ""


def _directory(file: BinaryIO) -> ZipFile:
    """Read the directory of an archive. Raises `Unreadable`."""
    from struct import unpack_from
    from zipfile import ZipFile

    with _damage("a damaged zip archive"):
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read(_TAIL)
        end = tail.rfind(b"PK\x05\x06")
        if end < 0 or end + 22 > len(tail):
            raise Unreadable("no zip archive, or one that was cut off")
        if tail[max(0, end - 20):end].startswith(b"PK\x06\x07") or (
                unpack_from("<L", tail, end + 12)[0] > MAX_DIRECTORY):
            raise Unreadable("an archive of too many files")
        return ZipFile(file if isinstance(file, io.BytesIO) else file.name)


@contextmanager
def _damage(what: str) -> Iterator[None]:
    """Raise `Unreadable`, saying what it is, for all that `zipfile` raises of damaged bytes.

    That is its own error and those of what it reads with, RuntimeError for a password and
    NotImplementedError for a version, method or patch that the format has and it has not.
    """
    from struct import error as of_fields
    from zipfile import BadZipFile
    from zlib import error as of_data

    try:
        yield
    except (BadZipFile, EOFError, IndexError, NotImplementedError, OSError, RuntimeError,
            ValueError, of_data, of_fields):
        raise Unreadable(what) from None


def _member_path(entry: ZipInfo) -> str:
    """Return the path of a member, with / between names. Those that are not marked as UTF-8 are
    read as such where they are, since most programs forget the mark.
    """
    name = entry.filename
    if not entry.flag_bits & 0x800 and not name.isascii():
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name.replace("\\", "/").removeprefix("./")


def _refused(entry: ZipInfo) -> str | None:
    """Return why a member is not read, None if it is."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a link in an archive"
    if entry.flag_bits & 1:
        return "encrypted"
    if entry.compress_type not in (0, 8):       # bzip2 and LZMA cannot be unpacked up to a limit
        return "packed by an unusual method"
    return None


Files = Folder | Archive


def open_files(root: str, follow: bool = False) -> Files:
    """Return the files of a folder, or of the zip archive of a class. Raises E0730."""
    if not os.path.isfile(root):
        return Folder(root, follow)
    try:
        with open(root, "rb") as file:
            return Archive(file, root)
    except (OSError, Unreadable) as problem:
        raise _unread("archive", root, problem, "unpack it, and give the folder") from None


def _unread(what: str, root: str, problem: Exception, help: str) -> GradcliError:
    """Return E0730 for a folder or archive of a class that cannot be read."""
    reason = getattr(problem, "strerror", None) or str(problem)
    return GradcliError(Diagnostic(
        "E0730", f"cannot read the {what} `{printable(root)}`: {reason.lower()}",
        source=Source("", root), span=(0, 0), help=help))
