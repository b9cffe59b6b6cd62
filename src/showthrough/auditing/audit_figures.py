"""The figures of an audit: each release alone, all of them together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReleaseFigures:
    """One release: alone, and what is left of its persons' secrecy when all releases are joined."""

    name: str
    kind: str
    persons: int
    groups: int
    values: int
    certain_alone: int
    entropy_alone_nats: float
    entropy_joined_nats: float
    tied_by: str  # what tells who is in which group, as `Reader.tied_by` calls it
    tied: bool  # whether anything ties its persons to those of another release


@dataclass(frozen=True)
class JointFigures:
    """All releases together; ``alone`` figures take each person's most telling single release."""

    persons: int
    values: int
    entropy_nats: float
    answered: int  # whose probabilities are a result
    certain: int
    certain_if_consistent: int
    certain_alone: int
    newly_certain: int
    impossible_by_sets: int
    impossible_by_counts: int
    certain_by_knowledge: int  # of those who are certain: not without the statements that the reader knows
    impossible_by_knowledge: int
    expected_guesses: float
    expected_guesses_alone: float
    best_guess_at_least: dict[str, int]
    best_guess_at_least_alone: dict[str, int]


@dataclass(frozen=True)
class WholeValues:
    """What assignments of whole values add to the facts by sets and counts, within a time budget."""

    seconds: float
    certain: int  # persons
    impossible: int  # pairs
    undecided: int  # pairs


class OfReleases:
    """What an audit says of its releases by how their persons are tied, worked out on one machine or in pieces."""

    releases: tuple[ReleaseFigures, ...]

    @property
    def untied(self) -> tuple[str, ...]:
        """Of several releases, those whose persons nothing ties to others: what they tell together is not known."""
        return () if len(self.releases) == 1 else tuple(r.name for r in self.releases if not r.tied)

    @property
    def linked(self) -> tuple[str, ...]:
        """Releases that are read as by somebody who knows everybody's group: by the publisher's private link."""
        return tuple(r.name for r in self.releases if r.tied_by == "link")
