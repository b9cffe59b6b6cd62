"""A case: files in an empty folder and a command line, both made from a seed, and then spoilt."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl

from showthrough.release.release import Release
from tests.fuzzing import informing, mutations, remembering
from tests.fuzzing.case import BUCKETS, Case
from tests.fuzzing.tables import Rows, World, write


def make(seed: int, number: int, home: Path) -> Case:
    """The case of a number: the same files and options whenever it is asked for."""
    rng = random.Random(f"{seed}-{number}")
    world = World.of(rng)
    scenario = rng.choice(SCENARIOS)
    if number % 5 == 4:
        scenario = rng.choice(POLICIES)
    elif number % 10 == 8:
        scenario = explain_person
    elif number % 10 == 3:
        scenario = informing.audit_informed
    elif number % 10 == 6:
        scenario = informing.attacks
    elif number % 10 == 1:
        scenario = rng.choice(remembering.LEDGERS)
    case = scenario(world, home)
    for _ in range(rng.choice([0, 0, 1, 1, 1, 1, 2, 3])):
        spoil = mutations.files if rng.random() < 0.7 else mutations.options
        spoil(rng, case.home, case.argv)
    if rng.random() < 0.1 and case.argv[0] not in ("policy", "ci", "explain", "attack", "ledger"):
        case.argv += ["--audience", "internal"]
    return case


def _outputs(world: World, case: Case) -> Case:
    """Now and then files are written."""
    if world.rng.random() < 0.3:
        case.argv += ["--json", "out.json"]
        case.outputs.append("out.json")
    if case.argv[0] == "audit" and world.rng.random() < 0.3:
        case.argv += ["--people", "people.csv"]
        case.outputs.append("people.csv")
    if case.argv[0] == "audit" and "--dry-run" not in case.argv and world.rng.random() < 0.25:
        case.argv += ["-o", "page.html"]
        case.outputs.append("page.html")
    return case


def _policy(world: World, home: Path) -> list[str]:
    """Options with limits, from a file or plain ones, and perhaps other formats."""
    rng = world.rng
    limits = [
        "certain = 0", "certain = false", "max_posterior = 0.5\nover_posterior = 0.2", "max_gain = 0.2", "k = 2",
        "min_anonymity = 2", "impossible = 3\nintegral = 'required'\nseconds = 1", "entropy_l = 1.5", "t = 0.4",
        "proximity = [1, 0.5]", "epsilon = 1.0", "recursive = [2, 2]",
    ]  # fmt: skip
    text = "version = 1\n" if rng.random() < 0.5 else ""
    for table in rng.choice([["block"], ["block", "review"], ["review"]]):
        text += f"[{table}]\n" + "".join(f"{line}\n" for line in rng.sample(limits, rng.randint(1, 3)))
    if rng.random() < 0.5:
        day = rng.choice(["2001-01-01", "2999-01-01"])
        text += f'[[exceptions]]\nrule = "certain"\nreason = "why"\nowner = "who"\nexpires = {day}\n'
    (home / "policy.toml").write_text(text)
    plain = [
        ["--max-posterior", "0.5"],
        ["--certain", "1"],
        ["--k", "2"],
        ["--max-gain", "0.3", "--min-anonymity", "2"],
    ]
    argv = rng.choice([["--policy", "policy.toml"], ["--policy", "policy.toml"], rng.choice(plain)])
    return argv + rng.choice([[], ["--format", rng.choice(["json", "junit", "sarif", "markdown"])]])


def audit_policy(world: World, home: Path) -> Case:
    """Releases under a policy, in every format."""
    case = world.rng.choice([audit_buckets, audit_buckets, audit_located, audit_history])(world, home)
    case.argv += _policy(world, home)
    for option, name in (("--junit", "out.xml"), ("--sarif", "out.sarif"), ("--markdown", "out.md")):
        if world.rng.random() < 0.4:
            case.argv += [option, name]
            case.outputs.append(name)
    return case


def policy_commands(world: World, home: Path) -> Case:
    """Policy files written and explained, snippets for pipelines, checks in other formats."""
    _policy(world, home)
    write(home, "b.csv", world.bucketized(0))
    ways = [
        ["policy", "explain", "policy.toml"], ["policy", "explain", "policy.toml"], ["policy", "init", "-o", "out"],
        ["policy", "init", "--preset", "strict"], ["ci", "github", "--policy", "policy.toml"], ["ci", "dbt"],
        ["check", "b.csv", *BUCKETS, "--k", "2", "--format", "sarif", "--junit", "out.xml"],
        ["check", "b.csv", *BUCKETS, "--k", "9", "--format", "markdown", "--sarif", "out.sarif"],
    ]  # fmt: skip
    return Case(home, world.rng.choice(ways), ["out", "out.xml", "out.sarif"])


def audit_buckets(world: World, home: Path) -> Case:
    """Bucketized releases, perhaps of years with changed values."""
    separator = world.rng.choice(",;|\t")
    rows = [world.bucketized(year) for year in range(len(world.values))]
    names = [write(home, f"y{k}.csv", one, separator) for k, one in enumerate(rows)]
    argv = ["audit", *names, *BUCKETS, "--seconds", "5"]
    argv += world.rng.choice([[], ["--changed", "refuse"], ["--changed", "split"], ["--contradictions", "refuse"]])
    if world.rng.random() < 0.2:
        tables = [write(home, f"t{k}.csv", world.raw(k)) for k in range(len(world.values))]
        argv += [part for table in tables for part in ("--tables", table)]
    if world.rng.random() < 0.2:
        argv += ["--bounds", "0.3", "--people", "people.csv"]
    return _outputs(world, Case(home, argv, ["people.csv"]))


def explain_person(world: World, home: Path) -> Case:
    """One person from every side, whether the releases hold it or not."""
    rng, years = world.rng, range(len(world.values))
    if rng.random() < 0.6:
        named, roles = [write(home, f"y{k}.csv", world.bucketized(k)) for k in years], BUCKETS
    elif rng.random() < 0.5:
        named = [write(home, f"g{k}.csv", world.generalized(k)) for k in years]
        roles = ["--sensitive", "disease", "--quasi", "zip,age"]
        roles = [*roles, "--register", write(home, "people_register.csv", world.register())]
    else:
        named, roles = [audit_history(world, home).argv[1]], []
    who = rng.choice([*world.ids, *world.ids, "nobody", "", "-1"])
    value = rng.choice([[], [], [rng.choice(world.values[0])]])
    more = rng.choice([[], ["--json", "-"], ["--json", "out.json"], ["--quiet"], ["--seconds", "0"], ["--part", "y0"]])
    return Case(home, ["explain", who, *value, *named, *roles, *more], ["out.json"])


def audit_pair(world: World, home: Path) -> Case:
    """Records and values in two tables."""
    records, values = world.pair(0)
    write(home, "records.csv", records)
    write(home, "values.csv", values)
    return _outputs(world, Case(home, ["audit", "records.csv", "--values", "values.csv", *BUCKETS, "--seconds", "5"]))


def audit_located(world: World, home: Path) -> Case:
    """Releases without ids, and a register."""
    kind = world.rng.choice([World.generalized, World.counted, World.centroids])
    names = [write(home, f"g{k}.csv", kind(world, k)) for k in range(len(world.values))]
    quasi = "age" if kind is World.centroids else "zip,age"
    argv = ["audit", *names, "--sensitive", "disease", "--quasi", quasi, "--seconds", "5"]
    if kind is World.counted:
        argv += ["--count", "count"]
    if kind is World.centroids:
        argv += ["--kind", "microaggregated", "--spread", "age=width"]
        argv += world.rng.choice([[], ["--locate", "within"]])
    if world.rng.random() < 0.8:
        argv += ["--register", write(home, "people_register.csv", world.register())]
    if world.rng.random() < 0.3:
        write(home, "zip.csv", world.zip_hierarchy(), ";")
        argv += ["--hierarchy", "zip=zip.csv"]
    if world.rng.random() < 0.3:
        write(home, "map.csv", world.value_map())
        argv += ["--value-map", "g0=map.csv"]
    if world.rng.random() < 0.3:
        (home / "present.txt").write_text("\n".join(world.ids[:3]) + "\n")
        argv += ["--present", "g0=present.txt"]
    if world.rng.random() < 0.3:
        argv.append("--dry-run")
    return _outputs(world, Case(home, argv))


def audit_history(world: World, home: Path) -> Case:
    """A history file."""
    lines = ["seconds = 5"]
    for year in range(len(world.values)):
        name = write(home, f"y{year}.csv", world.bucketized(year))
        lines += ["[[release]]", f'file = "{name}"', 'id = "pid"', 'group = "group"', 'sensitive = "disease"']
    lines += ["[[release]]", f'file = "{write(home, "g.csv", world.generalized(0))}"']
    lines += ['sensitive = "disease"', 'quasi = ["zip", "age"]']
    if world.rng.random() < 0.5:
        lines += ["[register]", f'file = "{write(home, "reg.csv", world.register())}"']
    (home / "history.toml").write_text("\n".join(lines) + "\n")
    return _outputs(world, Case(home, ["audit", "history.toml", *world.rng.choice([[], ["--dry-run"]])]))


def check_plain(world: World, home: Path) -> Case:
    """Criteria on a plain table, with all that can stand beside it."""
    write(home, "plain.csv", world.rng.choice([world.generalized, world.raw])(0))
    argv = ["check", "plain.csv", "--sensitive", "disease", "--quasi", "zip,age"]
    write(home, "zip.csv", world.zip_hierarchy(), ";")
    write(home, "disease.csv", world.hierarchy(), ";")
    write(home, "raw.csv", world.raw(0))
    extras = [
        ["--k", "2"], ["--distinct-l", "2"], ["--entropy-l", "1.5"], ["--t", "0.3"], ["--beta", "1"],
        ["--recursive", "2,2"], ["--alpha", "0.5"], ["--m-unique", "2"], ["--risk", "category"],
        ["--ck-safety", "0.9,1"], ["--skyline", "0.9,1,0,1"],
        ["--hierarchy", "zip=zip.csv"], ["--hierarchy", "disease=disease.csv", "--distance", "hierarchy", "--t", "0.3"],
        ["--table", "raw.csv"], ["--population", "raw.csv", "--k-map", "2"], ["--tree", "disease"],
        ["--negations", "2"],
        ["--suppressed", "*"], ["--dissimilarity", "1,0.5,2"],
        ["--hierarchy", "disease=disease.csv", "--tree", "disease"],
    ]  # fmt: skip
    for extra in world.rng.sample(extras, world.rng.randint(0, 4)):
        argv += extra
    return _outputs(world, Case(home, argv))


def check_other(world: World, home: Path) -> Case:
    """Criteria on other kinds."""
    if world.rng.random() < 0.5:
        write(home, "c.csv", world.counted(0))
        return _outputs(world, Case(home, ["check", "c.csv", "--sensitive", "disease", "--count", "count", "--k", "2"]))
    write(home, "b.csv", world.bucketized(0))
    return _outputs(world, Case(home, ["check", "b.csv", *BUCKETS, "--distinct-l", "2", "--k", "2"]))


def check_folder(world: World, home: Path) -> Case:
    """A release folder whose files may have been meddled with."""
    _folder(world, home, "R0", world.rng.choice(["bucketized", "generalized"]))
    command = world.rng.choice(["check", "audit"])
    return _outputs(world, Case(home, [command, "R0", *(["--k", "2"] if command == "check" else ["--seconds", "5"])]))


def publish_table(world: World, home: Path) -> Case:
    """A release of a table by every method."""
    write(home, "raw.csv", world.raw(0))
    methods = ["mondrian", "mondrian-relaxed", "local-recoding", "full-domain", "anatomy", "mdav", "xcolor"]
    method = world.rng.choice(methods)
    argv = ["publish", "raw.csv", "--method", method, "--sensitive", "disease", "-o", "out", "--seconds", "3"]
    argv += world.rng.choice([["--id", "pid"], ["--id", "pid"], ["--id", "pid", "--quasi", "zip,age"], []])
    argv += {"anatomy": ["--frequency-l", "1.5"], "xcolor": ["--dissimilarity", "0.5,0.6,2", "--metric", "equal"]}.get(
        method, ["--k", "2"]
    )
    write(home, "zip.csv", world.zip_hierarchy(), ";")
    write(home, "disease.csv", world.hierarchy(), ";")
    plan = {"version": 1, "quasi": ["zip", "age", "sex"], "levels": {"zip": 1, "age": 0, "sex": 0}}
    (home / "plan.json").write_text(json.dumps(plan))
    extras = [
        ["--hierarchy", "zip=zip.csv"], ["--suppress", "0.5"], ["--coding", "age=1:9"], ["--missing", "value"],
        ["--plan", "plan.json"], ["--distinct-l", "2"], ["--accept-violations"], ["--format", "parquet"],
        ["--kind", "bucketized"], ["--t", "0.5"], ["--population", "raw.csv", "--k-map", "2"], ["--dry-run"],
    ]  # fmt: skip
    for extra in world.rng.sample(extras, world.rng.randint(0, 3)):
        argv += extra
    return Case(home, argv, ["out", "out.link.csv"])


def publish_next(world: World, home: Path) -> Case:
    """The next release beside a history."""
    _folder(world, home, "R0", "bucketized")
    write(home, "raw.csv", world.raw(len(world.values) - 1))
    strategy = world.rng.choice(["history-guided", "m-invariance", "guarded", "independent"])
    argv = ["publish", "raw.csv", "--id", "pid", "--sensitive", "disease", "--method", "anatomy", "--frequency-l", "2"]
    argv += ["--history", "R0", "--strategy", strategy, "--seconds", "3"]
    argv += ["--max-posterior", "0.6"] if strategy == "guarded" else []
    argv += world.rng.choice([[], ["--hold-back"], ["--accept-exposed"], ["--changed", "split"]])
    argv += world.rng.choice([["-o", "out"], ["-o", "out"], ["--dry-run"]])
    return Case(home, argv, ["out", "out.link.csv"])


def demo(world: World, home: Path) -> Case:
    """The worked example."""
    return Case(home, ["demo", "--folder", world.rng.choice(["d", "d/e", "."])], ["d", "D1.csv", "D2.csv"])


def _folder(world: World, home: Path, name: str, kind: str) -> None:
    if kind == "bucketized":
        rows = world.bucketized(0)
        release = Release.bucketized(_frame(rows), id="pid", group="group", sensitive="disease", name=name)
    else:
        release = Release.generalized(
            _frame(world.generalized(0)), sensitive="disease", quasi=["zip", "age"], name=name
        )
    release.save(home / name, format=world.rng.choice(["csv", "csv", "parquet"]))


def _frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame({name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])})


SCENARIOS: list[Callable[[World, Path], Case]] = [
    audit_buckets, audit_buckets, audit_pair, audit_located, audit_located, audit_history, check_plain, check_plain,
    check_other, check_folder, publish_table, publish_table, publish_table, publish_next,
]  # fmt: skip
"""Drawn evenly; the demo takes no input and is tested beside."""
POLICIES = [audit_policy, audit_policy, policy_commands]
"""Every fifth case, so that others stay what they are; of ten one explains a person, one knows more, one attacks, one
has a ledger."""
