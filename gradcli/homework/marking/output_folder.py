"""The folder that a run writes to: whole files below it, and nothing outside; one run at a time.

A file gets its name when all of it is written, those of a run when all of them are. A link in the
place of a file is replaced, not followed; a link in the place of a folder is refused.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from time import sleep, strftime

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.render.machine import dump
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TextIO

TEMPORARY, LOCK = ".gradcli-", ".gradcli-lock"
LEFT = re.compile(re.escape(TEMPORARY) + "[0-9a-f]{16}")
PAUSE = 0.2     # seconds between two looks whether the other run has ended


class OutputFolder:
    """A folder, made when it is first written to. written: the names of the files, in order.

    Raises E0748 where a file or folder cannot be made or written, and ValueError for a name that
    leads out.
    """

    __slots__ = ("_waiting", "path", "written")

    def __init__(self, path: str) -> None:
        self.path = path
        self.written: list[str] = []
        self._waiting: dict[str, tuple[str, str]] | None = None

    def write(self, name: str, text: str) -> None:
        """Write a whole file; `name` is relative, with `/` between folders."""
        with self.open(name) as stream:
            stream.write(text)

    @contextmanager
    def open(self, name: str) -> Iterator[TextIO]:
        """Open a text to write to; nothing is left of it if the block ends with an exception."""
        path = self._place(name)
        temporary = os.path.join(self.path, f"{TEMPORARY}{os.urandom(8).hex()}")
        try:
            handle = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0),
                0o666)
        except OSError as problem:
            raise unwritable(path, problem) from None
        try:
            # Line ends as they are given; whoever writes a lone surrogate gets its escape.
            with TextIOWrapper(BufferedWriter(NamedFile(handle, "w", path)), encoding="utf-8",
                               errors="backslashreplace", newline="") as stream:
                yield stream
            if self._waiting is None:
                _rename(temporary, path)
            else:
                self._waiting[name] = temporary, path
            self.written.append(name)
        except BaseException:
            _remove(temporary)
            raise

    @contextmanager
    def together(self, last: str) -> Iterator[None]:
        """Give the files that the block writes their names at its end: all of them, or none.

        last: the file that says what the others are; it is away while they change.
        """
        waiting: dict[str, tuple[str, str]] = {}
        self._waiting = waiting
        try:
            yield
            if last in waiting:
                _remove(os.path.join(self.path, last))
                waiting[last] = waiting.pop(last)
            for temporary, path in waiting.values():
                _rename(temporary, path)
        finally:
            self._waiting = None
            for temporary, _ in waiting.values():
                _remove(temporary)

    @contextmanager
    def alone(self, wait: bool = False) -> Iterator[None]:
        """Keep other runs out of the folder, and take away what killed ones have left.

        wait: whether to wait for a run that is there. Raises E0750, which names it, else.
        """
        new = not os.path.isdir(self.path)
        while (handle := _locked(path := self._place(LOCK))) < 0:
            if handle == HELD and not wait:
                raise _busy(self.path, path)
            sleep(PAUSE if wait else 0)
        try:
            for name in os.listdir(self.path):
                if LEFT.fullmatch(name):
                    _remove(os.path.join(self.path, name))
            yield
        finally:
            _remove(path)       # before it is unlocked: nobody may lock a name that goes away
            os.close(handle)
            if new and not self.written:
                with suppress(OSError):     # there is something in it
                    os.rmdir(self.path)

    def _place(self, name: str) -> str:
        """Return the path of a file, and make its folders."""
        parts = name.split("/")
        if not all(parts) or {".", ".."} & {*parts} or "\0" in name or (
                os.sep != "/" and os.sep in name):
            raise ValueError(f"{name!r} leads out of the folder")
        try:
            os.makedirs(self.path, exist_ok=True)
            folder = self.path
            for part in parts[:-1]:
                folder = os.path.join(folder, part)
                if not os.path.lexists(folder):
                    os.mkdir(folder)
                elif not stat.S_ISDIR(os.lstat(folder).st_mode):
                    raise NotADirectoryError(20, "there is something else of this name", folder)
        except OSError as problem:
            raise unwritable(problem.filename or self.path, problem) from None
        return os.path.join(folder, parts[-1])


class NamedFile(FileIO):
    """A file that says which one it is when it cannot be written. Raises E0748."""

    def __init__(self, handle: int, mode: str, path: str) -> None:
        super().__init__(handle, mode)
        self._path = path

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as problem:
            raise unwritable(self._path, problem) from None


def _rename(temporary: str, path: str) -> None:
    try:
        os.replace(temporary, path)
    except OSError as problem:
        raise unwritable(path, problem) from None


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def unwritable(path: str, problem: OSError) -> GradcliError:
    """Return the error of a file or folder that cannot be written."""
    reason = "it is no folder" if isinstance(problem, FileExistsError) else (
        problem.strerror or str(problem)).lower()
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return GradcliError(Diagnostic(
        "E0748", f"cannot write `{path}`: {reason}", span=(0, len(path)),
        source=Source(path, "--out"),
        help="make room and run this again; the results of before are as they were" if full
        else "give a folder that you may write to"))


# A run holds a lock that the system takes away from a process that ends, however it ends; the file
# also says who it is, for messages, and for disks that know no locks.

HELD, GONE = -1, -2     # what is returned in place of a handle


def _locked(path: str) -> int:
    """Lock a file, write into it who this is, and return its handle; HELD where another run has it,
    GONE where one that ends has just taken it away.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
                         | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except FileNotFoundError:       # with its folder
        return GONE
    except OSError as problem:
        raise unwritable(path, problem) from None
    state = 0
    try:
        _lock(handle)
    except OSError as problem:
        if problem.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK) or _runs(path):
            state = HELD
    if not state and not _names(path, handle):
        state = GONE
    if state:
        os.close(handle)
        return state
    try:
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, dump({"host": _host(), "process": os.getpid(),
                               "since": strftime("%Y-%m-%d %H:%M:%S %Z")}).encode())
    except OSError as problem:
        _remove(path)
        os.close(handle)
        raise unwritable(path, problem) from None
    return handle


def _names(path: str, handle: int) -> bool:
    """Return whether the path still names the file that is open."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


def _lock(handle: int) -> None:
    """Lock a file for this process alone, not for those that it starts. Raises OSError."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, 1 << 20, os.SEEK_SET)      # what is locked cannot be read
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _host() -> str:
    from platform import node

    return node()


def _holder(path: str) -> dict[str, Any]:
    """Return what a run has written into its lock."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = json.loads(file.read(1000))
    except (OSError, ValueError):
        found = None
    return found if isinstance(found, dict) else {}


def _runs(path: str) -> bool:
    """Return whether the process that a lock names may still be there."""
    who = _holder(path)
    if sys.platform == "win32" or who.get("host") != _host() or not isinstance(
            who.get("process"), int):
        return bool(who)
    try:
        os.kill(who["process"], 0)
    except OSError as problem:
        return problem.errno == errno.EPERM
    return True


def _busy(folder: str, path: str) -> GradcliError:
    who = _holder(path)
    told = ", ".join([f"{word} {visible(str(who[key]))}" for key, word in (
        ("host", "on"), ("process", "process"), ("since", "since")) if key in who])
    return GradcliError(Diagnostic(
        "E0750", f"another run writes to `{folder}`" + (f": {told}" if told else ""),
        span=(0, len(folder)), source=Source(folder, "--out"),
        help="run this again when it has ended, or let it wait with --wait"))
