"""The general problem, person by person: values, seats, counts in ranges, statements and a prior.

x[p, s] is the probability that person p has value s, y[p, r, g, s] that it moreover sits in group g of
release r (None: in none); Σ_g y = x for every release. A published row bounds Σ w·y, a statement bounds
Σ w·a·x. Among all that fits, the answer maximises

    Σ_p w · [ − Σ_s x·log(x/f) − Σ_s Σ_r Σ_g y·log(y/x) ],

the entropy of value and seats together, relative to the prior f: given the value, seats of different
releases are independent. Here it is solved over all combinations of seats, where that is not assumed.

Feasibility, bounds and face are linear programs in persons (w·x and w·y). A prior excludes where it is 0,
but what the counts alone force is asked without it.

The rest of the room: `case` (the problem), `linear` (programs), `entropy` (the answer), `worlds`.
"""

from __future__ import annotations

from tests.oracles.factored.case import Case, Key, Pair, Row, Seat, Statement, of_seating
from tests.oracles.factored.entropy import Answer, entropy, maximum_entropy, violation
from tests.oracles.factored.linear import Face, bounds, face, feasible
from tests.oracles.factored.worlds import worlds

__all__ = [
    "Answer",
    "Case",
    "Face",
    "Key",
    "Pair",
    "Row",
    "Seat",
    "Statement",
    "bounds",
    "entropy",
    "face",
    "feasible",
    "maximum_entropy",
    "of_seating",
    "violation",
    "worlds",
]
