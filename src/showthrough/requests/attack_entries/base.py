"""How an attack is asked for: its own options as fields that carry their help, and the call of the attack.

A subclass is a frozen dataclass in a file of its own; its docstring is the help of its command, its fields are the
options. What all attacks take (releases, register, truth, seconds, seed) is in `Attacked`, so a subclass has what is
special about its attack and nothing else. These files are loaded with the command line: whatever needs the numerical
libraries is imported inside `run`.

    @dataclass(frozen=True)
    class HomogeneityEntries(AttackEntries):
        \"\"\"Homogeneity: who is in a group with one value.\"\"\"

        share: float = option(1.0, "Share of the value from which a group counts.", least=0, most=1)

        def run(self, given: Attacked) -> Outcome:
            from showthrough.attacks.homogeneity import homogeneity

            return homogeneity(given.releases, self.share, register=given.register)
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from showthrough.errors import FieldError
from showthrough.table.entries import Entries, between

if TYPE_CHECKING:
    import polars as pl

    from showthrough.attacks.outcomes import Outcome
    from showthrough.requests.attack_entries.attacked import Attacked

_KEY = "option"


@dataclass(frozen=True)
class Choice:
    """What the command line says of one option."""

    help: str
    metavar: str | None = None
    file: bool = False
    """A file that is read, or, where the field is a table, a file for each name: ``[NAME=]FILE``."""
    least: float | None = None
    most: float | None = None
    needed: bool = False


def option(default: Any, help: str, **more: Any) -> Any:
    """A field of an attack that is an option of its command; ``more`` are the other fields of `Choice`."""
    said = {_KEY: Choice(help, **more)}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=said)
    return field(default=default, metadata=said)


@dataclass(frozen=True)
class AttackEntries(Entries):
    """The options of one attack, and how it is run."""

    one: ClassVar[bool] = False
    """Whether it looks at one release at a time."""
    samples: ClassVar[bool] = False
    """Whether it draws at random, from a seed."""

    @classmethod
    def choices(cls) -> dict[str, Choice]:
        """What is said of each option."""
        return {f.name: f.metadata[_KEY] for f in fields(cls) if _KEY in f.metadata}

    def check(self) -> None:
        """Nothing is missing, and numbers are in their ranges."""
        for name, said in self.choices().items():
            given = getattr(self, name)
            if said.needed and not given and given != 0:
                raise FieldError(name, "is missing.")
            if isinstance(given, (int, float)) and said.least is not None:
                between(name, given, said.least, said.most)

    def files(self) -> list[Path]:
        """The files that its options name."""
        found = []
        for name, said in self.choices().items():
            given = getattr(self, name)
            named = given.values() if isinstance(given, dict) else given if isinstance(given, tuple) else [given]
            found += [Path(file) for file in named if file] if said.file else []
        return found

    @classmethod
    def unable(cls, given: Attacked) -> str:  # noqa: ARG003 - most say more
        """Why it cannot run on what is given and its defaults, in one sentence; empty if it can."""
        return ""

    @classmethod
    def lacks(cls, given: Attacked) -> tuple[str, ...]:  # noqa: ARG003 - most say more
        """The parameters that would let it run where it cannot: options of its own, or the register."""
        return ()

    @classmethod
    def usual(cls, given: Attacked) -> Self:  # noqa: ARG003 - some look
        """The options by which it is run together with all others."""
        return cls()

    def run(self, given: Attacked) -> Outcome:
        """The attack itself."""
        raise NotImplementedError

    def truth(self, given: Attacked) -> pl.DataFrame | None:
        """What the beliefs are scored against."""
        return given.truth
