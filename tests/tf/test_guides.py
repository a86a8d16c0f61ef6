"""TensorFlow's guides, retyped by what their code blocks do, against what TensorFlow printed."""

from __future__ import annotations

import pytest
import tf_programs

GUIDES = [name for name in tf_programs.PROGRAMS if name.startswith("guide_")]


@pytest.mark.parametrize("guide", GUIDES)
def test_guide(guide: str) -> None:
    wrong = tf_programs.differences(guide)
    assert not wrong, "\n".join(wrong)


def test_most_blocks_print_the_same_bytes() -> None:
    """So that the tolerance of the others hides nothing."""
    assert tf_programs.equal_bytes(GUIDES) >= 0.95
