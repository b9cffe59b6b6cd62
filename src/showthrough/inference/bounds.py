"""Sharp bounds: the smallest and largest P(value | person) over all assignments that fit.

Signatures are solved in persons, y[σ, s] = Σ x over the persons of the signature. One of its w
persons can take as much of s as there is, up to 1, and must take only what the others cannot hold,
so its bounds are min(1, max y) and max(0, min y − (w − 1)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from showthrough.inference.arrays import Ints, Reals
from showthrough.inference.face import Face
from showthrough.inference.reduce import reduce

_SNAP = 1e-9


def bounds(face: Face, signatures: Ints, *, tick: Callable[[], None] = lambda: None) -> tuple[Ints, Reals, Reals]:
    """Variables of the asked signatures that are not proven zero, with their lower and upper bounds."""
    problem = face.problem
    asked = np.zeros(problem.signatures, dtype=bool)
    asked[signatures] = True
    wanted = np.flatnonzero(face.alive & asked[problem.signature])
    lower, upper = np.zeros(problem.variables), np.zeros(problem.variables)
    alone = (face.choices() == 1)[problem.signature]
    lower[alone & face.alive] = upper[alone & face.alive] = 1.0
    for variable, least, most in _extremes(face, asked, tick):
        w = int(problem.weight[problem.signature[variable]])
        lower[variable] = _snapped(max(0.0, least - (w - 1)))
        upper[variable] = _snapped(min(1.0, most))
    return wanted, lower[wanted], upper[wanted]


def _extremes(face: Face, asked: np.ndarray, tick: Callable[[], None]) -> Iterator[tuple[int, float, float]]:
    """(variable, min y, max y) for every variable of an asked signature that has a choice."""
    problem = face.problem
    reduced = reduce(problem, face.alive)
    if not reduced.components:
        return
    owner = problem.signature[reduced.variable_of[reduced.start[:-1]]]
    sizes = np.bincount(reduced.signature_component, minlength=reduced.components)
    concerned = np.unique(reduced.signature_component[asked[owner]])
    for component in concerned:
        tick()
        if sizes[component] == 1:  # one signature alone holds its counts
            at = int(np.searchsorted(reduced.signature_component, component))
            for v in range(int(reduced.start[at]), int(reduced.start[at + 1])):
                rows = reduced.row[:, v]
                y = float(reduced.count[rows[rows < reduced.rows][0]])
                yield int(reduced.variable_of[v]), y, y
            continue
        from showthrough.inference import support

        yield from support.extremes(support.program(reduced, int(component)), asked[problem.signature])


def _snapped(p: float) -> float:
    """Exactly 0 or 1 where the linear program means it."""
    return 0.0 if p < _SNAP else 1.0 if p > 1 - _SNAP else p
