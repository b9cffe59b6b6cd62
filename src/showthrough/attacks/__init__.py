"""Attacks of the literature on releases, all with one shape of result: `Outcome`."""

from showthrough.attacks.background import Background, background
from showthrough.attacks.bayes import bayes
from showthrough.attacks.bcf import Cracks, bcf
from showthrough.attacks.differencing import Differencing, differencing
from showthrough.attacks.least_knowledge import LeastKnowledge, least_knowledge
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import Score

__all__ = [
    "Background",
    "Cracks",
    "Differencing",
    "LeastKnowledge",
    "Outcome",
    "Score",
    "Threat",
    "background",
    "bayes",
    "bcf",
    "differencing",
    "least_knowledge",
]
