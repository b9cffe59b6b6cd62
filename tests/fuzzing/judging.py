"""What must hold of every run: exit code, one sentence, no marked cell, no file changed, nothing left behind."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzzing.case import Case
from tests.fuzzing.marks import shown

CODES = {0, 1, 2, 3, 4, 130}
MOST_IDS = 5  # of fewer rows nothing is told by how they differ
_ID = re.compile(rb"zq7xid\d+")
TOLD = ("out.json", "page.html", "out.xml", "out.sarif", "out.md")  # files for everybody; the first two may be internal
_DIGEST = re.compile(r"[0-9a-f]{32,64}")  # which may hold any digits
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ufdd0-\ufdd2]")


@dataclass
class Ran:
    """How a run ended: a negative code is a signal; ``said`` is what errors say that were made on the way."""

    code: int
    out: str = ""
    err: str = ""
    said: list[str] = field(default_factory=list)


def listing(home: Path) -> dict[str, str]:
    """Every file with its hash."""
    return {
        os.fspath(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }


def faults(case: Case, before: dict[str, str], ran: Ran) -> list[str]:
    """What does not hold, in words; empty if all is well."""
    found = []
    if ran.code not in CODES:
        found.append(f"exit code {ran.code}")
    if ran.code == 2 and not _one_sentence(ran.err, proof=case.internal):
        found.append("no single sentence")
    if "Traceback" in ran.out + ran.err or "panicked" in ran.err:
        found.append("a traceback")
    if _CONTROL.search(ran.out + ran.err):
        found.append("a control character")
    found += [f"an error says {text!r}" for one in ran.said for text in shown(one)]
    if not case.internal:
        found += [f"shows {text!r}" for text in [*shown(_DIGEST.sub("", ran.out)), *shown(ran.err)]]
    return found + _files(case, before, ran)


def _published(case: Case, after: dict[str, str]) -> list[str]:
    """Ids stay out of what is published, unless somebody asked for them; a few may stand in other columns."""
    if case.argv[0] != "publish" or {"--publish-ids", "--quasi-anyway"} & set(case.argv):
        return []
    inside = [case.home / name for name in after if name.startswith("out/")]
    ids = {found.group() for path in inside for found in _ID.finditer(path.read_bytes())}
    return [f"published {len(ids)} ids"] if len(ids) >= MOST_IDS else []


def _remembered(case: Case, after: dict[str, str]) -> list[str]:
    """A ledger whose ids are hashed holds none, where the column of ids is said to be one."""
    if (
        "--key-file" not in case.argv
        or "ledger.db" not in after
        or "--quasi" in case.argv
        or case.argv.count("pid") != 1
    ):
        return []
    ids = {found.group() for found in _ID.finditer((case.home / "ledger.db").read_bytes())}
    return [f"the ledger holds {len(ids)} ids"] if len(ids) >= MOST_IDS else []


def _one_sentence(err: str, *, proof: bool) -> bool:
    """One line; whoever may see data is told the proof of a contradiction below it."""
    lines = err.strip().split("\n")
    if proof and "contradict" in lines[0]:
        lines = lines[:1]
    return len(lines) == 1 and lines[0].startswith("Error: ") and len(lines[0]) < 2000


def _files(case: Case, before: dict[str, str], ran: Ran) -> list[str]:
    after, found = listing(case.home), []
    mine = {name for name in after if any(name == out or name.startswith(f"{out}/") for out in case.outputs)}
    found += [f"changed {name}" for name in before if after.get(name) != before[name] and name not in mine]
    found += [f"left {name}" for name in after if ".showthrough." in name]
    asked = {word.split("/")[0] for word in case.argv}
    asked |= {f"{word}.link.csv" for word in asked}  # the private link stands beside its release
    new = [name for name in after if name not in before and name not in mine and name.split("/")[0] not in asked]
    found += [f"wrote {name}" for name in new if ".showthrough." not in name]
    found += _published(case, after) + _remembered(case, after)
    if ran.code in (2, 70):
        found += [f"wrote {name} although it failed" for name in after if after[name] != before.get(name)]
    for name in TOLD:
        if name in after and name not in before and not (case.internal and name in TOLD[:2]):
            found += [
                f"{name} shows {text!r}" for text in shown(_DIGEST.sub("", (case.home / name).read_text("utf-8")))
            ]
    return found
