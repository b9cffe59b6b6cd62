"""The answer as it is without noisy counts: what they weigh is a belief, and who judges asks for both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from showthrough.inference.certificate import STATES
from showthrough.inference.posterior import Posterior


def without_noise(post: Posterior) -> Posterior | None:
    """What the releases without noise tell of the same persons; None where noise changes nothing."""
    before = post._solved.unweighed
    if before is None:
        return None
    persons = np.bincount(before.states, minlength=len(STATES)).tolist()
    certificate = replace(
        post.certificate,
        status=STATES[int(before.state.max(initial=0))],
        persons_by_state={str(s): n for s, n in zip(STATES, persons, strict=True) if n},
        evidence=None,
    )
    return replace(post, certificate=certificate, _solved=before)
