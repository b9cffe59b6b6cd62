"""Two versions of the package on the same random histories: do they say the same?

    python -m benchmarks.compare_versions OLD_SRC NEW_SRC [--histories 500] [--seed 0]

OLD_SRC and NEW_SRC are folders that hold the package ``showthrough``. Every version runs in a process of its
own. No fact may be lost; a new one must be confirmed by linear programs that share nothing with either
version (tests/oracles); probabilities may differ by 1e-9 or by both error bars together; refusals must be of
the same type. Histories that the old version refuses because they have too many combinations of groups
are counted apart: what the new one says of them, and of those that the old one could not certify, is judged
by the programs alone. History k is that of the seed ``seed + k``. Exit code 1 if anything disagrees.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.version_histories import Data, Judge, history

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = 1e-9
WORTH = ("not_converged", "contradictory", "relaxed", "undecided", "uncertified", "certified", "exact")
FAMILIES = ("bucketized", "located", "listed", "wide")

Answer = dict[str, Any]


def answers(source: Path, histories: list[Data]) -> list[Answer]:
    """What the version in a folder says of each history."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(source.resolve()), str(ROOT)])}
    lines = "".join(json.dumps(data) + "\n" for data in histories)
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.version_worker"],
        input=lines, capture_output=True, text=True, cwd=ROOT, env=environment, check=False,
    )  # fmt: skip
    # libraries of linear programs may print a line of their own
    told = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if not told or not Path(told[0]["package"]).is_relative_to(source.resolve()):
        raise SystemExit(f"{source} does not hold a package that runs:\n{run.stderr}")
    died = {"cpu": 0.0, "refused": ["died"], "crash": run.stderr[-300:], "verified": []}
    return [*told[1:], *[died] * (len(histories) - len(told) + 1)]


