"""The sections without charts: criteria and policy, what is taken for granted, how to reproduce, words."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

import polars as pl

from showthrough.inference.certificate import Status
from showthrough.policy.decision import Decision, Reason
from showthrough.register.reader import Reader
from showthrough.report.content import known_to
from showthrough.report.guesses import beside_truth
from showthrough.report.page.bars import COMPARISON
from showthrough.report.page.blocks import Bullets, Code, Note, PlainTable, Section, Words
from showthrough.report.page.gathered import Gathered, shown
from showthrough.report.page.single import criteria_grid
from showthrough.report.page.wording import all_of, are, count, listed, persons, tiny
from showthrough.report.printable import printable

_OUTCOMES = {"within": "within", "over": "over", "open": "not known", "excepted": "excepted"}
_RULES = {
    "max_posterior": "anybody's probability",
    "over_posterior": "persons over a probability",
    "certain": "persons certain",
    "impossible": "values ruled out",
    "max_gain": "gain by the newest release",
    "max_shift": "distance from the prior",
    "min_anonymity": "values that stay possible",
    "proximity": "probability of a near value",
    "k": "k-anonymity",
    "distinct_l": "distinct l-diversity",
    "frequency_l": "frequency l-diversity",
    "entropy_l": "entropy l-diversity",
    "t": "t-closeness",
}


_BLIND = " That is why they did not see what this page shows."
_HALF_BLIND = " They cannot see what only several releases together tell."


def criteria_section(g: Gathered) -> Section:
    """What the single-release criteria say, and the policy line by line."""
    names = dict(zip(g.audit.posterior.names, g.names, strict=True))
    blocks: list[PlainTable | Bullets] = [criteria_grid(g.levels, names)] if g.levels else []
    if g.decision is not None:
        blocks += _policy(g.decision)
    if (scored := g.audit.scored) is not None:
        blocks.append(Bullets("Beside the publisher's own tables", tuple(beside_truth(g.audience, scored))))
    joint = g.audit.joint
    missed = "" if not (g.several and joint.newly_certain) else _BLIND if not joint.certain_alone else _HALF_BLIND
    one = f"Such criteria look at one release at a time.{missed}"
    heading = "What each release keeps by itself" + ("" if g.decision is None else ", and what the policy says")
    if not g.held:
        one = "What each release keeps by itself was not looked at, as only workers read it: `showthrough check` does."
        heading = "Each release by itself was not looked at" if g.decision is None else "What the policy says"
    return Section(
        "criteria",
        "Single-release criteria" + ("" if g.decision is None else " and policy"),
        heading,
        (one, "Attacks and differential privacy are not part of this report yet."),
        tuple(blocks),
    )


def _policy(decision: Decision) -> list[PlainTable | Bullets]:
    """Every limit with what became of it, then what makes all of it doubtful, and exceptions."""
    rows = tuple(
        (_rule(r), _OUTCOMES[r.outcome], f"asks for {r.severity}" if r.severity == "review" else "blocks", r.said)
        for r in decision.reasons
    )
    caption = f"The verdict is the worst of these lines. {COMPARISON}"
    table = PlainTable(
        ("Limit", "Outcome", "If over, it", "What was found"),
        rows,
        caption=caption,
        title="Against the policy",
        stacked=True,
    )
    found: list[PlainTable | Bullets] = [table]
    if decision.doubts:
        found.append(Bullets("What makes all of it doubtful", decision.doubts))
    if decision.exceptions:
        told = tuple(f"{e.said} ({e.owner}: {e.reason}; until {e.expires})" for e in decision.exceptions)
        found.append(Bullets("Exceptions", told))
    return found


def _rule(reason: Reason) -> str:
    word = _RULES.get(reason.rule, reason.rule.replace("_", " "))
    return f"{word}, {shown(reason.release)}" if reason.release else word


_TIES = {
    "ids": "knows the ids of persons in {names}, and so their groups",
    "register": "has a register of who is who, and finds persons in {names} by their quasi-identifiers",
    "link": "knows everybody's group in {names} (the publisher's private link)",
    "membership": "knows who can be in which group of {names}",
    "nothing": "cannot tell who is who in {names}",
}


def limits_section(g: Gathered) -> Section:
    """Who the reader is, what is not covered, how exact the figures are."""
    audit, post = g.audit, g.audit.posterior
    reader = _reader(g)
    others = "what further neighbours" if post.reader.knowledge else "what neighbours"
    uncovered = [f"{others}, employers or other data sets tell;", "knowledge of the method that made the groups;"]
    if g.several:
        uncovered.append(
            "values that changed between releases: a value is taken to be one per person unless it is told otherwise;"
        )
    uncovered += _without_whole_values(g)
    blocks: list[Any] = [
        Bullets("The reader", tuple(reader)),
        Bullets("Not covered", tuple(uncovered)),
        *([Bullets("Not worked out, as the history was cut into pieces", _left_out(g))] if g.in_pieces else []),
        Note("Accuracy", (*_accuracy(g), *_whole_values(g))),
    ]
    notes = [*known_to(audit), *post.reader.notes(), *(rows.sentence(internal=g.internal) for rows in post.unfilled())]
    if contradictions := [c.internal if g.internal else c.shareable for c in post.contradictions[:5]]:
        notes += contradictions
    if notes:
        blocks.append(Bullets("Noted while reading", tuple(printable(note, lines=False) for note in notes)))
    if (located := post.locatability()) is not None:
        told = located.filter((located["persons"] > 0) | (located["fits"] == "one group"))
        rows = tuple(
            (shown(r["release"]), r["fits"], count(r["persons"]))
            for r in (
                told.group_by("release", "fits", maintain_order=True).agg(pl.col("persons").sum()).iter_rows(named=True)
            )
        )
        blocks.append(
            PlainTable(("Release", "Persons of the register fit", "Persons"), rows, right=(2,), title="Who was found")
        )
    return Section(
        "limits",
        "Assumptions and limits",
        "What these figures take for granted",
        (
            "A figure holds for the reader described here. A better informed reader can do more.",
            f"{post.certificate.premise}",
        ),
        tuple(blocks),
    )


def _left_out(g: Gathered) -> tuple[str, ...]:
    """What a page from one machine has beside this one."""
    told = ["where exposure sits in the population;"]
    if g.several and g.summed:
        told = [
            "what each release added, and which releases it takes to make a person certain: a component was too large"
            " for one worker;",
            *told,
        ]
    if g.audit.posterior.reader.register is not None:
        told.append("how many groups the persons of the register fit;")
    return (*told[:-1], f"{told[-1].rstrip(';')}. An audit without an engine tells it.")


def _reader(g: Gathered) -> list[str]:
    """Who reads: what this reader has, knows and believes."""
    known = g.audit.posterior.reader
    by: dict[str, list[str]] = {}
    for name, release in zip(g.names, g.audit.releases, strict=True):
        by.setdefault(release.tied_by, []).append(name)
    reader = [f"has {all_of(len(g.names)) + ' releases' if g.several else 'this release'};"]
    reader += [
        f"{_TIES[tied].format(names=listed(names) if len(names) <= 5 else f'{len(names)} releases')};"
        for tied, names in by.items()
    ]
    reader += [f"{_knows(known)};"] if known.knowledge else []
    even = "prefers no explanation over another (maximum entropy)"
    believes = "believes a prior, and departs from it no further than the counts ask (relative entropy)"
    reader.append(f"knows nothing else, and {even if known.prior is None else believes}.")
    return reader


def _knows(reader: Reader) -> str:
    """The statements by their kinds."""
    kinds = Counter(said.kind for said in reader.knowledge)
    told = listed([f"{count(n)} {kind.replace('_', ' ')}" for kind, n in kinds.items()])
    plural = "" if len(reader.knowledge) == 1 else "s"
    return f"knows {count(len(reader.knowledge))} statement{plural} beside them ({told})"


def _judged_whole(g: Gathered) -> set[str]:
    """How the policy looks at whole values, where it counts facts: "no", "checked" or "required"."""
    tables = [] if g.audit.rules is None else g.audit.rules.tables()
    return {policy.integral for _, policy in tables if policy.certain is not None or policy.impossible is not None}


def _without_whole_values(g: Gathered) -> list[str]:
    """What is left out of whole values, unless they were looked at."""
    if g.audit.whole_values is not None or "required" in _judged_whole(g):
        return []
    beyond = " beyond what the policy looked at" if "checked" in _judged_whole(g) else ""
    return [
        f"assignments of whole values{beyond}: probabilities may share a person out, so a few more facts may hold than"
        " are counted."
    ]


def _whole_values(g: Gathered) -> list[str]:
    """What was found over whole values, and where it counts."""
    found, told = g.audit.whole_values, []
    if found is not None:
        told.append(
            f"Whole values were looked at for {found.seconds:g} s: {persons(found.certain)} more certain,"
            f" {count(found.undecided)} pairs undecided."
        )
    if _judged_whole(g) - {"no"}:
        told.append(
            "The policy's limits on certain and impossible values were judged over assignments of whole values too; the"
            " other figures on this page are without them."
        )
    return told


def _accuracy(g: Gathered) -> list[str]:
    found = g.audit.posterior.certificate
    by = found.persons_by_state
    believed = by.get(Status.BELIEVED, 0)
    if found.status.certain and believed:
        lines = [
            f"**Believed.** Every certain or impossible value is proven in whole numbers. The probabilities of"
            f" {persons(believed)} lean on noisy counts: beliefs, by Bayes' rule over assignments of values or by"
            f" expected counts, neither proofs nor bounds; all others are within {tiny(found.error_bar)} of the"
            " maximum-entropy answer."
        ]
    elif found.status.certain:
        head = "**Exact.**" if found.status is Status.EXACT else "**Certified.**"
        lines = [
            f"{head} Every certain or impossible value is proven in whole numbers; every probability is within"
            f" {tiny(found.error_bar)} of the maximum-entropy answer; published counts are met."
        ]
    else:
        lines = [
            f"**Not certified for everybody.** {count(g.audit.joint.answered)} of {count(g.audit.joint.persons)}"
            " persons have a certified answer; what is proven holds, everything else is open."
        ]
        lines += [
            f"{persons(n)} {are(n)} {state}."
            for state, n in by.items()
            if state not in (Status.EXACT, Status.CERTIFIED) and n
        ]
    return lines


def reproduce_section(g: Gathered) -> Section:
    """Command, files with hashes, versions, date."""
    made = g.origin
    blocks: list[Code | PlainTable] = []
    if made.command:
        blocks.append(Code(made.command))
    else:
        engine, audience = ", engine=…" if g.in_pieces else "", ', audience="internal"' if g.internal else ""
        blocks.append(Code(f'import showthrough as st\nst.audit([…]{engine}).save_html("report.html"{audience})'))
    if made.files:
        rows = tuple((shown_path(file.name), file.sha256[:16]) for file in made.files)
        blocks.append(PlainTable(("File", "SHA-256 begins"), rows))
    dates = [shown(release.date or "") for release in g.held] or [""] * len(g.names)
    figures = tuple(
        (name, r.kind, count(r.persons), count(r.groups), count(r.values), date)
        for name, r, date in zip(g.names, g.audit.releases, dates, strict=True)
    )
    headings = ("Release", "Kind", "Persons", "Groups", "Values", "Date")
    blocks.append(PlainTable(headings, figures, right=(2, 3, 4), stacked=True).without_empty())
    seconds = sum(g.audit.posterior.certificate.seconds.values())
    taken = f"{seconds:.2g}" if seconds < 10 else count(seconds)
    when = datetime.fromisoformat(made.date)
    libraries = ", ".join(f"{name} {number}" for name, number in made.libraries.items())
    made_with = (
        f"showthrough {made.showthrough}, Python {made.python}, {libraries}. {when.day} {when:%B %Y, %H:%M} UTC. "
        f"Inference took {taken} seconds."
    )
    return Section(
        "again",
        "How to reproduce",
        "Same files, same figures",
        ("Run this on the same files with the same version, and every figure on this page comes out the same.",),
        tuple(blocks),
        (made_with,),
    )


def shown_path(path: str) -> str:
    """A path without what a page should not obey."""
    return printable(path, lines=False)


def glossary_section(g: Gathered) -> Section:
    """One meaning per word."""
    j = g.audit.joint
    ruled = j.impossible_by_sets + j.impossible_by_counts + j.impossible_by_knowledge
    entries = (
        ("certain", "Proven: with the published counts no other value is possible."),
        (
            "impossible",
            (
                f"Proven: the person cannot have the value although a group holds it. Here {count(ruled)} times."
                if ruled
                else "Proven: the person cannot have the value although a group holds it."
            ),
        ),
        (
            "best guess",
            (
                "The likeliest value of a person. “At least 90\u202f% sure” counts persons whose best guess has that"
                " probability or more; certain ones are among them."
            ),
        ),
        (
            "as uncertain as N values",
            (
                "The uncertainty that is left, told as N equally likely values; 1 means known. (Here"
                f" {count(j.entropy_nats)} nats in all.)"
            ),
        ),
        ("release", "An anonymized table as published."),
        ("group", "The persons a release does not tell apart."),
        ("channel", "A pair of releases that together say more than each alone."),
        ("component", "Groups that are linked by shared persons, directly or over others."),
        ("proof", "Steps from published counts to a certain value; a separate checker replays them."),
        ("verdict", "A policy applied to these figures: pass, review, block or inconclusive."),
    )
    return Section("words", "Glossary", "Words used here", (), (Words(entries),))
