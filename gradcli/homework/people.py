"""Who is in the class."""

from __future__ import annotations


class Student:
    """One of the class, as far as the roster or the folder tells.

    handed_in: whether there is a file of theirs. late: whether it came late. lms: the number that
    Moodle (participant) or Canvas (user) wrote into the name of the file, "" if none.
    """

    __slots__ = ("email", "first_name", "handed_in", "id", "last_name", "late", "lms", "section")

    def __init__(self, id: str, last_name: str = "", first_name: str = "", email: str = "",
                 section: str = "", *, handed_in: bool = True, late: bool = False, lms: str = ""
                 ) -> None:
        self.id = id
        self.last_name = last_name
        self.first_name = first_name
        self.email = email
        self.section = section
        self.handed_in = handed_in
        self.late = late
        self.lms = lms

    @property
    def name(self) -> str:
        """First and last name, the id where there is neither."""
        return f"{self.first_name} {self.last_name}".strip() or self.id
