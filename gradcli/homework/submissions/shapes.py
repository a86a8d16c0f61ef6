"""Whose a file is, by its path: the shapes that learning management systems write.

    alice/answers.txt                               a folder for each student
    submitted/alice/hw3/answers.txt                 nbgrader: step, student, assignment
    Ann Lee_1234_assignsubmission_file_/hw3.txt     Moodle, and ..._onlinetext_/onlinetext.html
    leeann_LATE_12_34_hw3.txt                       Canvas: name, LATE, user, submission, file
    alice.txt                                       one file each
"""

from __future__ import annotations

import re

MOODLE = re.compile(r"([^/]{1,200}?)_(\d{1,12})_assignsubmission_(?:file|onlinetext)(?:_.*)?")
CANVAS = re.compile(r"([^/_]{1,200})(_LATE)?_(\d{1,12})_(\d{1,12})_(.+)", re.DOTALL)
STEPS = ("submitted", "source", "release", "autograded", "feedback")
# What nbgrader and operating systems put beside what students hand in.
IGNORED = re.compile(r"(?:.*/)?(?:\.[^/]*|timestamp\.txt|Thumbs\.db|desktop\.ini|__MACOSX/.*)",
                     re.DOTALL)


class Owner:
    """key: the same for all files of a student. id: who it is, by the path. lms: the number that
    the system gave. late: whether the system says so. attempt: later ones count. rest: the path
    below what names the student. shape: "moodle", "canvas", "folder", "file" or "pattern".
    """

    __slots__ = ("attempt", "id", "late", "lms", "rest", "shape")

    def __init__(self, shape: str, id: str, rest: str, *, lms: str = "", late: bool = False,
                 attempt: int = 0) -> None:
        self.shape = shape
        self.id = id
        self.rest = rest
        self.lms = lms
        self.late = late
        self.attempt = attempt

    @property
    def key(self) -> tuple[str, str]:
        return self.id, self.lms


def owner(path: str, in_steps: bool) -> Owner | None:
    """Whose the file at a path is, from the folder of all with / between names; None where it
    belongs to no student. in_steps: whether the first name is one of nbgrader's steps.
    """
    parts = path.split("/")
    for k, part in enumerate(parts):
        found = MOODLE.fullmatch(part)
        if found:
            return Owner("moodle", found[1], "/".join(parts[k + 1:]) or part, lms=found[2])
    if in_steps:
        if parts[0] != STEPS[0] or len(parts) < 3:
            return None
        parts = parts[1:]
    if len(parts) > 1:
        return Owner("folder", parts[0], "/".join(parts[1:]))
    found = CANVAS.fullmatch(parts[0])
    if found:
        return Owner("canvas", found[1], found[5], lms=found[3], late=found[2] is not None,
                     attempt=int(found[4]))
    return Owner("file", parts[0].rpartition(".")[0] or parts[0], parts[0])
