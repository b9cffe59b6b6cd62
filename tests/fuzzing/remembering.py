"""Cases of the ledger and the gate: ledgers with a history, candidates, and files that are none any more."""

from __future__ import annotations

import contextlib
from pathlib import Path

from showthrough import Policy
from showthrough.errors import RecordedError
from showthrough.ledger.ledger import Ledger
from tests.fuzzing.case import BUCKETS, Case
from tests.fuzzing.tables import World, write

KEY = "k" * 40
ROLES = {"id": "pid", "group": "group", "sensitive": "disease"}
OUTPUTS = ["ledger.db", "ledger.db-journal", "out", "out.json", "out.link.csv", "page.html", "people.csv", "new.db"]
EXCEPTION = ["--exception", "why", "--owner", "who", "--until", "2999-01-01"]


def _remembered(world: World, home: Path) -> list[str]:
    """A ledger that holds all years but the last, whose file stays to be judged; gives the options that name it."""
    rng = world.rng
    hashed = rng.random() < 0.4
    (home / "key.txt").write_text(KEY)
    years = [write(home, f"y{k}.csv", world.bucketized(k)) for k in range(len(world.values))]
    with Ledger.create(home / "ledger.db", hash_ids=hashed, key=KEY.encode() if hashed else None) as ledger:
        for name in years[:-1]:
            with contextlib.suppress(RecordedError):  # the same as the year before
                ledger.add(home / name, **ROLES)
        with contextlib.suppress(RecordedError):
            if rng.random() < 0.3:
                ledger.gate(home / years[-1], policy=Policy(certain=0, max_posterior=0.1), changed="tolerate", **ROLES)
    (home / "policy.toml").write_text(rng.choice(["[block]\ncertain = 0\n", "[block]\nmax_posterior = 0.9\n"]))
    return ["--key-file", "key.txt"] if hashed else rng.choice([[], [], ["--ledger", "ledger.db"]])


def gate(world: World, home: Path) -> Case:
    """The newest year, or a release without ids, judged by what came before."""
    rng, place = world.rng, _remembered(world, home)
    if rng.random() < 0.7:
        argv = ["gate", f"y{len(world.values) - 1}.csv", *BUCKETS]
    else:
        argv = ["gate", write(home, "g.csv", world.generalized(0)), "--sensitive", "disease", "--quasi", "zip,age"]
        argv += ["--register", write(home, "people_register.csv", world.register())] if rng.random() < 0.7 else []
    argv += ["--policy", "policy.toml", "--seconds", "5", *place]
    extras = [
        ["--json", "out.json"], ["-o", "page.html"], ["--people", "people.csv"], ["--changed", "split"],
        ["--contradictions", "refuse"], ["--name", "next"], ["--keep-register"], ["--wait", "1"], ["--format", "json"],
    ]  # fmt: skip
    for extra in rng.sample(extras, rng.randint(0, 3)):
        argv += extra
    return Case(home, argv, OUTPUTS)


def ledger(world: World, home: Path) -> Case:
    """All that is asked of a ledger."""
    place, newest = _remembered(world, home), f"y{len(world.values) - 1}"
    named = [one for one in place if one not in ("--key-file", "key.txt")]
    ways = [
        ["ledger", "init", "new.db"], ["ledger", "init", "new.db", "--hash-ids", "--key-file", "key.txt"],
        ["ledger", "add", f"{newest}.csv", *BUCKETS, *place], ["ledger", "add", "y0.csv", *BUCKETS, *place],
        ["ledger", "add", newest, *EXCEPTION, *place], ["ledger", "add", f"{newest}.csv", *BUCKETS, *EXCEPTION, *place],
        ["ledger", "list", *named], ["ledger", "list", "--json", "-", *named], ["ledger", "show", "y0", *named],
        ["ledger", "show", "y0", "--json", "out.json", *named], ["ledger", "log", "--json", "out.json", *named],
        ["ledger", "log", *named], ["ledger", "verify", *named], ["ledger", "verify", "--expect", "0" * 64, *named],
        ["ledger", "export", "out", *named], ["ledger", "withdraw", "y0", "--why", "typo", *named],
        ["ledger", "withdraw", "y0", "--why", "typo", "--never-left-the-house", *named],
    ]  # fmt: skip
    return Case(home, world.rng.choice(ways), OUTPUTS)


def publish(world: World, home: Path) -> Case:
    """The next release of a table, by the gate of a ledger."""
    place = _remembered(world, home)
    write(home, "raw.csv", world.raw(len(world.values) - 1))
    argv = [
        "publish",
        "raw.csv",
        "--id",
        "pid",
        "--sensitive",
        "disease",
        "--method",
        "anatomy",
        "--frequency-l",
        "1.5",
    ]
    argv += ["--policy", "policy.toml", "--seconds", "3", *place]
    argv += [] if "--ledger" in argv else ["--ledger", "ledger.db"]
    return Case(home, [*argv, *world.rng.choice([["-o", "out"], ["--dry-run"], ["-o", "out", "--hold-back"]])], OUTPUTS)


LEDGERS = [gate, gate, gate, ledger, ledger, ledger, publish]
