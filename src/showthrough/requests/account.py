"""Account for noisy releases: what they promise together, and what one more would cost."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from showthrough.dp.account import Account, mechanisms
from showthrough.dp.composition import METHODS
from showthrough.dp.items import Item, Mechanism, Promise
from showthrough.errors import FieldError, InputError
from showthrough.release.noise import MECHANISMS, NEIGHBOURS, REPLACE_ONE, known_mechanism
from showthrough.release.reading import read_release
from showthrough.release.release import Release
from showthrough.report.account import AccountContent, AccountRow
from showthrough.report.origin import Origin
from showthrough.table.entries import Entries, between
from showthrough.table.files import read_bytes


@dataclass(frozen=True)
class AccountRequest(Entries):
    """Release folders, or the state of an account (a .json file), and what is asked.

    ``next`` is one more release: a folder, ``MECHANISM:SCALE`` for a table of counts, or ``EPSILON[,DELTA]``.
    """

    releases: tuple[str, ...]
    delta: float | None = None
    method: str | None = None
    neighbours: Literal["replace-one", "add-remove"] | None = None
    next: str | None = None
    max_epsilon: float | None = None

    def check(self) -> None:
        """Names that there are."""
        if self.method is not None and self.method not in METHODS:
            raise FieldError("method", f"is one of {', '.join(METHODS)}, not {self.method!r}.")
        if not self.releases:
            raise FieldError("releases", "is empty: name release folders.")
        between("max_epsilon", self.max_epsilon, 0)

    def files(self) -> list[Path]:
        """Everything that is read."""
        return [Path(name) for name in self.releases]


@dataclass(frozen=True, eq=False)
class AccountResult:
    """The account, and what is told of it."""

    account: Account
    content: AccountContent


def run_account(request: AccountRequest) -> AccountResult:
    """Read the releases and add up what they promise."""
    states, read = _read(request.releases)
    states, noisy, again = _once(states, [release for release in read if release.noise is not None])
    neighbours = request.neighbours or _common(states, noisy)
    account = Account((), neighbours)
    rows = []
    for state in states:
        name, under = state.name, state.account.neighbours
        if under != neighbours:
            raise InputError(f"{name} is an account under {under}, which says nothing under {neighbours}.")
        account = account.adding(*state.account.items)
        rows.append(replace(_row(state.name, state.account.items), fingerprints=tuple(sorted(state.holds))))
    for release in noisy:
        items = mechanisms(release, neighbours=neighbours)
        account = account.adding(*items)
        row = _row(release.name, items)
        noise = release.noise
        assert noise is not None
        told = {"mechanism": noise.mechanism, "scale": noise.scale, "fingerprints": (release.fingerprint(),)}
        rows.append(replace(row, **told))  # type: ignore[arg-type]
    delta = request.delta if request.delta is not None else _claimed(noisy)
    spent = account.spent(delta=delta, method=request.method)
    cost = None
    if request.next is not None:
        cost = account.cost(_next(request.next, neighbours), delta=delta, method=request.method)
    bare = tuple(r.name or "a release" for r in read if r.noise is None)
    content = AccountContent(
        tuple(rows), bare, neighbours, spent, cost, request.max_epsilon, account.as_dict(), Origin.now(request.files()),
        again,
    )  # fmt: skip
    return AccountResult(account, content)


@dataclass(frozen=True)
class _State:
    """An account that was written before, and the fingerprints of the releases that it holds, as far as it says."""

    name: str
    account: Account
    holds: frozenset[str]

    @classmethod
    def read(cls, path: str) -> _State:
        text = read_bytes(Path(path))
        account = Account.from_json(text)
        told = json.loads(text)
        rows = told.get("releases") if isinstance(told.get("releases"), list) else []
        each = [row.get("fingerprints") for row in rows if isinstance(row, dict)]
        held = (print for own in each if isinstance(own, list) for print in own if isinstance(print, str))
        return cls(Path(path).name, account, frozenset(held))


def _read(paths: Sequence[str]) -> tuple[list[_State], list[Release]]:
    states, releases = [], []
    for path in paths:
        if path.lower().endswith(".json") and not os.path.isdir(path):
            states.append(_State.read(path))
        elif os.path.isdir(path):
            releases.append(read_release(path))
        else:
            raise InputError(f"{path} is neither a release folder nor the state of an account (a .json file).")
    return states, releases


def _once(states: Sequence[_State], noisy: Sequence[Release]) -> tuple[list[_State], list[Release], int]:
    """Every account and release once, and how many are copies: to publish the same counts again costs nothing."""
    seen: set[str] = set()
    kept_states, kept = [], []
    for state in states:
        if not state.holds or not state.holds <= seen:
            kept_states.append(state)
        seen |= state.holds
    for release in noisy:
        if release.fingerprint() not in seen:
            kept.append(release)
        seen.add(release.fingerprint())
    return kept_states, kept, len(states) + len(noisy) - len(kept_states) - len(kept)


def _common(states: Sequence[_State], noisy: Sequence[Release]) -> str:
    """The relation of all, or replace-one, under which tables of counts of any relation have a promise."""
    found = {state.account.neighbours for state in states} | {r.noise.neighbours for r in noisy if r.noise is not None}
    return found.pop() if len(found) == 1 else REPLACE_ONE


def _claimed(noisy: Sequence[Release]) -> float | None:
    """The δ that the releases claim together; None where all of them are pure."""
    total = sum(r.noise.delta for r in noisy if r.noise is not None)
    return total or None


def _row(name: str, items: Sequence[Item]) -> AccountRow:
    bare = [item for item in items if isinstance(item, Mechanism) and not item.law.exponential]
    own = None if bare else Account(tuple(items)).spent()
    return AccountRow(name or "a release", "", len(items), None, None if own is None else own.epsilon)


def _next(given: str, neighbours: str) -> Any:
    """One more release: a folder, noise on a table of counts, or what it promises."""
    if os.path.isdir(given):
        return read_release(given)
    name, colon, scale = given.partition(":")
    try:
        if colon:
            shifts = (1.0, 1.0) if neighbours == NEIGHBOURS[0] else (1.0,)
            return Mechanism(known_mechanism(name), float(scale), shifts)
        return Promise(*(float(part) for part in given.split(",")))
    except (ValueError, TypeError):
        raise FieldError(
            "next",
            f"is a release folder, MECHANISM:SCALE ({', '.join(MECHANISMS)}), or EPSILON[,DELTA]; it is none of them.",
        ) from None
