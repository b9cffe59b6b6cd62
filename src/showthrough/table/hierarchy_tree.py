"""Trees drawn with box characters."""

from __future__ import annotations

from collections.abc import Sequence

_SHORT = 60


def draw(levels: Sequence[Sequence[str]], *, lines: int) -> str:
    """The tree of ``levels`` (leaves first), cut where it would be longer than ``lines``.

    Each branch gets a fair share of the lines; a leaf that was repeated to fill a short row is
    drawn once.

    >>> print(draw([["DE", "FR", "JP"], ["Europe", "Europe", "JP"], ["*", "*", "*"]], lines=10))
    *
    ├── Europe
    │   ├── DE
    │   └── FR
    └── JP
    """
    every = list(range(len(levels[0])))
    top = len(levels) - 1
    drawn = [_short(levels[top][0])]
    drawn += _under(levels, top, every, room=max(lines - 1, 1), margin="")
    return "\n".join(drawn)


def _under(levels: Sequence[Sequence[str]], level: int, leaves: list[int], *, room: int, margin: str) -> list[str]:
    """The lines below a label of ``level`` that stands over ``leaves``."""
    label = levels[level][leaves[0]]
    while level > 0 and all(levels[level - 1][leaf] == label for leaf in leaves):  # a repeated leaf
        level -= 1
    if level == 0:
        return []
    children: dict[str, list[int]] = {}
    for leaf in leaves:
        children.setdefault(levels[level - 1][leaf], []).append(leaf)
    shown = list(children.items())
    if len(shown) > room:
        shown = shown[: max(room - 1, 0)]
    hidden = len(children) - len(shown)
    left = max(room - len(shown) - (hidden > 0), 0)
    drawn = []
    for k, (child, own) in enumerate(shown):
        last = k == len(shown) - 1 and not hidden
        below = []
        share = left // (len(shown) - k)
        if share > 0:
            below = _under(levels, level - 1, own, room=share, margin=margin + ("    " if last else "│   "))
            left -= len(below)
        count = f" ({len(own)} values)" if not below and len(own) > 1 else ""
        drawn.append(f"{margin}{'└' if last else '├'}── {_short(child)}{count}")
        drawn += below
    if hidden:
        drawn.append(f"{margin}└── … {hidden} more")
    return drawn


def _short(label: str) -> str:
    return label if len(label) <= _SHORT else label[: _SHORT - 1] + "…"
