"""When something is due, when it was handed in, and whether that is late.

    [late]
    penalty = 0.1
    due = 2026-11-20T23:59
    timezone = "Europe/Berlin"
    grace = "15 min"
    [late.extensions]
    s1234567 = 2026-11-27T23:59
    "ann@uni.example" = "2 days"

Times are read as systems and people write them. Where month and day may be taken for each other,
both readings are kept: what is late by one and not by the other is in doubt.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    # The readings of a time that is written somewhere; none where there is no time.
    Readings = tuple[datetime, ...]

LAST, FIRST, BEST, IN_TIME = ATTEMPTS = ("last", "first", "best", "last in time")
"""Which of several attempts counts."""


class Deadline:
    """When a class has to hand in.

    due: None where only the systems say what is late.
    zone: of times without one; None for that of this computer.
    grace: what is forgiven.
    extensions: a student's id, login, address or name to when they have to hand in, or how much
        later than the others.
    table: the name of a CSV file with more of them, from the folder of the sheet.
    """

    __slots__ = ("due", "extensions", "grace", "table", "zone")

    def __init__(self, due: datetime | None = None, zone: tzinfo | None = None,
                 grace: timedelta = timedelta(0),
                 extensions: Mapping[str, datetime | timedelta] | None = None,
                 table: str | None = None) -> None:
        self.due = due
        self.zone = zone if zone is not None or due is None else due.tzinfo
        self.grace = grace
        self.extensions = dict(extensions or {})
        self.table = table

    def extended(self, extension: datetime | timedelta | None) -> datetime | None:
        """Return when a student with this extension has to hand in."""
        if isinstance(extension, timedelta):
            return None if self.due is None else self.due + extension
        return extension or self.due

    def is_late(self, readings: Readings, due: datetime | None) -> bool | None:
        """Return whether what was handed in then is late; None where that cannot be told."""
        if due is None or not readings:
            return None
        limit = self._comparable(due) + self.grace
        late = {self._comparable(one) > limit for one in readings}
        return late.pop() if len(late) == 1 else None

    def order(self, readings: Readings) -> float:
        """Return a number that grows with the time; 0 where none is known."""
        if not readings:
            return 0.0
        comparable = self._comparable(readings[0])
        if comparable.tzinfo is None:
            comparable = comparable.replace(tzinfo=UTC)
        return comparable.timestamp()

    def _comparable(self, moment: datetime) -> datetime:
        if self.zone is None:
            return moment if moment.tzinfo is None else moment.astimezone().replace(tzinfo=None)
        return moment.replace(tzinfo=self.zone) if moment.tzinfo is None else moment


# --------------------------------------------------------------------------------------------------
# Times as they are written: 2026-11-20 23:59:01 UTC, 11/20/2026 23:59:01, 20 November 2026 11:59
# PM, 2026/11/20 11:59:01 PM GMT+1, Friday, 20. November 2026, 23:59, 2026-11-20 15:58 Europe/Rome.

_MONTHS = {name: number for number, names in enumerate((
    "jan ene gen", "feb fév fev", "mar mär mrz", "apr avr abr", "may mai mag", "jun juin giu",
    "jul juil lug", "aug aoû ago", "sep set", "oct okt ott", "nov", "dec dez dic déc"), 1)
    for name in names.split()}
_DATE = re.compile(
    r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"
    r"|(?<!\d)(?P<a>\d{1,2})(?P<sign>[-/.])(?P<b>\d{1,2})(?P=sign)(?P<short>\d{4}|\d\d)(?!\d)"
    r"|(?<!\d)(?P<d2>\d{1,2})\.?\s+(?:de\s+)?(?P<name>[^\W\d]{3,12})\.?\s+(?:de\s+)?(?P<y2>\d{4})"
    r"|(?P<name3>[^\W\d]{3,12})\.?\s+(?P<d3>\d{1,2}),?\s+(?P<y3>\d{4})")
_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*([ap]\.?m\b)?", re.IGNORECASE)
_ZONE = re.compile(r"(?:UTC|GMT)?\s*([+-])(\d{1,2}):?(\d\d)?|(UTC|GMT|Z)|([A-Z]\w+(?:/\w+){1,2})")
MAX_TIME = 100


def readings(text: str, day_first: bool | None = None) -> Readings:
    """Return the times that a text may mean, most likely first; none if it is no time.

    day_first: whether the day stands before the month where both are numbers; None if unknown.
    """
    said = text.strip()
    day = _DATE.search(said) if len(said) <= MAX_TIME else None
    if day is None:
        return ()
    clock = _CLOCK.search(said, day.end()) or _CLOCK.search(said[:day.start()])
    hours = time(23, 59, 59)
    behind = ""
    try:
        if clock is not None:
            hours = _hours(clock)
            behind = said[clock.end():] if clock.start() >= day.end() else ""
        zone = _zone(behind)
        return tuple([datetime(*one, hours.hour, hours.minute, hours.second, tzinfo=zone)
                      for one in _days(day, day_first)])
    except (ValueError, KeyError, OverflowError):
        return ()


def _hours(clock: re.Match[str]) -> time:
    hour = int(clock[1])
    if clock[4]:
        hour = hour % 12 + (12 if clock[4][0] in "pP" else 0)
    return time(hour, int(clock[2]), int(clock[3] or 0))


def _days(said: re.Match[str], day_first: bool | None) -> list[tuple[int, int, int]]:
    """Return year, month and day, both ways where either is possible."""
    if said["y"]:
        return [(int(said["y"]), int(said["m"]), int(said["d"]))]
    if said["a"]:
        year, a, b = [int(said[name]) for name in ("short", "a", "b")]
        year += 2000 if year < 100 else 0
        if said["sign"] == "." or a > 12 or day_first:
            return [(year, b, a)]
        if b > 12 or day_first is False or a == b:
            return [(year, a, b)]
        return [(year, a, b), (year, b, a)]
    name, day, in_year = ((said["name"], said["d2"], said["y2"]) if said["name"] else
                          (said["name3"], said["d3"], said["y3"]))
    word = name.casefold()
    return [(int(in_year), _MONTHS.get(word[:4]) or _MONTHS[word[:3]], int(day))]


def _zone(text: str) -> tzinfo | None:
    found = _ZONE.fullmatch(text.strip())
    if found is None:
        return None
    if found[5]:
        from zoneinfo import ZoneInfo

        return ZoneInfo(found[5])
    shift = timedelta(hours=int(found[2] or 0), minutes=int(found[3] or 0))
    return UTC if not shift else timezone(shift if found[1] == "+" else -shift)


def day_first(texts: Sequence[str]) -> bool | None:
    """Return whether a column of dates writes the day before the month; None if that is open."""
    for text in texts:
        found = _DATE.search(text[:MAX_TIME])
        if found is not None and found["a"] and found["sign"] != ".":
            if int(found["a"]) > 12:
                return True
            if int(found["b"]) > 12:
                return False
    return None


# --------------------------------------------------------------------------------------------------
# What a sheet writes.

def extension(value: object) -> datetime | timedelta | None:
    """Return the time, or the time more, that a value gives a student; None if it gives none."""
    return (span(value) if isinstance(value, str) else None) or due_time(value)


def due_time(value: object) -> datetime | None:
    """Return the time that a value of a sheet says; a day is its end, and so is 23:59."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, 23, 59)
    if isinstance(value, str):
        value = next(iter(readings(value)), None)
    if not isinstance(value, datetime):
        return None
    return value.replace(second=59) if (value.hour, value.minute) == (23, 59) else value


_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?)")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def span(text: str) -> timedelta | None:
    """Return the time that a text such as `15 min` or `2 days` says; None if it says none."""
    found = _SPAN.fullmatch(text.strip().lower())
    return timedelta(seconds=float(found[1]) * _UNITS[found[2][0]]) if found else None