@dataclass
class Comparison:
    """Figures of all histories, and what disagrees."""

    figures: Counter[str] = field(default_factory=Counter)
    largest: float = 0.0
    cpu: dict[str, float] = field(default_factory=lambda: {"old": 0.0, "new": 0.0})
    against: list[str] = field(default_factory=list)

    def add(self, data: Data, old: Answer, new: Answer) -> None:
        """Compare the answers to one history."""
        self.figures["histories"] += 1
        self.figures[data["family"]] += 1
        where = f"seed {data['seed']} ({data['family']}, {len(data['releases'])} releases)"
        found = list(self._differences(data, old, new))
        self.against += [f"{where}: {text}" for text in found]
        for side, said in (("old", old), ("new", new)):
            self.figures[f"proofs {side}"] += len(said["verified"])
            self.figures[f"verified {side}"] += sum(said["verified"])
            if not all(said["verified"]):
                self.against.append(f"{where}: a proof of the {side} version does not verify")
        if not _apart(old, new):
            self.cpu["old"] += old["cpu"]
            self.cpu["new"] += new["cpu"]

    def _differences(self, data: Data, old: Answer, new: Answer) -> Iterator[str]:
        for side, said in (("old", old), ("new", new)):
            if "crash" in said:
                yield f"the {side} version fails: {said['crash']}"
        apart = _apart(old, new)
        if apart:
            self.figures[f"too many combinations, {apart}"] += 1
            yield from self._by_programs(data, new)
        elif "refused" in old and "refused" in new:
            self.figures["refused by both"] += 1
            if old["refused"][0] not in new["refused"] and new["refused"][0] not in old["refused"]:
                yield f"refused as {old['refused'][0]} and as {new['refused'][0]}"
        elif "refused" in old or "refused" in new:
            side, other = ("old", new) if "refused" in new else ("new", old)
            self.figures[f"answered by {side} alone"] += 1
            if "NotConvergedError" in old.get("refused", ()):
                yield from self._by_programs(data, new)
                return
            fits = "something fits" if Judge(data).feasible() else "nothing fits"
            yield f"only the {side} version answers, the other says {other['refused'][0]} (by the programs {fits})"
        else:
            self.figures["answered by both"] += 1
            yield from self._answers(data, old, new)

    def _answers(self, data: Data, old: Answer, new: Answer) -> Iterator[str]:
        before, after = ({tuple(f[:4]): f[4] for f in said["facts"]} for said in (old, new))
        self.figures["facts in both"] += len(before.keys() & after.keys())
        lost = before.keys() - after.keys()
        self.figures["facts lost"] += len(lost)
        for fact in sorted(lost, key=repr)[:3]:
            yield f"lost: {fact}"
        yield from self._new_facts(data, sorted(after.keys() - before.keys(), key=repr))
        self.figures["facts by another reason"] += sum(before[f] != after[f] for f in before.keys() & after.keys())
        if WORTH.index(new["status"]) < WORTH.index(old["status"]):
            self.figures["status worse"] += 1
            yield f"{new['status']} after {old['status']}"
        self.figures["status better"] += WORTH.index(new["status"]) > WORTH.index(old["status"])
        one, other = ({tuple(row[:3]): row[3] for row in said["p"]} for said in (old, new))
        off = max((abs((one.get(k) or 0.0) - (other.get(k) or 0.0)) for k in one.keys() | other.keys()), default=0.0)
        self.largest = max(self.largest, off)
        if {k[:2] for k in one} != {k[:2] for k in other}:
            yield "other persons"
        if not off <= max(ALLOWED, old["error_bar"] + new["error_bar"]):
            self.figures["probabilities apart"] += 1
            yield f"probabilities differ by {off:.1e} (error bars {old['error_bar']:.0e}, {new['error_bar']:.0e})"

    def _by_programs(self, data: Data, new: Answer) -> Iterator[str]:
        """Where the old version has no answer, what the new one says is judged by the programs alone."""
        if "refused" not in new:
            yield from self._new_facts(data, [tuple(f[:4]) for f in new["facts"]])
        elif not new.get("crowded") and Judge(data).feasible():
            yield f"the new version says {new['refused'][0]}, but by the programs something fits"

    def _new_facts(self, data: Data, facts: list[tuple[Any, ...]]) -> Iterator[str]:
        """Facts that the old version does not tell are right only if the programs say so."""
        self.figures["facts new"] += len(facts)
        judge = Judge(data) if facts else None
        names = [release["name"] for release in data["releases"]]
        for id, release, value, fact in facts:
            person = id if release is None else ("part", id, names.index(release))
            if judge is not None and judge.confirms(person, value, fact):
                self.figures["facts new, confirmed"] += 1
            else:
                yield f"new and not confirmed: {(id, release, value, fact)}"

    def table(self) -> str:
        """The figures, one a line."""
        f, ratio = self.figures, self.cpu["new"] / max(self.cpu["old"], 1e-9)
        families = ", ".join(f"{f[name]} {name}" for name in FAMILIES)
        lines = {
            "histories": f"{f['histories']} ({families})",
            "answered by both": f["answered by both"],
            "answered by the old alone": f["answered by old alone"],
            "answered by the new alone": f["answered by new alone"],
            "refused by both": f["refused by both"],
            "too many combinations": f"{f['too many combinations, crowded for both']} for both, "
            f"{f['too many combinations, crowded for old']} for the old alone",
            "facts": f"{f['facts in both']} in both, {f['facts lost']} lost, {f['facts new']} new, "
            f"of which {f['facts new, confirmed']} confirmed",
            "facts told by another reason": f["facts by another reason"],
            "status": f"{f['status better']} better, {f['status worse']} worse",
            "largest difference": f"{self.largest:.1e} ({f['probabilities apart']} beyond what is allowed)",
            "proofs verified": f"old {f['verified old']} of {f['proofs old']}, new {f['verified new']} of {f['proofs new']}",
            "CPU seconds": f"old {self.cpu['old']:.2f}, new {self.cpu['new']:.2f}: {ratio:.2f} times",
            "disagreements": len(self.against),
        }
        return "\n".join(f"{name:30} {figure}" for name, figure in lines.items())


def _apart(old: Answer, new: Answer) -> str:
    """Who refuses because of the number of combinations, if the old version does."""
    if not old.get("crowded"):
        return ""
    return "crowded for both" if new.get("crowded") else "crowded for old"


def main() -> None:
    """Compare and print; exit 1 on any disagreement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--histories", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    histories = [history(options.seed + k) for k in range(options.histories)]
    old, new = answers(options.old, histories), answers(options.new, histories)
    comparison = Comparison()
    for data, before, after in zip(histories, old, new, strict=True):
        comparison.add(data, before, after)
    print(comparison.table())
    for text in comparison.against:
        print(text, file=sys.stderr)
    sys.exit(1 if comparison.against else 0)


if __name__ == "__main__":
    main()
