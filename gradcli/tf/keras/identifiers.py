"""What Keras's options name: a text, a class, a function or an object."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def identified(identifier: Any, by_name: Mapping[str, Any], what: str) -> Any:
    """Return the object or function that an option names; of a class a new object, None for None.

    by_name: classes and functions. Raises ValueError for what is none.
    """
    found = by_name.get(identifier) if isinstance(identifier, str) else identifier
    if isinstance(found, type):
        return found()
    if identifier is None or callable(found):
        return found
    raise ValueError(f"Could not interpret {what} identifier: {identifier}")
