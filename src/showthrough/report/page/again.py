"""The command that makes the newest release again: its own method, columns and criteria, and the policy's limits."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.anonymizers.methods import METHODS, Method
from showthrough.criteria.criteria_entries import CriteriaEntries
from showthrough.criteria.criterion import Criterion
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import DistinctLDiversity, EntropyLDiversity, FrequencyLDiversity
from showthrough.criteria.levels import trees_of
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.criteria.t_closeness import TCloseness
from showthrough.errors import InputError
from showthrough.policy.judging import SLACK
from showthrough.policy.policy import Policy
from showthrough.release.kind import Shows
from showthrough.release.release import Release
from showthrough.release.sums import shown_quasi
from showthrough.report.origin import relative
from showthrough.report.page.blocks import Republish
from showthrough.report.page.gathered import Gathered, shown
from showthrough.report.printable import printable

_METHODS = {Shows.EXACT: "anatomy", Shows.CELLS: "mondrian", Shows.CENTROIDS: "mdav"}
_READ_BACK: Mapping[str, Callable[[Any], Criterion]] = {
    "k": KAnonymity, "distinct_l": DistinctLDiversity, "frequency_l": FrequencyLDiversity,
    "entropy_l": EntropyLDiversity, "m_unique": MUniqueness, "t": TCloseness,
}  # fmt: skip
_GUARDED = ("max_posterior", "max_gain", "proximity", "impossible")
CommandLine = tuple[tuple[str, str], ...]
_USUAL = 0.5  # the limit where no policy says another


def republish(g: Gathered) -> Republish | None:
    """How the newest release could be made again beside the others; None where nothing could be better."""
    if not g.held:
        return None
    newest = g.held[-1]
    if not g.several or not g.after.p50 or newest.roles.sensitive is None or not newest.roles.quasi:
        return None
    if newest.noise is not None:
        return None  # its cells and its ε were fixed before anybody was counted: that is for the publisher
    id = followed(g)
    return _alone(g, newest, newest.roles.id or newest.link_id) if id is None else _guarded(g, newest, id)


def followed(g: Gathered) -> str | None:
    """The column of ids by which the guard can follow persons through all earlier releases; None if it cannot."""
    if not g.held:
        return None
    *earlier, newest = g.held
    names = {name for r in (*earlier, newest) if (name := r.roles.id or r.link_id) is not None}
    tied = all(r.roles.id or r.link is not None for r in earlier) and all(_readable(r, newest) for r in earlier)
    return names.pop() if tied and len(names) == 1 else None


def _guarded(g: Gathered, newest: Release, id: str) -> Republish:
    """Guarded by the policy: the guard follows persons through earlier releases by their ids or private links."""
    policy, earlier = _policy(g), list(zip(g.audit.posterior.names, g.held, strict=True))[:-1]
    limit = policy.max_posterior or _USUAL
    method = _method(newest, centroids=False)
    criteria = _criteria(method, newest, policy) or {"frequency_l": 1 / limit}
    history = [_options({"history": _place(name, release)}) for name, release in earlier]
    group = next((r.roles.group for _, r in earlier if _is_file(r)), None)
    guard = {"strategy": "guarded", **_guard(g, policy), "changed": "split" if _changes(g) else None, "output": "NEW/"}
    lines = [*_head(newest, id), _made(method, newest, criteria), *history, _options({"group": group}), _options(guard)]
    return Republish(tuple(lines), f"{_table(g)} It writes the folder NEW, or says why it cannot.")


def _alone(g: Gathered, newest: Release, id: str | None) -> Republish:
    """Larger groups without a look at the others: nothing tells the guard who is in their groups."""
    policy, method = _policy(g), _method(newest, centroids=True)
    made = _made(method, newest, _criteria(method, newest, policy) | _larger(method, g))
    lines = [*_head(newest, id), made, _options({"output": "NEW/"})]
    why = (
        "The guard follows persons by ids or private links, which not all earlier releases have, so this makes larger "
        f"groups only: audit again with NEW in the place of {g.newest}."
    )
    return Republish(tuple(lines), f"{_table(g)} {why}")


def _table(g: Gathered) -> str:
    return f"TABLE.csv stands for the table that {g.newest} was made from; start it where this report was made."


def _head(newest: Release, id: str | None) -> list[CommandLine]:
    parts = {"id": id, "sensitive": newest.roles.sensitive}
    return [_options(parts), _options({"quasi": ",".join(shown_quasi(newest))})]


def _made(method: Method, newest: Release, criteria: Mapping[str, Any]) -> CommandLine:
    """The method with its criteria, and what it publishes where that is not what the method makes."""
    other = method.kind != newest.kind and newest.form.from_groups and newest.form.shows is not Shows.CENTROIDS
    ids = newest.roles.id is not None and newest.form.publishes_ids
    return _options(
        {"method": method.name, **criteria, "kind": newest.kind if other else None, "publish_ids": ids or None}
    )


def _method(newest: Release, *, centroids: bool) -> Method:
    """The method that made the release, if it says so and can be asked again; else the usual one for its kind."""
    told = METHODS.get(str(newest.parameters.get("method")))
    usual = METHODS[_METHODS[newest.form.shows]]
    found = usual if told is None or told.name == "xcolor" else told  # xcolor needs a distance that nobody knows here
    return found if centroids or found.name != "mdav" else METHODS["mondrian"]


def _policy(g: Gathered) -> Policy:
    """The limits that matter most: those that block, else those that ask for review, else the usual one."""
    rules = g.audit.rules
    found = None if rules is None else rules.block or rules.review
    return found or Policy(max_posterior=_USUAL)


def _criteria(method: Method, newest: Release, policy: Policy) -> dict[str, Any]:
    """What the release says that it was made for, and the policy asks of each; as far as the method can."""
    told = newest.parameters.get("criteria", ())
    found: dict[str, Any] = dict(filter(None, map(_read_back, told if isinstance(told, (list, tuple)) else ())))
    found |= policy.criteria.limits()
    named = CriteriaEntries.from_dict(found).named(newest.sensitive, trees_of(newest, None))
    kept = {name for name, one in named if isinstance(one, method.enforces)}
    return {name: limit for name, limit in found.items() if name in kept}


def _read_back(text: Any) -> tuple[str, Any] | None:
    """A criterion from how it is called: "10-anonymity" is k = 10; None for one of another kind."""
    for number in re.findall(r"\d+(?:\.\d+)?", str(text)):
        for name, make in _READ_BACK.items():
            limit = int(number) if number.isdecimal() else float(number)
            try:
                same = str(make(limit)) == text
            except InputError:
                continue
            if same:
                return name, limit
    return None


def _larger(method: Method, g: Gathered) -> dict[str, Any]:
    """Groups twice as large, or as diverse, as they were; never more than the table can give."""
    name, newest = g.audit.posterior.names[-1], g.held[-1]
    levels = g.levels.get(name, {})
    if KAnonymity in method.enforces:
        k = levels.get("k-anonymity") or 1
        return {"k": int(max(2, min(2 * k, newest.members)))}
    most = newest.tally.group_by("value").agg(pl.col("n").sum())["n"].max()
    top = math.floor(newest.size.sum() / int(most)) if isinstance(most, int) and most else 1
    return {"frequency_l": max(1, min(math.ceil(2 * (levels.get("frequency l-diversity") or 1)), top))}


def _guard(g: Gathered, policy: Policy) -> dict[str, Any]:
    """The limits that the guard keeps, and whether earlier releases have put somebody over one already."""
    given = {name: getattr(policy, name) for name in _GUARDED}
    if policy.certain is None and not any(limit is not None for limit in given.values()):
        given["max_posterior"] = _USUAL  # of each release alone the policy speaks, of all together it does not
    given |= {"certain": policy.certain or None, "integral": None if policy.integral == "checked" else policy.integral}
    before = None if g.since is None else g.since.before
    if before is not None:
        limit = math.inf if given["max_posterior"] is None else given["max_posterior"]
        over = before.most > limit + SLACK or before.certain > (policy.certain or 0)
        given["accept_exposed"] = over or None
    return given


def _changes(g: Gathered) -> bool:
    """Whether somebody's value is known, or taken, to have changed."""
    found = g.audit.posterior.certificate.changed
    return bool(found.tolerated or found.told)


def _is_file(release: Release) -> bool:
    return bool(release.read_from) and not Path(release.read_from).is_dir()


def _readable(release: Release, newest: Release) -> bool:
    """Whether `publish` can read it: a folder, or a file whose columns are called alike."""
    if not _is_file(release):
        return True
    mine, theirs = release.roles, newest.roles
    return (
        release.shape == "rows"
        and mine.group is not None
        and (mine.id, mine.sensitive, mine.group) == (theirs.id, theirs.sensitive, theirs.group)
    )


def _place(name: str, release: Release) -> str:
    """Where a release is; one that was never saved goes by its name."""
    path = relative(Path(release.read_from)) if release.read_from else shown(name)
    return path if _is_file(release) else f"{path}/"


def _options(given: Mapping[str, Any]) -> CommandLine:
    """What is set, as names of parameters with what a shell reads; True takes no more words."""
    return tuple((name, "" if one is True else _value(one)) for name, one in given.items() if one is not None)


def _value(given: Any) -> str:
    if isinstance(given, (tuple, list)):
        return ",".join(map(_value, given))
    text = f"{given:.12g}" if isinstance(given, float) else str(given)
    return shlex.quote(printable(text, lines=False))
