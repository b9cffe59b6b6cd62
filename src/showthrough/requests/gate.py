"""The gate asked by files: a candidate, its policy and its reader in, a verdict out that the ledger remembers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from showthrough.errors import FieldError
from showthrough.ledger.gate import Gate, Hearing
from showthrough.ledger.parcel import of_entries
from showthrough.ledger.store import Tell
from showthrough.progress import Progress
from showthrough.register.register import Register
from showthrough.report import html
from showthrough.report.origin import Origin
from showthrough.requests.audit import AuditRequest, AuditResult, by_links, finished
from showthrough.requests.ledger import LedgerRequest
from showthrough.table.files import read_bytes


@dataclass(frozen=True)
class GateRequest(AuditRequest):
    """An audit of one candidate with the history of a ledger; ``keep_register`` stores the register there too."""

    ledger: LedgerRequest = field(default_factory=LedgerRequest)
    name: str | None = None
    keep_register: bool = False

    def check(self) -> None:
        """One candidate, limits to judge it by, and a register to keep."""
        super().check()
        if len(self.release) != 1:
            raise FieldError("release", "names several candidates: the gate judges one at a time.")
        if self.policy is None and not self.limits:
            raise FieldError("policy", "is missing: a gate needs limits to judge by.")
        if self.tables:
            raise FieldError("tables", "are for audits: the gate has no tables of earlier releases.")
        if self.keep_register and self.register is None:
            raise FieldError(
                "keep_register", "keeps a register: name one with register=FILE.", parameters=("register",)
            )

    def files(self) -> list[Path]:
        """All that is read, the ledger too if it is a file."""
        own = [] if "://" in self.ledger.ledger else [Path(self.ledger.ledger)]
        key = [] if self.ledger.key_file is None else [Path(self.ledger.key_file)]
        return [*super().files(), *own, *key]


@dataclass(frozen=True, eq=False)
class GateResult:
    """What became of the candidate, and the audit to tell it by."""

    gate: Gate
    told: AuditResult


def run_gate(
    request: GateRequest, progress: Progress | Callable[[str], None] | None = None, tell: Tell = lambda _: None
) -> GateResult:
    """Read the candidate, judge it with all that is out there, and record the verdict."""
    if request.report:
        html.environment()  # a missing library is told before hours of work
    told = Progress.of(progress)
    told.stage("reading")
    rules = request.rules()
    assert rules is not None  # checked
    known = request.known()
    [candidate], register = of_entries(request)
    candidate = candidate if request.name is None else candidate.called(request.name)
    made = Origin.now(AuditRequest.files(request))
    with request.ledger.open(tell) as ledger:
        asked = Hearing(
            rules,
            register,
            **known,
            changed=request.changed,
            contradictions=request.contradictions,
            membership=by_links if request.link and register is not None else None,
            seconds=request.seconds,
            whole_values=request.whole_values,
            register_file=_kept(request, register),
        )
        gate = ledger.judge(candidate, asked, told)
    return GateResult(gate, finished(request, gate.audit, made, told))


def _kept(request: GateRequest, register: Register | None) -> bytes | None:
    if not request.keep_register or register is None or request.register is None:
        return None
    return read_bytes(request.register.file)
