"""showthrough: what shows through when published tables are laid on top of each other.

The public names load on first use, so importing the package pulls in neither NumPy nor Polars.
"""

from __future__ import annotations

from importlib import import_module

from showthrough import showing

TYPE_CHECKING = False  # as typing has it, which takes its time to load: a command is to hear interruptions before
if TYPE_CHECKING:
    from typing import Any

    from showthrough import attacks as attacks
    from showthrough import dp as dp
    from showthrough import engines as engines
    from showthrough import errors as errors
    from showthrough import knowledge as knowledge
    from showthrough.auditing.audit import audit as audit
    from showthrough.auditing.whole_audit import Audit as Audit
    from showthrough.comparing.comparison import Comparison as Comparison
    from showthrough.comparing.comparison import compare as compare
    from showthrough.criteria.alpha_k import AlphaKAnonymity as AlphaKAnonymity
    from showthrough.criteria.average_risk import AverageRisk as AverageRisk
    from showthrough.criteria.average_risk import Uniqueness as Uniqueness
    from showthrough.criteria.beta_likeness import BetaLikeness as BetaLikeness
    from showthrough.criteria.criterion import Check as Check
    from showthrough.criteria.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from showthrough.criteria.dissimilarity import Dissimilarity as Dissimilarity
    from showthrough.criteria.implications import CKSafety as CKSafety
    from showthrough.criteria.k_anonymity import KAnonymity as KAnonymity
    from showthrough.criteria.l_diversity import DistinctLDiversity as DistinctLDiversity
    from showthrough.criteria.l_diversity import EntropyLDiversity as EntropyLDiversity
    from showthrough.criteria.l_diversity import FrequencyLDiversity as FrequencyLDiversity
    from showthrough.criteria.l_diversity import RecursiveLDiversity as RecursiveLDiversity
    from showthrough.criteria.levels import levels as levels
    from showthrough.criteria.m_uniqueness import MUniqueness as MUniqueness
    from showthrough.criteria.population import DeltaPresence as DeltaPresence
    from showthrough.criteria.population import KMap as KMap
    from showthrough.criteria.quasi_identifiers import QuasiIdentifiers as QuasiIdentifiers
    from showthrough.criteria.quasi_identifiers import quasi_identifiers as quasi_identifiers
    from showthrough.criteria.risk import Risk as Risk
    from showthrough.criteria.risk import risk as risk
    from showthrough.criteria.skyline import SkylinePrivacy as SkylinePrivacy
    from showthrough.criteria.t_closeness import TCloseness as TCloseness
    from showthrough.criteria.worst_case import WorstCase as WorstCase
    from showthrough.criteria.worst_case import worst_case as worst_case
    from showthrough.inference.certificate import Certificate as Certificate
    from showthrough.inference.infer import infer as infer
    from showthrough.inference.posterior import Posterior as Posterior
    from showthrough.inference.proof import Proof as Proof
    from showthrough.knowledge.knowledge_file import read_knowledge as read_knowledge
    from showthrough.ledger.gate import Gate as Gate
    from showthrough.ledger.ledger import Ledger as Ledger
    from showthrough.measuring.measure import Utility as Utility
    from showthrough.measuring.utility import utility as utility
    from showthrough.policy.decision import Decision as Decision
    from showthrough.policy.policy import Policy as Policy
    from showthrough.policy.rules import PolicyException as PolicyException
    from showthrough.policy.rules import Rules as Rules
    from showthrough.policy.rules_file import read_policy as read_policy
    from showthrough.register.changed import Changed as Changed
    from showthrough.register.changed import changes_between as changes_between
    from showthrough.register.history_file import read_history as read_history
    from showthrough.register.register import Register as Register
    from showthrough.register.register import read_register as read_register
    from showthrough.release.reading import read_release as read_release
    from showthrough.release.release import Release as Release
    from showthrough.republishing.anonymize import anonymize as anonymize
    from showthrough.requests.attack_all import attack_all as attack_all
    from showthrough.table.hierarchy import Hierarchy as Hierarchy
    from showthrough.table.unpacking import unpacked_up_to as unpacked_up_to

__version__ = "0.1.0"

showing.drawn_by("showthrough.report.fragments")

