"""What a report says of checked releases, as typed content. The JSON schema is check.schema.json.

``shareable`` content holds counts and levels only; ``internal`` names the worst groups by their
labels, which may single out a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from showthrough import __version__
from showthrough.criteria.criterion import Check
from showthrough.criteria.examine import Examined
from showthrough.criteria.quasi_identifiers import QuasiIdentifiers
from showthrough.criteria.risk import Adversary, Risk
from showthrough.measuring.measure import Utility
from showthrough.report.figure import Figure, Figures, figures, plain

SCHEMA = "showthrough.check"
VERSION = 1
TELLING = 20
"""Sets of columns that are told, of those that were looked at as quasi-identifiers."""

LABELS = {  # in the order of every table
    "gcp_published": "GCP as published",
    "gcp_set": "GCP of sets",
    "gcp_hierarchy": "GCP of hierarchies",
    "entropy_loss": "entropy loss",
    "average_size": "average group size",
    "c_avg": "C_avg",
    "discernibility": "discernibility",
    "query_error_median": "query error, median",
    "query_error_mean": "query error, mean",
}


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found of one release."""

    name: str
    kind: str | None
    parts: tuple[Examined, ...]
    risk: Risk | None = None
    utility: Utility | None = None
    telling: QuasiIdentifiers | None = None

    @property
    def holds(self) -> bool | None:
        """Whether all limits hold; None without limits."""
        checks = [check.holds for part in self.parts for check in part.checks]
        return all(checks) if checks else None


@dataclass(frozen=True)
class Tree:
    """A hierarchy as lines of text, and where it comes from."""

    rule: str
    tree: str


@dataclass(frozen=True)
class WorstGroup:
    """Size and level of a group; its label for the internal audience."""

    persons: int
    level: float
    group: Mapping[str, Any] | None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        label = {} if self.group is None else {"group": plain(self.group)}
        return {"persons": self.persons, "level": plain(self.level), **label}


@dataclass(frozen=True)
class Limit:
    """One criterion with its limit, applied."""

    criterion: str
    holds: bool
    level: float
    failing_groups: int
    failing_persons: int
    sentence: str
    worst: tuple[WorstGroup, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**plain({**vars(self), "worst": ()}), "worst": [group.as_dict() for group in self.worst]}


@dataclass(frozen=True)
class ResultContent:
    """One sensitive column of a release."""

    sensitive: str | None
    figures: Figures
    levels: tuple[Figure, ...]
    limits: tuple[Limit, ...]
    negations: tuple[Mapping[str, Any], ...] | None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        levels = [{"criterion": f.name, "level": plain(f.value), "sentence": f.meaning} for f in self.levels]
        return {
            "sensitive": self.sensitive,
            **self.figures.as_dict(),
            "levels": levels,
            "checks": [limit.as_dict() for limit in self.limits],
            **({} if self.negations is None else {"negations": plain(list(self.negations))}),
        }


@dataclass(frozen=True)
class UtilityContent:
    """What a release loses of its table; notes say what was not computed, and why."""

    figures: Figures
    notes: tuple[str, ...]

    def measures(self) -> list[Figure]:
        """Those that have a name for people and were computed, in the order of every table."""
        known = {figure.name: figure for figure in self.figures}
        return [known[name] for name in LABELS if known[name].value is not None]


