"""Keras, datasets and modules against what TensorFlow printed, program by program."""

from __future__ import annotations

import pytest
import tf_programs

PROGRAMS = [name for name in tf_programs.PROGRAMS if not name.startswith("guide_")]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: str) -> None:
    wrong = tf_programs.differences(program)
    assert not wrong, "\n".join(wrong)
