"""Readers who know or believe something, and attackers: files of statements and priors, and every attack."""

from __future__ import annotations

from pathlib import Path

from tests.fuzzing.case import BUCKETS, Case
from tests.fuzzing.marks import word
from tests.fuzzing.tables import Rows, World, write


def knowledge(world: World, home: Path) -> str:
    """A file of statements of every kind, most of which somebody could know."""
    rng = world.rng
    lines = []
    for _ in range(rng.randint(1, 5)):
        who = rng.randrange(len(world.ids))
        id, true = world.ids[who], world.values[0][who]
        value = true if rng.random() < 0.7 else rng.choice(world.values[-1])
        kind = rng.choice(["known", "excluded", "one_of", "exactly_one", "count", "share", "share"])
        some = rng.sample(world.ids, rng.randint(1, min(4, len(world.ids))))
        listed = ", ".join(f'"{one}"' for one in some)
        end = rng.choice(["at_least = 0", "at_most = 0.9", "equals = 0.5\ntolerance = 0.5", "at_least = 0.2"])
        lines += [f"[[{kind}]]", f'value = "{value}"' if kind != "one_of" else f'values = ["{value}", "{true}"]']
        lines += {
            "known": [f'id = "{id}"'],
            "excluded": [f'id = "{id}"'],
            "one_of": [f'id = "{id}"'],
            "exactly_one": [f"ids = [{listed}]"],
            "count": [f"ids = [{listed}]", rng.choice(["at_most = 3", "at_least = 0", "equals = 1"])],
            "share": [rng.choice([f"ids = [{listed}]", f'where = {{ sex = "{word("sex", 0)}" }}']), end],
        }[kind]
    (home / "known.toml").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
    return "known.toml"


def prior(world: World, home: Path) -> str:
    """A table of beliefs about some persons."""
    rng, values = world.rng, sorted({v for year in world.values for v in year})
    rows: Rows = [["id", "value", "p"]]
    for id in rng.sample(world.ids, rng.randint(1, len(world.ids))):
        weights = [rng.choice([0, 1, 1, 2, 5]) for _ in values]
        weights[0] += not any(weights)
        rows += [[id, v, str(w / sum(weights))] for v, w in zip(values, weights, strict=True)]
    return write(home, "prior.csv", rows)


def audit_informed(world: World, home: Path) -> Case:
    """Bucketized releases beside a reader who knows, believes, or both."""
    rng = world.rng
    names = [write(home, f"y{k}.csv", world.bucketized(k)) for k in range(len(world.values))]
    argv = ["audit", *names, *BUCKETS, "--seconds", "5"]
    people = [["pid", "zip", "age", "sex"], *world.register()[1:]]
    argv += ["--register", write(home, "reg.csv", people)] if rng.random() < 0.8 else []
    said = rng.choice([("knowledge",), ("prior",), ("knowledge", "prior")])
    argv += ["--knowledge", knowledge(world, home)] if "knowledge" in said else []
    argv += ["--prior", prior(world, home)] if "prior" in said else []
    argv += rng.choice([[], ["--elastic"], ["--contradictions", "refuse"], ["--changed", "split"]])
    if rng.random() < 0.3:
        return Case(home, [*argv, "--people", "people.csv"], ["people.csv"])
    return Case(home, argv)


def attacks(world: World, home: Path) -> Case:
    """An attack on releases of the kind that it takes, or of another."""
    rng, years = world.rng, range(len(world.values))
    buckets = [write(home, f"y{k}.csv", world.bucketized(k)) for k in years]
    cells = [write(home, f"g{k}.csv", world.generalized(k)) for k in years]
    counts = [write(home, f"c{k}.csv", world.counted(k)) for k in years]
    register = ["--register", write(home, "reg.csv", world.register())]
    located = ["--sensitive", "disease", "--quasi", "zip,age", *register]
    raw = write(home, "raw.csv", world.raw(0))
    ways = [
        ["differencing", *counts, *located[:4], "--count", "count"],
        ["differencing", *counts, *located, "--count", "count", "--population", "town"],
        ["bcf", *cells, *located],
        ["bcf", cells[0], cells[0], *located],
        ["least-knowledge", *buckets, *BUCKETS, "--most", "1", "--search-seconds", "1"],
        [
            "least-knowledge",
            *buckets,
            *BUCKETS,
            "--person",
            world.ids[0],
            "--most",
            "1",
            "--search-seconds",
            "1",
            "--truth",
            raw,
        ],
        ["bayes", buckets[0], *BUCKETS, "--prior", prior(world, home)],
        ["background", *cells, *located, "--table", raw, "--positive", "2", "--negative", "2", "--elastic"],
        ["intersection", *buckets, *BUCKETS],
        ["intersection", *cells, *located],
    ]
    argv = ["attack", *rng.choice(ways), "--seconds", "5"]
    argv += rng.choice([[], ["--json", "-"], ["--quiet"], ["--people", "people.csv"]])
    return Case(home, argv, ["people.csv"])
