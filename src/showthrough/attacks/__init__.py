"""Attacks of the literature on releases, all with one shape of result: `Outcome`."""

from showthrough.attacks.bayes import bayes
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import Score

__all__ = ["Outcome", "Score", "Threat", "bayes"]
