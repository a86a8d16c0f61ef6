"""What command lines printed: see frozen.py, which writes it again where that is wanted."""

from __future__ import annotations

import pytest
from frozen import FROZEN, differences, entry, frozen
from fuzz_commands import Case

SHARES = 4


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("command", sorted(path.stem for path in FROZEN.glob("*.jsonl")))
def test_outputs_are_as_they_were(command: str, share: int) -> None:
    different: list[str] = []
    for before in frozen(FROZEN / f"{command}.jsonl")[share::SHARES]:
        different += differences(before, entry(Case(before["argv"], before["stdin"].encode(), {})))
    assert not different, "\n".join(different[:200])
