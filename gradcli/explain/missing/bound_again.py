"""Names on the way that were bound again: what came of the source was lost with the old value."""

from __future__ import annotations

from gradcli.explain.catalogue import Reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.explain.missing.scene import Naming, Scene, Subject


def bound_again(scene: Scene, subject: Subject, above: set[int]) -> Reason | None:
    """The name nearest the target that held something made of the source, and something else when
    the target used it.
    """
    below = scene.below(subject.own)
    before: dict[tuple[str, object], Naming] = {}
    found: tuple[Naming, Naming] | None = None
    lost_names = {naming.name for naming in scene.namings if naming.id in below}
    for naming in sorted([*scene.namings, *scene.read_as(lost_names, above)],
                         key=lambda naming: naming.time):
        key = naming.name, scene.scope(naming.span)
        lost = before.get(key)
        if naming.id in below:
            before[key] = naming
        elif lost is not None and lost.span is not None and naming.kind != "parameter":
            if not scene.in_one_call(lost.span, naming.span):
                del before[key]
            elif naming.id in above and naming.span not in (None, lost.span) and (
                    found is None or found[0] is not lost):
                found = lost, naming
    if found is None or found[0].name == subject.source:
        return None
    lost, naming = found
    if naming.kind == "literal" and naming.id in subject.targets:
        return None  # that the target is a fixed number says more
    name = naming.name
    assert naming.span is not None
    assert lost.span is not None
    in_loop = naming.span < lost.span
    how = "begins anew here in each turn of the loop" if in_loop else (
        "was bound to a new value here")
    which = "that one" if naming.id in subject.targets or name == subject.target else (
        f"{subject.target} uses that one, which")
    return Reason(
        "path-rebound", f"{name} {how}; {which} does not depend on {subject.source}", naming.span,
        f"bind {name} before the loop" if in_loop else "give the new value a name of its own",
        related=[(lost.span, f"this {name} depends on {subject.source}")])
