"""Table 1 of Ganta, Kasiviswanathan and Smith, *Composition Attacks and Auxiliary Information in Data
Privacy*, KDD 2008.

Two hospitals of one city publish generalized tables on their own. The paper names Alice (28 years,
zip 13012); the other people of the register are made up so that they fit both tables.
"""

from __future__ import annotations

from pathlib import Path

from showthrough.examples import shipped
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.table.files import parse_table

NAMES = ("H1", "H2")
QUASI = ("zip", "age", "nationality")


def releases() -> tuple[Release, ...]:
    """H1, which is 4-anonymous, and H2, which is 6-anonymous."""
    tables = [(name, parse_table(shipped.raw("hospitals", f"{name}.csv"), f"{name}.csv")) for name in NAMES]
    return tuple(Release.generalized(t, sensitive="condition", quasi=QUASI, name=name) for name, t in tables)


def register() -> Register:
    """Sixteen people with exact quasi-identifiers, and who of them was at which hospital."""
    return Register.of(parse_table(shipped.raw("hospitals", "people.csv"), "people.csv"))


def write(folder: Path) -> list[Path]:
    """Copy the two tables and the register."""
    return shipped.write("hospitals", [*(f"{name}.csv" for name in NAMES), "people.csv"], folder)
