"""A class has the same marks whatever system it handed in by."""

from __future__ import annotations

from pathlib import Path

import pytest
from homework_formats import FORMATS, TIMELESS, class_of, marks


@pytest.mark.parametrize("system", FORMATS)
def test_marks_are_the_same_from_every_system(tmp_path: Path, system: str) -> None:
    """With namesakes, umlauts, Chinese and compound names, and files that are late, handed in again
    or in other encodings.
    """
    people = class_of(40)
    assert marks(tmp_path, system, people, "1") == {
        person.sis: person.marks(system not in TIMELESS) for person in people}
