"""What command lines printed: see frozen.py, which writes it again where that is wanted."""

from __future__ import annotations

import difflib

import pytest
from frozen import FROZEN, entry, frozen
from fuzz_commands import Case
from printed import as_shown

SHARES = 4


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("command", sorted(path.stem for path in FROZEN.glob("*.jsonl")))
def test_outputs_are_as_they_were(command: str, share: int) -> None:
    different = []
    for before in frozen(FROZEN / f"{command}.jsonl")[share::SHARES]:
        now = entry(Case(before["argv"], before["stdin"].encode(), {}))
        texts = [(before[part], as_shown(now[part], before[part])) for part in ("out", "err")]
        if now["status"] != before["status"] or any(a != b for a, b in texts):
            different += [f"{before['argv']} < {before['stdin']!r}",
                          f"status {before['status']} -> {now['status']}"]
            for a, b in texts:
                different += difflib.unified_diff(a.splitlines(), b.splitlines(), lineterm="", n=0)
    assert not different, "\n".join(different[:200])
