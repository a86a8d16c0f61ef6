"""A page in a headless browser, where one is installed: Chromium, with a profile of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-extensions", "--disable-dev-shm-usage")
A4 = 680        # CSS pixels between the margins of 15 mm
PATIENCE = 120.0


def browse(page: Path, *flags: str) -> tuple[str, list[str]]:
    """Open a page, and return what was asked for by flags and what its console says. Skips the test
    where there is no browser.
    """
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            [program, *FLAGS, "--enable-logging=stderr", f"--user-data-dir={profile}", *flags,
             page.resolve().as_uri()],
            capture_output=True, timeout=PATIENCE, check=False)
    errors = done.stderr.decode("utf-8", "replace").splitlines()
    if done.returncode:
        pytest.skip(f"{program} does not start here: {errors[-1:]}")
    return done.stdout.decode("utf-8", "replace"), [
        line for line in errors if re.search(r"\bCONSOLE\b", line)]


def printed(page: Path, to: Path) -> list[tuple[float, float]]:
    """Print a page as PDF, and return the sizes of its sheets in mm."""
    browse(page, "--no-pdf-header-footer", f"--print-to-pdf={to}")
    boxes = re.findall(rb"/MediaBox\s*\[\s*0\s+0\s+([\d.]+)\s+([\d.]+)\s*\]", to.read_bytes())
    return [(float(width) * 25.4 / 72, float(height) * 25.4 / 72) for width, height in boxes]


def width(page: Path, wide: int = A4) -> int:
    """Return the pixels that a page needs in print where it may be so wide: more than that if it is
    cut.
    """
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<meta http-equiv=[^>]*>", "", text)     # its own scripts are forbidden
    text = text.replace("@media screen", "@media not all").replace("@media print", "@media all")
    copy = page.with_name(f"wide-{page.name}")
    copy.write_text(text.replace("</body>", "<script>document.title = 'needs ' + Math.max("
                                 "...[...document.querySelectorAll('main *')].map("
                                 "e => Math.ceil(e.getBoundingClientRect().right)))</script>"
                                 "</body>"), encoding="utf-8")
    shown, _ = browse(copy, f"--window-size={wide},900", "--dump-dom")
    found = re.search(r"<title>needs (\d+)</title>", shown)
    assert found, shown[:300]
    return int(found[1])
