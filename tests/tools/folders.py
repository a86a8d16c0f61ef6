"""The folders of the checkout that is tested. Its gradcli is imported, installed or not."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data"

# Tools run alone, too, without pytest's paths.
sys.path += [str(folder) for folder in (ROOT, TESTS) if str(folder) not in sys.path]
