"""Bytes that may be anything, as text."""

from __future__ import annotations

import os
import re
import stat

from gradcli.homework.submissions.records import Unreadable

MAX_BYTES = 64 * 1024
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def read_bytes(path: str, limit: int = MAX_BYTES, follow: bool = False) -> bytes:
    """The bytes of a regular file. Raises `Unreadable`.

    What the name stands for may have changed since somebody looked: it is opened without following
    a link and without waiting for a FIFO's other end, and looked at once it is open.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    flags |= getattr(os, "O_BINARY", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as problem:
        raise Unreadable(_reason(problem)) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("not a regular file")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as problem:
        raise Unreadable(_reason(problem)) from None
    finally:
        os.close(handle)
    if len(data) > limit:
        raise Unreadable(f"larger than {limit // 1024:,} KiB")
    return data


def _reason(problem: Exception) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()


def text(data: bytes) -> tuple[str, str | None]:
    """The text, and a remark on its encoding if it is not UTF-8. Line ends are \\n.

    A byte order mark tells UTF-16. What is neither must look like a text of Windows-1252. Raises
    `Unreadable`.
    """
    remark = None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            found, remark = data.decode("utf-16"), "read as UTF-16"
        except UnicodeDecodeError:
            raise Unreadable("begins as UTF-16, but is none") from None
        if "\0" in found:
            raise Unreadable("not a text: it holds a NUL character")
    elif b"\0" in data:
        raise Unreadable("not a text: it holds a NUL byte")
    else:
        try:
            found = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            found, remark = _windows(data), "not UTF-8: read as Windows-1252"
    return found.replace("\r\n", "\n").replace("\r", "\n"), remark


def _windows(data: bytes) -> str:
    try:
        found = data.decode("cp1252")
    except UnicodeDecodeError:
        raise Unreadable("not a text: neither UTF-8 nor Windows-1252") from None
    if _CONTROL.search(found):
        raise Unreadable("not a text: it holds control characters, and is not UTF-8")
    return found
