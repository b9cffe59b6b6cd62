"""The kinds of release: one file each, one line here."""

from __future__ import annotations

from typing import Any

from showthrough.errors import InputError
from showthrough.release.bucketized import BucketizedKind
from showthrough.release.counted import CountedKind
from showthrough.release.generalized import GeneralizedKind
from showthrough.release.kind import Kind
from showthrough.release.microaggregated import MicroaggregatedKind
from showthrough.release.noisy import NoisyKind

RANDOMIZED = ("randomized", "randomised", "pram", "randomized response", "randomised response", "perturbed")

KINDS: dict[str, Kind] = {
    BucketizedKind.name: BucketizedKind(),
    GeneralizedKind.name: GeneralizedKind(),
    CountedKind.name: CountedKind(),
    MicroaggregatedKind.name: MicroaggregatedKind(),
    NoisyKind.name: NoisyKind(),
}


def known_kind(kind: Any, lead: str) -> Kind:
    """The kind of that name if it is one that can be read; ``lead`` begins the sentence that says it is not."""
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]
    if isinstance(kind, str) and kind.strip().lower().replace("_", " ").replace("-", " ") in RANDOMIZED:
        raise InputError(
            f"{lead} {kind!r}: randomized releases (PRAM, randomized response) are not covered. "
            f"The kinds that are: {', '.join(KINDS)}."
        )
    raise InputError(f"{lead} {kind!r}; this showthrough reads: {', '.join(KINDS)}.")
