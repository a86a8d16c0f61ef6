"""Build hook: a wheel carries the parser's tables as `gradcli/lang/_tables.py`.

Making them takes Lark and a tenth of a second; with them, an installed gradcli never imports Lark.
The module goes into the wheel only and is never left in the checkout. An editable install has
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
from gradcli.lang.export import module_text
with open(sys.argv[2], "w", encoding="utf-8") as file:
    file.write(module_text())
"""


class TablesHook(BuildHookInterface[Any]):
    """Generates the tables before a wheel is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the generated module among the files of a wheel; nothing for an editable one."""
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory(prefix="gradcli-build-")
        module = Path(self.folder.name) / "_tables.py"
        subprocess.run([sys.executable, "-B", "-c", PROGRAM, self.root, str(module)], check=True)
        build_data["force_include"][str(module)] = "gradcli/lang/_tables.py"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what `initialize` left outside the checkout."""
        if version != "editable":
            self.folder.cleanup()
