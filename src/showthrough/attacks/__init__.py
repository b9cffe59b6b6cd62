"""Attacks of the literature on releases, all with one shape of result: `Outcome`."""

from showthrough.attacks.background import Background, background
from showthrough.attacks.bayes import bayes
from showthrough.attacks.bcf import Cracks, bcf
from showthrough.attacks.definetti import Definetti, definetti
from showthrough.attacks.differencing import Differencing, differencing
from showthrough.attacks.homogeneity import homogeneity
from showthrough.attacks.intersection import Intersection, intersection
from showthrough.attacks.least_knowledge import LeastKnowledge, least_knowledge
from showthrough.attacks.linking import linking
from showthrough.attacks.membership import membership
from showthrough.attacks.minimality import Minimality, minimality
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.proximity import ProximityOutcome, proximity
from showthrough.attacks.similarity import similarity
from showthrough.attacks.skewness import skewness
from showthrough.attacks.statistics import Score

__all__ = [
    "Background",
    "Cracks",
    "Definetti",
    "Differencing",
    "Intersection",
    "LeastKnowledge",
    "Minimality",
    "Outcome",
    "ProximityOutcome",
    "Score",
    "Threat",
    "background",
    "bayes",
    "bcf",
    "definetti",
    "differencing",
    "homogeneity",
    "intersection",
    "least_knowledge",
    "linking",
    "membership",
    "minimality",
    "proximity",
    "similarity",
    "skewness",
]
