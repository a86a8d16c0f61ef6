"""Build hook: a wheel carries the parsers' tables, `_tables.py` in `gradcli/lang/syntax` and
`gradcli/lang/paper`, and the manual pages, which are made of the rows of the options.

Making them takes Lark and a tenth of a second; with them, an installed gradcli never imports Lark.
The modules go into the wheel only and are never left in the checkout. An editable install has
none, because it would not follow a change of the grammars: there the tables are cached.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# A process of its own: the code of this tree is asked, whatever `gradcli` the build process may
# have imported, and without bytecode left behind.
PROGRAM = """\
import sys
sys.path.insert(0, sys.argv[1])
from gradcli.lang.syntax.grammar import module_text
from gradcli.lang.paper.parser import GRAMMARS, KIND_NAMES
texts = {"syntax": module_text(), "paper": module_text(GRAMMARS, KIND_NAMES)}
for package, text in texts.items():
    with open(f"{sys.argv[2]}/{package}.py", "w", encoding="utf-8") as file:
        file.write(text)
from gradcli.cli.man import write
write(sys.argv[2] + "/man")
"""


class TablesHook(BuildHookInterface[Any]):
    """Generates the tables and pages before a wheel is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the generated modules among the files of a wheel; nothing for an editable one."""
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory(prefix="gradcli-build-")
        folder = self.folder.name
        subprocess.run([sys.executable, "-B", "-c", PROGRAM, self.root, folder], check=True)
        for module in sorted(Path(folder).glob("*.py")):
            build_data["force_include"][str(module)] = f"gradcli/lang/{module.stem}/_tables.py"
        for page in sorted(Path(folder, "man").glob("*.1")):
            build_data["shared_data"][str(page)] = f"share/man/man1/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what `initialize` left outside the checkout."""
        if version != "editable":
            self.folder.cleanup()
