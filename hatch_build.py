"""Build hook: a wheel carries the parsers' tables, `_tables.py` in `gradcli/lang/syntax` and
`gradcli/lang/paper`, the manual pages, which are made of the rows of the options, and the script
`gradcli`.

Making them takes Lark and a tenth of a second; with them, an installed gradcli never imports Lark.
The modules go into the wheel only and are never left in the checkout. An editable install has
none, because it would not follow a change of the grammars: there the tables are cached.

The script: installers make one of an entry point, and that of pip before 25.1 imports `re`, which
takes a quarter of the time of a small answer. So a wheel that is built where it will be installed
has a script of its own, and a tag of this platform, since Windows needs the entry point; pip does
not run such scripts from a folder with a space in its name, or a long one. GRADCLI_PORTABLE=1 makes
a wheel for any machine, which has the entry point, as an editable install does.
"""

from __future__ import annotations

import os
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

SCRIPT = """\
#!python
from gradcli.__main__ import script

script()
"""
LONGEST = 100
"""Characters of an interpreter's path: some systems read 127 of the first line of a script."""


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
        if is_local():
            script = Path(folder, "gradcli")
            script.write_text(SCRIPT, encoding="utf-8")
            script.chmod(0o755)
            build_data["shared_scripts"][str(script)] = script.name
            tag = self.build_config.builder.get_best_matching_tag()
            build_data["tag"] = f"py3-none-{tag.rpartition('-')[2]}"
            # Installers would write what they make of it over the script.
            del self.metadata.core.scripts[script.name]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what `initialize` left outside the checkout."""
        if version != "editable":
            self.folder.cleanup()


def is_local() -> bool:
    """Return whether a wheel is for this machine, and a script of its own runs there."""
    return os.name == "posix" and not os.environ.get("GRADCLI_PORTABLE") and (
        len(sys.executable) <= LONGEST and not any(map(str.isspace, sys.executable)))
