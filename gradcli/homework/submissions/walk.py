"""The files of a folder, without going astray: links, FIFOs and devices are passed over."""

from __future__ import annotations

import os
import stat

from gradcli.errors import Diagnostic, GradcliError
from gradcli.homework.submissions.records import Note
from gradcli.source import Source

MAX_FILES = 200_000
MAX_DEPTH = 8


def walk(root: str, follow: bool = False) -> tuple[list[str], list[Note]]:
    """The regular files below a folder, as paths from there with / between names, in the order
    of their names; and what was passed over. follow: whether links are followed.

    Raises E0730 (cannot be read) and E0731 (too many).
    """
    try:
        first = os.stat(root)
        with os.scandir(root):
            pass
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise GradcliError(Diagnostic(
            "E0730", f"cannot read the folder `{root}`: {reason.lower()}",
            source=Source("", root), span=(0, 0),
            help="give the folder that holds the students' files")) from None
    files: list[str] = []
    notes: list[Note] = []
    seen = {(first.st_dev, first.st_ino)}
    pending = [("", 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            entries = sorted(os.scandir(os.path.join(root, folder)), key=lambda e: e.name)
        except OSError as problem:
            notes.append(Note("skipped", f"folder: {(problem.strerror or '').lower()}", folder))
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            what, identity = _what(entry, follow)
            if what == "folder" and depth == MAX_DEPTH:
                what = "folders are nested too deeply"
            elif what == "folder" and follow and identity in seen:
                what = "folder that was seen already"
            if what == "file":
                files.append(path)
            elif what == "folder":
                if follow:
                    seen.add(identity)
                pending.append((path, depth + 1))
            else:
                notes.append(Note("skipped", what, path))
            if len(files) + len(notes) > MAX_FILES:
                raise GradcliError(Diagnostic(
                    "E0731", f"`{root}` holds more than {MAX_FILES:,} files",
                    source=Source("", root), span=(0, 0),
                    help="give the folder of one assignment"))
    return sorted(files), notes


def _what(entry: os.DirEntry[str], follow: bool) -> tuple[str, tuple[int, int]]:
    """ "file", "folder", or why it is neither; and which."""
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
