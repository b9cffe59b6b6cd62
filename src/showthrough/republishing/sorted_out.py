"""Many small changes at a time, sorted out by who gained and who lost near each.

A look at what readers would believe takes far longer than to weigh all single changes by their influence, so as many
as promise something are tried together. Each moves probabilities by more than its influence says, and some of them the
wrong way; but what it does fades with the distance. So everybody's gain or loss is shared among the changes nearby
(`inference/nearby.py`), those that come out well are made, and the others are not tried again for a while. Where
nothing helps any more, a few who are left are helped whatever it does to others; that stays if it leaves fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from showthrough.inference.posterior import Posterior
from showthrough.republishing.people import People
from showthrough.republishing.proposal import MOST_HELD, Proposal
from showthrough.republishing.search import Search
from showthrough.republishing.steering import Changes, Steering
from showthrough.table.arrays import Ints, Reals
from showthrough.table.codes import positions

FREE, PAID = ("moved", "paid"), ("withheld", "moved", "paid", "moved", "telling")
GAIN = 0.05  # share of what is beyond the limit that a turn of all kinds takes away, or else others follow
FIRST = {"moved": 20, "paid": 60, "withheld": 1000}  # changes at a time
FEWEST, MOST = 4, 400
MORE, FEWER = 1.6, 0.6  # times as many, where more than so large a share came out well, or less than ...
WELL, BADLY = 0.6, 0.25
TOP = 0.05  # how far beyond a limit it does not matter any more by how much
PERSON = 0.01  # what it counts besides to be beyond it at all
PRICE = 0.001  # what a change has to gain for each record or counterfeit, at most
ROOM = 0.5  # share of what may be withheld that whoever is left is worth together
KICKS = 6  # times in a row that helping a few whatever it does to others leaves as many
HELPED, CHOICE = 6, 3  # persons who are helped so at a time, by one of so many changes, by two of twice as many, …
FEW, MANY = 2, 32  # who tell of somebody that are withheld with it; twice as many where that does not help
_LEAST = 1e-5

Steered = Callable[[Proposal, People], Steering | None]
Mates = Callable[[Proposal, Posterior, People, int], pl.DataFrame]


@dataclass(frozen=True, eq=False)
class Look:
    """A proposal, and what readers would believe."""

    proposal: Proposal
    over: People
    post: Posterior
    excess: Reals  # [persons] what being over a limit counts

    @property
    def beyond(self) -> float:
        """Of everybody."""
        return float(self.excess.sum())


@dataclass(eq=False)
class SortedOut:
    """Rounds of changes of proposals.

    ``steered`` tells what changes promise to everybody, ``aimed`` to those alone who are over a limit, ``telling``
    (id, mate) whose records tell of them, so many of each, and ``ending`` when no time is left.
    """

    search: Search
    limit: float | None  # None: the limits are on something else than what is believed
    steered: Steered
    aimed: Steered
    telling: Mates
    ending: Callable[[], bool]
    tell: Callable[[People], None]
    refused: set[tuple[int, int, int, int]] = field(default_factory=set)
    number: dict[str, float] = field(default_factory=lambda: dict(FIRST))
    few: int = FEW
    price: float = PRICE
    best: Look | None = None

    def run(self, proposal: Proposal, over: People) -> Proposal:
        """The proposal after rounds that helped: the one that leaves the fewest persons over a limit."""
        look = self._look(proposal) if over.any() else None
        if look is None:
            return proposal
        self.best = look
        look = self._turns(look, FREE)
        if self.search.guard.hold_back:
            self._turns(look, PAID)
            self._kicked_on(np.random.default_rng(self.search.guard.seed))
        return self.best.proposal

    def _kicked_on(self, generator: np.random.Generator) -> None:
        """From the best again and again after a kick, until that has not helped for some times."""
        idle = 0
        while self.best is not None and self.best.over.any() and idle < KICKS and not self.ending():
            before = self.best
            look = self._kicked(before, 1 + idle, generator)
            if look is not None:
                self._better(look)
                self._turns(look, PAID)
            idle = 0 if self.best is not before else idle + 1

    def _kicked(self, look: Look, many: int, generator: np.random.Generator) -> Look | None:
        """The same after some of the best changes for each of a few persons over a limit, whatever others get of it."""
        parts, steering = [], None
        for person in generator.permutation(np.flatnonzero(look.over.over))[:HELPED].tolist():
            alone = replace(look.over, over=np.arange(look.over.over.size) == person)
            steering = self.aimed(look.proposal, alone)
            if steering is None or self.ending():
                return None
            changes = steering.weighed(hold_back=True)
            promising = np.flatnonzero(changes.effect < -_LEAST)
            order = promising[np.argsort(changes.effect[promising], kind="stable")][: CHOICE * many]
            drawn = generator.permutation(order)[:many]
            parts.append(changes.where(np.isin(np.arange(changes.effect.size), drawn)))
        if steering is None:
            return None
        together = Changes.together(*parts)
        chosen = steering.fitting(together, np.ones(together.effect.size, dtype=bool))
        return self._look(together.made(chosen, look.proposal).inhabited()) if chosen.size else None

    def _turns(self, look: Look, all_kinds: tuple[str, ...]) -> Look:
        """Rounds of all kinds as long as they help; then of more and more who tell of persons over a limit."""
        kinds, self.few = all_kinds, FEW
        while look.over.any() and not self.ending():
            before = look.beyond
            self.price = self._priced(look)
            for kind in kinds:
                look = self._round(kind, look)
                self._better(look)
                if not look.over.any() or self.ending():
                    return look
            if look.beyond <= (1 - GAIN) * before:
                kinds, self.few = all_kinds, FEW
            elif all_kinds is FREE or self.few == MANY:
                break
            else:
                kinds, self.few = ("telling",), 2 * self.few
        self.refused.clear()
        return look

    def _better(self, look: Look) -> None:
        """Remember what leaves the fewest persons over a limit."""
        if self.best is None or look.over.sum() < self.best.over.sum():
            self.best = look
            self.tell(look.over)

    def _look(self, proposal: Proposal) -> Look | None:
        search = self.search
        over, post = search.over(proposal), search.posterior(proposal)
        if post is None:
            return None
        surer = post.ids.cast(pl.String).is_in(over.ids.filter(pl.Series(over.over)).implode()).to_numpy()
        limit = 1.0 if self.limit is None else self.limit
        excess = np.clip(np.nan_to_num(post.largest(), nan=1.0) - limit, 0.0, TOP)
        return Look(proposal, over, post, np.where(surer, excess + PERSON, 0.0))

    def _round(self, kind: str, look: Look) -> Look:
        """The best of: what there is, all changes that were tried, those of them that came out well."""
        steering = self.steered(look.proposal, look.over)
        if steering is None:
            return look
        changes, chosen, bundle = (
            self._told(look, steering) if kind == "telling" else self._chosen(kind, look, steering)
        )
        tried = None if not chosen.size else self._look(changes.made(chosen, look.proposal).inhabited())
        if tried is None:
            return look
        at = positions(look.post.ids, tried.post.ids).astype(np.int64)
        gain = steering.near(changes, chosen, bundle).T @ (look.excess - np.where(at >= 0, tried.excess[at], 0.0))
        well = gain > _LEAST + self.price * np.bincount(bundle, weights=changes.price[chosen])
        if kind != "telling":
            self._learned(kind, changes, chosen[~well], float(well.mean()))
        best = tried if self._worth(tried) < self._worth(look) else look
        if 0 < well.sum() < well.size and not self.ending():
            found = changes.made(chosen[well[bundle]], look.proposal).inhabited()
            kept = self._look(found) if self.search.satisfies(found) else None
            if kept is not None and self._worth(kept) < self._worth(best):
                best = kept
        return best

    def _learned(self, kind: str, changes: Changes, badly: Ints, share: float) -> None:
        """Remember what did not come out well, and try more or fewer the next time."""
        by = MORE if share > WELL else FEWER if share < BADLY else 1.0
        self.number[kind] = min(MOST, max(FEWEST, self.number[kind] * by))
        self.refused |= {changes.key(int(change)) for change in badly}

    def _worth(self, look: Look) -> float:
        return look.beyond + self.price * look.proposal.price

    def _priced(self, look: Look) -> float:
        """What a record or counterfeit has to gain: less where few persons are left and much may be withheld."""
        left = max(1.0, MOST_HELD * look.proposal.group.size - look.proposal.held)
        return float(min(PRICE, (TOP + PERSON) * look.over.sum() / (2 * ROOM * left)))

    def _chosen(self, kind: str, look: Look, steering: Steering) -> tuple[Changes, Ints, Ints]:
        """The changes of a kind, and those that are tried of them, each for itself."""
        changes = steering.moves() if kind == "moved" else steering.weighed(hold_back=self.search.guard.hold_back)
        promising = changes.effect < -_LEAST
        if kind == "withheld":  # whoever is over a limit, with a counterfeit of the same value instead
            promising = np.append(self.search.rows_of(look.over), False)[changes.row] & (changes.value >= 0)
        new = [changes.key(change) not in self.refused for change in range(changes.effect.size)]
        chosen = steering.fitting(changes, promising & np.array(new, dtype=bool), most=int(self.number[kind]))
        return changes, chosen, np.arange(chosen.size)

    def _told(self, look: Look, steering: Steering) -> tuple[Changes, Ints, Ints]:
        """Persons over a limit, each with a few who tell of it, with counterfeits instead: a bundle for each."""
        changes = steering.weighed(hold_back=True)
        replaced = np.flatnonzero((changes.row >= 0) & (changes.value >= 0))
        change_of = np.full(look.proposal.group.size, -1, dtype=np.int64)
        change_of[changes.row[replaced]] = replaced
        pairs = self.telling(look.proposal, look.post, look.over, self.few)
        bad = look.over.ids.filter(pl.Series(look.over.over))
        who = pl.concat([pairs.select("id", "mate"), pl.DataFrame({"id": bad, "mate": bad})])
        row = self.search.row_of(who["mate"])
        found = who.select("id").with_columns(change=np.where(row >= 0, change_of[row], -1))
        found = found.filter(pl.col("change") >= 0).unique("change", keep="last", maintain_order=True)
        chosen = found["change"].to_numpy().astype(np.int64)
        whole = ~steering.broken(changes, chosen)
        _, bundle = np.unique(found["id"].to_numpy()[whole].astype(str), return_inverse=True)
        return changes, chosen[whole], bundle.reshape(-1).astype(np.int64)
