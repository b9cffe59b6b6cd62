"""The attacks that can be asked for: one row each, with the class that holds its options and runs it."""

from __future__ import annotations

from showthrough.requests.attack_entries.background import BackgroundEntries
from showthrough.requests.attack_entries.base import AttackEntries
from showthrough.requests.attack_entries.bayes import BayesEntries
from showthrough.requests.attack_entries.bcf import BcfEntries
from showthrough.requests.attack_entries.differencing import DifferencingEntries
from showthrough.requests.attack_entries.least_knowledge import LeastKnowledgeEntries

ATTACKS: dict[str, type[AttackEntries]] = {
    "background": BackgroundEntries,
    "bayes": BayesEntries,
    "bcf": BcfEntries,
    "differencing": DifferencingEntries,
    "least-knowledge": LeastKnowledgeEntries,
}
"""By the name of the command."""