_HOME = {
    "AlphaKAnonymity": "showthrough.criteria.alpha_k",
    "Audit": "showthrough.auditing.whole_audit",
    "AverageRisk": "showthrough.criteria.average_risk",
    "BetaLikeness": "showthrough.criteria.beta_likeness",
    "CKSafety": "showthrough.criteria.implications",
    "Certificate": "showthrough.inference.certificate",
    "Changed": "showthrough.register.changed",
    "Check": "showthrough.criteria.criterion",
    "Comparison": "showthrough.comparing.comparison",
    "Decision": "showthrough.policy.decision",
    "DeltaDisclosure": "showthrough.criteria.delta_disclosure",
    "DeltaPresence": "showthrough.criteria.population",
    "Dissimilarity": "showthrough.criteria.dissimilarity",
    "DistinctLDiversity": "showthrough.criteria.l_diversity",
    "EntropyLDiversity": "showthrough.criteria.l_diversity",
    "FrequencyLDiversity": "showthrough.criteria.l_diversity",
    "Gate": "showthrough.ledger.gate",
    "Hierarchy": "showthrough.table.hierarchy",
    "KAnonymity": "showthrough.criteria.k_anonymity",
    "KMap": "showthrough.criteria.population",
    "Ledger": "showthrough.ledger.ledger",
    "MUniqueness": "showthrough.criteria.m_uniqueness",
    "Posterior": "showthrough.inference.posterior",
    "Proof": "showthrough.inference.proof",
    "QuasiIdentifiers": "showthrough.criteria.quasi_identifiers",
    "RecursiveLDiversity": "showthrough.criteria.l_diversity",
    "Policy": "showthrough.policy.policy",
    "PolicyException": "showthrough.policy.rules",
    "Rules": "showthrough.policy.rules",
    "read_policy": "showthrough.policy.rules_file",
    "Register": "showthrough.register.register",
    "anonymize": "showthrough.republishing.anonymize",
    "Release": "showthrough.release.release",
    "Risk": "showthrough.criteria.risk",
    "SkylinePrivacy": "showthrough.criteria.skyline",
    "TCloseness": "showthrough.criteria.t_closeness",
    "Uniqueness": "showthrough.criteria.average_risk",
    "Utility": "showthrough.measuring.measure",
    "WorstCase": "showthrough.criteria.worst_case",
    "attack_all": "showthrough.requests.attack_all",
    "attacks": "showthrough.attacks",
    "audit": "showthrough.auditing.audit",
    "changes_between": "showthrough.register.changed",
    "compare": "showthrough.comparing.comparison",
    "dp": "showthrough.dp",
    "engines": "showthrough.engines",
    "errors": "showthrough.errors",
    "infer": "showthrough.inference.infer",
    "knowledge": "showthrough.knowledge",
    "levels": "showthrough.criteria.levels",
    "quasi_identifiers": "showthrough.criteria.quasi_identifiers",
    "read_history": "showthrough.register.history_file",
    "read_knowledge": "showthrough.knowledge.knowledge_file",
    "read_register": "showthrough.register.register",
    "read_release": "showthrough.release.reading",
    "risk": "showthrough.criteria.risk",
    "unpacked_up_to": "showthrough.table.unpacking",
    "utility": "showthrough.measuring.utility",
    "worst_case": "showthrough.criteria.worst_case",
}

__all__ = [
    "AlphaKAnonymity",
    "Audit",
    "AverageRisk",
    "BetaLikeness",
    "CKSafety",
    "Certificate",
    "Changed",
    "Check",
    "Comparison",
    "Decision",
    "DeltaDisclosure",
    "DeltaPresence",
    "Dissimilarity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "FrequencyLDiversity",
    "Gate",
    "Hierarchy",
    "KAnonymity",
    "KMap",
    "Ledger",
    "MUniqueness",
    "Policy",
    "PolicyException",
    "Posterior",
    "Proof",
    "QuasiIdentifiers",
    "RecursiveLDiversity",
    "Register",
    "Release",
    "Risk",
    "Rules",
    "SkylinePrivacy",
    "TCloseness",
    "Uniqueness",
    "Utility",
    "WorstCase",
    "__version__",
    "anonymize",
    "attack_all",
    "attacks",
    "audit",
    "changes_between",
    "compare",
    "dp",
    "engines",
    "errors",
    "infer",
    "knowledge",
    "levels",
    "quasi_identifiers",
    "read_history",
    "read_knowledge",
    "read_policy",
    "read_register",
    "read_release",
    "risk",
    "unpacked_up_to",
    "utility",
    "worst_case",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'showthrough' has no attribute {name!r}")
    module = import_module(_HOME[name])
    found = module if name in ("attacks", "dp", "engines", "errors", "knowledge") else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