@dataclass(frozen=True)
class RiskContent:
    """Re-identification risk: figures of the release, and of each adversary."""

    figures: Figures
    prosecutor: Figures
    journalist: Figures | None
    estimated: Figures | None
    sentence: str = ""
    """What is estimated of the population, in words."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        journalist = None if self.journalist is None else self.journalist.as_dict()
        estimated = None if self.estimated is None else self.estimated.as_dict()
        own = {**self.figures.as_dict(), "prosecutor": self.prosecutor.as_dict(), "journalist": journalist}
        return {**own, "estimated": estimated}


@dataclass(frozen=True)
class TellingContent:
    """Sets of columns by how well they tell rows apart, the best of them."""

    figures: Figures
    sets: tuple[Mapping[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**self.figures.as_dict(), "sets": plain(list(self.sets))}


@dataclass(frozen=True)
class ReleaseContent:
    """Everything about one release."""

    release: str
    kind: str | None
    holds: bool | None
    results: tuple[ResultContent, ...]
    risk: RiskContent | None
    utility: UtilityContent | None
    telling: TellingContent | None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        useful = self.utility
        return {
            "release": self.release,
            "kind": self.kind,
            "holds": self.holds,
            "results": [result.as_dict() for result in self.results],
            "risk": None if self.risk is None else self.risk.as_dict(),
            "utility": None if useful is None else {**useful.figures.as_dict(), "notes": list(useful.notes)},
            **({} if self.telling is None else {"quasi_identifiers": self.telling.as_dict()}),
        }


@dataclass(frozen=True)
class CheckContent:
    """Checked releases for their audience; ``holds`` is None without limits."""

    audience: str
    holds: bool | None
    releases: tuple[ReleaseContent, ...]
    trees: Mapping[str, Tree]

    def as_dict(self) -> dict[str, Any]:
        """One JSON object; infinity is written as text."""
        trees = {name: asdict(tree) for name, tree in self.trees.items()}
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "showthrough": __version__,
            "audience": self.audience,
            "holds": self.holds,
            "releases": [release.as_dict() for release in self.releases],
            **({"trees": trees} if trees else {}),
        }


def content(examined: Sequence[Findings], *, audience: str, trees: Mapping[str, Tree] | None = None) -> CheckContent:
    """What is told of releases that were examined."""
    held = [entry.holds for entry in examined if entry.holds is not None]
    told = tuple(_release(entry, internal=audience == "internal") for entry in examined)
    return CheckContent(audience, all(held) if held else None, told, trees or {})


def _release(entry: Findings, *, internal: bool) -> ReleaseContent:
    results = tuple(_result(part, internal=internal) for part in entry.parts)
    risked = None if entry.risk is None else _risk(entry.risk)
    useful, telling = _utility(entry.utility), _telling(entry.telling)
    return ReleaseContent(entry.name, entry.kind, entry.holds, results, risked, useful, telling)


def _result(part: Examined, *, internal: bool) -> ResultContent:
    counts, real = part.counted.counts, part.counted.real
    told = {
        "persons": int(counts.size.sum()),
        "groups": counts.groups,
        "values": counts.values if part.counted.has_values else None,
        "suppressed": part.counted.suppressed,
        "counterfeits": 0 if real is None else int(counts.size.sum() - real.sum()),
    }
    levels = tuple(Figure(*row) for row in part.levels.select("criterion", "level", "sentence").iter_rows())
    limits = tuple(_limit(check, internal=internal) for check in part.checks)
    negations = None if part.negations is None else tuple(part.negations.iter_rows(named=True))
    return ResultContent(part.sensitive, figures(told, "check", "result"), levels, limits, negations)


def _limit(check: Check, *, internal: bool) -> Limit:
    *labels, size, level = check.worst.get_columns()
    worst = tuple(
        WorstGroup(size[row], level[row], {c.name: c[row] for c in labels} if internal else None)
        for row in range(check.worst.height)
    )
    return Limit(
        check.criterion,
        check.holds,
        check.level,
        check.failing_groups,
        check.failing_persons,
        check.sentence,
        worst,
    )


def _risk(found: Risk) -> RiskContent:
    own = {name: value for name, value in vars(found).items() if not isinstance(value, Adversary)}
    own.pop("journalist", None)
    sample = own.pop("estimated", None)
    of_each = [None if a is None else figures(a, "check", "adversary") for a in (found.prosecutor, found.journalist)]
    assert of_each[0] is not None
    guessed = None if sample is None else figures(sample, "check", "estimated")
    told = "" if sample is None else str(sample)
    return RiskContent(figures(own, "check", "risk"), of_each[0], of_each[1], guessed, told)


def _utility(found: Utility | None) -> UtilityContent | None:
    if found is None:
        return None
    own = {name: value for name, value in asdict(found).items() if name != "notes"}
    return UtilityContent(figures(own, "check", "utility", LABELS), found.notes)


def _telling(found: QuasiIdentifiers | None) -> TellingContent | None:
    if found is None:
        return None
    own = {"rows": found.rows, "looked_at": found.sets.height, "complete": found.complete}
    best = tuple(found.sets.head(TELLING).iter_rows(named=True))
    return TellingContent(figures(own, "check", "quasi_identifiers"), best)
