"""Components that say what they are: f_y = 3, f_x = 2x is a gradient in another order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.checking.built import Tree
    from gradcli.checking.reference import Reference

ORDER = {"gradient": 1, "hessian": 2}


def arranged(tree: Tree, labels: Sequence[str], reference: Reference, kind: str) -> Tree:
    """The components where their labels put them; the tree itself where these do not fit.

    Of a Hessian, one mixed derivative stands for both.
    """
    order = ORDER.get(kind)
    if order is None or isinstance(tree, int) or len(tree) != len(labels):
        return tree
    found = {variables(label, reference.wrt, order): item
             for label, item in zip(labels, tree, strict=True)}
    if None in found or len(found) < len(labels):
        return tree
    wrt = reference.wrt
    if order == 1:
        return [found[x,] for x in wrt] if len(found) == len(wrt) else tree
    matrix = [[found.get((x, y), found.get((y, x))) for y in wrt] for x in wrt]
    if any(item is None for row in matrix for item in row):
        return tree
    return matrix


def variables(label: str, wrt: Sequence[str], order: int) -> tuple[str, ...] | None:
    """The variables that a label ends with: f_xy, fxy, ∂f/∂x, d^2f/dxdy. None if it is no such."""
    rest = "".join([c for c in label if c.isalpha() and c not in "∂"])
    found: list[str] = []
    for _ in range(order):
        name = max((n for n in wrt if rest.endswith(n)), key=len, default="")
        if not name:
            return None
        found.append(name)
        rest = rest[:len(rest) - len(name)].removesuffix("d")
    if label.endswith("^2") and order == 2 and len(set(found)) > 1:
        return None
    return tuple(reversed(found))
