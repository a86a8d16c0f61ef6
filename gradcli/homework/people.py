"""Who is in the class, and what reports read of a sheet."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    class Problem(Protocol):
        """What marking and reports read of a problem. points: the most it gives."""

        @property
        def id(self) -> str: ...

        @property
        def function(self) -> str: ...

        @property
        def points(self) -> float: ...

        @property
        def hidden(self) -> bool: ...

        @property
        def domain_policy(self) -> str: ...

        @property
        def credit(self) -> Mapping[str, float]: ...

    class Sheet(Protocol):
        """What marking and reports read of a sheet."""

        @property
        def id(self) -> str: ...

        @property
        def title(self) -> str: ...

        @property
        def hash(self) -> str: ...

        @property
        def problems(self) -> Sequence[Problem]: ...


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
