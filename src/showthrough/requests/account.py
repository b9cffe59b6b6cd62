"""Account for noisy releases: what they promise together, and what one more would cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
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
from showthrough.table.entries import Entries
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
    noisy, again = _once([release for release in read if release.noise is not None])
    neighbours = request.neighbours or _common(states, noisy)
    account = Account((), neighbours)
    rows = []
    for name, state in states:
        if state.neighbours != neighbours:
            raise InputError(f"{name} is an account under {state.neighbours}, which says nothing under {neighbours}.")
        account = account.adding(*state.items)
        rows.append(_row(name, state.items, "", None))
    for release in noisy:
        own = mechanisms(release, neighbours=neighbours)
        account = account.adding(*own)
        rows.append(_row(release.name, own, _noise(release), _scale(release)))
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


def _read(paths: Sequence[str]) -> tuple[list[tuple[str, Account]], list[Release]]:
    states, releases = [], []
    for path in paths:
        if path.lower().endswith(".json") and not os.path.isdir(path):
            states.append((Path(path).name, Account.from_json(read_bytes(Path(path)))))
        elif os.path.isdir(path):
            releases.append(read_release(path))
        else:
            raise InputError(f"{path} is neither a release folder nor the state of an account (a .json file).")
    return states, releases


def _once(noisy: Sequence[Release]) -> tuple[list[Release], int]:
    """Every release once, and how many are copies: to publish the same counts again costs nothing."""
    kept = list({release.fingerprint(): release for release in reversed(noisy)}.values())[::-1]
    return kept, len(noisy) - len(kept)


def _common(states: Sequence[tuple[str, Account]], noisy: Sequence[Release]) -> str:
    """The relation of all, or replace-one, under which tables of counts of any relation have a promise."""
    found = {state.neighbours for _, state in states} | {r.noise.neighbours for r in noisy if r.noise is not None}
    return found.pop() if len(found) == 1 else REPLACE_ONE


def _claimed(noisy: Sequence[Release]) -> float | None:
    """The δ that the releases claim together; None where all of them are pure."""
    total = sum(r.noise.delta for r in noisy if r.noise is not None)
    return total or None


def _row(name: str, items: Sequence[Item], noise: str, scale: float | None) -> AccountRow:
    bare = [item for item in items if isinstance(item, Mechanism) and not item.law.exponential]
    own = None if bare else Account(tuple(items)).spent()
    return AccountRow(name or "a release", noise, len(items), scale, None if own is None else own.epsilon)


def _noise(release: Release) -> str:
    return "" if release.noise is None else release.noise.mechanism


def _scale(release: Release) -> float | None:
    return None if release.noise is None else release.noise.scale


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
