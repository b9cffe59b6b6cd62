"""The attacks that can be asked for: one row each, with the class that holds its options and runs it."""

from __future__ import annotations

from showthrough.requests.attack_entries.background import BackgroundEntries
from showthrough.requests.attack_entries.base import AttackEntries
from showthrough.requests.attack_entries.bayes import BayesEntries
from showthrough.requests.attack_entries.bcf import BcfEntries
from showthrough.requests.attack_entries.definetti import DefinettiEntries
from showthrough.requests.attack_entries.differencing import DifferencingEntries
from showthrough.requests.attack_entries.homogeneity import HomogeneityEntries
from showthrough.requests.attack_entries.intersection import IntersectionEntries
from showthrough.requests.attack_entries.least_knowledge import LeastKnowledgeEntries
from showthrough.requests.attack_entries.linking import LinkingEntries
from showthrough.requests.attack_entries.membership import MembershipEntries
from showthrough.requests.attack_entries.minimality import MinimalityEntries
from showthrough.requests.attack_entries.proximity import ProximityEntries
from showthrough.requests.attack_entries.similarity import SimilarityEntries
from showthrough.requests.attack_entries.skewness import SkewnessEntries

ATTACKS: dict[str, type[AttackEntries]] = {
    "background": BackgroundEntries,
    "bayes": BayesEntries,
    "bcf": BcfEntries,
    "differencing": DifferencingEntries,
    "least-knowledge": LeastKnowledgeEntries,
    "intersection": IntersectionEntries,
    "homogeneity": HomogeneityEntries,
    "proximity": ProximityEntries,
    "similarity": SimilarityEntries,
    "skewness": SkewnessEntries,
    "linking": LinkingEntries,
    "membership": MembershipEntries,
    "definetti": DefinettiEntries,
    "minimality": MinimalityEntries,
}
"""By the name of the command."""
