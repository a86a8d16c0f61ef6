"""Opening a table: the format of a file, and its stream."""

from __future__ import annotations

from gradcli.points.table import unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from gradcli.points.table import Table


ENDINGS = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "ndjson": "ndjson", "jsonl": "ndjson",
    "parquet": "parquet", "pq": "parquet", "arrow": "arrow", "feather": "arrow", "ipc": "arrow"}


def open_table(path: str, format: str | None, stdin: BinaryIO | None, size: int) -> Table:
    """Open the table in a file, or on `stdin` for the path "-".

    format: "csv", "tsv", "ndjson", "parquet" or "arrow"; None: by the ending of the name (.gz after
    it is undone), else CSV. size: the approximate number of rows in a block.

    Raises E0601 (cannot be read), E0602 (a line that is too long), E0603 (not UTF-8), E0611 (empty,
    damaged, or its package is missing) and E0612 (no header).
    """
    last, packed = ending(path)
    format = format or ENDINGS.get(last, "csv")
    name = "<stdin>" if path == "-" else path
    if format in ("parquet", "arrow"):
        from gradcli.points import arrow

        return arrow.opened(path, name, format, stdin, size)
    stream, total = _stream(path, name, packed, stdin)
    try:
        if format == "ndjson":
            from gradcli.points.json_lines import JsonLines

            return JsonLines(stream, name, total, size)
        from gradcli.points.delimited import Delimited

        return Delimited(stream, name, format, total, size)
    except BaseException:
        if path != "-":
            stream.close()
        raise


def ending(path: str) -> tuple[str, bool]:
    """Return the ending of a name in small letters, and whether .gz came after it."""
    path = path.lower()
    packed = path.endswith(".gz")
    return path.removesuffix(".gz").rpartition(".")[2], packed


def _stream(path: str, name: str, packed: bool, stdin: BinaryIO | None
            ) -> tuple[BinaryIO, int | None]:
    """Return the stream of a file, and its size if that is known.

    name: of the file, as messages show it. packed: whether it is compressed with gzip.
    """
    if path == "-":
        assert stdin is not None
        return stdin, None
    import os
    import stat

    try:
        if packed:
            import gzip

            return gzip.open(path), None    # type: ignore[return-value]
        stream = open(path, "rb")
    except (OSError, ValueError) as problem:
        raise unreadable(name, problem) from None
    about = os.fstat(stream.fileno())
    return stream, about.st_size if stat.S_ISREG(about.st_mode) else None
