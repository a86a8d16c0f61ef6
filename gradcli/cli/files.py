"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress

from gradcli.base.errors import Diagnostic, GradcliError, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

# What these mean is open already: by its name it would begin anew, and `>>` lose what is there.
STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}


def write_file(path: str, text: str, option: str = "-o") -> None:
    """Write a text to a file, all of it or nothing (`whole_file`)."""
    with whole_file(path, option) as file:
        try:
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()        # a full disk is told with the name of the file
        except BrokenPipeError:
            raise
        except OSError as problem:
            raise _unwritable(path, option, problem) from None


@contextmanager
def whole_file(path: str, option: str = "-o") -> Iterator[BinaryIO]:
    """Open a file that gets its name when all is written, so that none is left half written.
    option: which one asked for it.

    A link is followed and a file's mode kept; a device or pipe is written to, never replaced, nor
    is the file that /dev/stdout has become.
    Raises E0605 where that is not possible.
    """
    try:
        if path in STANDARD:
            opened: Any = os.fdopen(os.dup(STANDARD[path]), "wb")
        elif os.path.exists(path) and not os.path.isfile(path):
            opened = open(path, "wb")
        else:
            opened = _Replacement(os.path.realpath(path))
    except (OSError, ValueError) as problem:
        raise _unwritable(path, option, problem) from None
    with opened as file:
        yield file
        if opened is not file:
            try:
                file.flush()
                opened.finish()
            except (OSError, ValueError) as problem:
                raise _unwritable(path, option, problem) from None


def _unwritable(path: str, option: str, problem: Exception) -> GradcliError:
    reason = getattr(problem, "strerror", None) or str(problem)
    full = getattr(problem, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return GradcliError(Diagnostic(
        "E0605", f"cannot write `{path}`: {reason.lower()}",
        span=(0, len(path)), source=Source(path, option),
        help="make room, or give a file on another disk" if full else
        "give a file in a folder that you may write to"))


class _Replacement:
    """The later content of the file at `path`: without a name where the system can (a process that
    is killed leaves nothing), else a temporary one beside it.
    """

    __slots__ = ("_file", "_mode", "_path", "_temporary")

    def __init__(self, path: str) -> None:
        self._path = path
        self._temporary = ""
        if os.path.exists(path):
            with open(path, "ab"):      # a file that may not be written is not replaced either
                self._mode = os.stat(path).st_mode & 0o777
        else:
            self._mode = 0o666 & ~_umask()
        folder = os.path.dirname(path)
        try:
            handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
        except (AttributeError, OSError):
            from tempfile import mkstemp

            handle, self._temporary = mkstemp(dir=folder, prefix=".gradcli-")
        self._file = os.fdopen(handle, "wb")

    def __enter__(self) -> BinaryIO:
        return self._file

    def __exit__(self, *exception: object) -> None:
        with suppress(OSError):     # `finish` comes after a flush; what fails here, failed before
            self._file.close()
        if self._temporary:
            os.unlink(self._temporary)

    def finish(self) -> None:
        """Give it its name."""
        if hasattr(os, "fchmod"):
            os.fchmod(self._file.fileno(), self._mode)
        if not self._temporary:
            from tempfile import NamedTemporaryFile

            with NamedTemporaryFile(
                    dir=os.path.dirname(self._path), prefix=".gradcli-") as free:
                name = free.name
            # Only with a folder given does Python call what follows the link in /proc.
            folder = os.open("/", os.O_RDONLY)
            try:
                os.link(f"/proc/self/fd/{self._file.fileno()}", name, src_dir_fd=folder,
                        follow_symlinks=True)
            finally:
                os.close(folder)
            self._temporary = name
        os.replace(self._temporary, self._path)
        self._temporary = ""


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
