"""What a student typed, read: `read(text, Names(...))`, other readings, the formula of a code."""

from gradcli.reading.answer import Reading, alternatives, read
from gradcli.reading.names import Names
from gradcli.reading.written import written

__all__ = ["Names", "Reading", "alternatives", "read", "written"]
