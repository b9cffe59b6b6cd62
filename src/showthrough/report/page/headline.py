"""The first screen: verdict or finding, four figures, before and after, what to do; then what everybody asks."""

from __future__ import annotations

from showthrough.auditing.bands import Bands
from showthrough.report.content import by_statements
from showthrough.report.page.again import followed
from showthrough.report.page.bars import BAND_WORDS, BANDS
from showthrough.report.page.blocks import Big, Chart, Headline, NextStep, PlainTable, ShortAnswer
from showthrough.report.page.breakdown import LEAST
from showthrough.report.page.exposure import exposed_of, share_said
from showthrough.report.page.gathered import Gathered
from showthrough.report.page.wording import all_of, are, count, listed, persons, share_of, small

LEADS = {
    "block": "Do not publish {newest} as it is.",
    "review": "Look into {newest} before it is published.",
    "pass": "{newest} keeps the policy.",
    "inconclusive": "Not decided: {newest} must not count as safe.",
}


def headline(g: Gathered) -> Headline:
    """The verdict in one sentence, or the finding where there is no policy."""
    decision = g.decision
    kind = "finding" if decision is None else str(decision.verdict)
    if decision is None and not g.conclusive:
        kind = "inconclusive"
    lead = LEADS.get(kind, "").format(newest=g.newest if g.several else "this release")
    said = finding(g)
    if decision is None and kind == "inconclusive":
        lead = "Inconclusive."
    badge = kind.upper() if kind != "finding" else ""
    return Headline(kind, badge, f"{lead} {said}".strip(), tuple(_leads(g)))


def finding(g: Gathered) -> str:
    """What a reader can be certain of."""
    many, of, names = g.proven if g.open else g.after.certain, g.after.persons, g.names
    whom = f"{'nobody' if many == 0 else count(many)} of {count(of)} persons"
    what = "the value" if g.sensitive == "value" else f"the {g.sensitive}"
    if g.audit.untied:
        return (
            f"Nothing ties the persons of {listed(list(g.audit.untied))} together, so what the releases tell together"
            " is not known."
        )
    if g.open:
        return f"By what is known so far, a reader can be certain of {what} of {whom}."
    if not g.several:
        return f"{names[0]} alone lets a reader be certain of {what} of {whom}."
    together = listed(names) if len(names) <= 4 else f"the {small(len(names))} releases"
    return f"Together, {together} let a reader be certain of {what} of {whom}."


def _leads(g: Gathered) -> list[str]:
    found, j, before = [], g.audit.joint, g.before
    if g.decision is None:
        found.append("No policy was given, so this page gives the finding and no verdict.")
    else:
        found.append(str(g.decision.said))
    if g.several and before is not None and not g.open:
        found.append(f"Without {g.newest} it is **{'nobody' if not before.certain else count(before.certain)}**.")
    if g.several and j.certain_alone == 0 and g.after.certain:
        found.append("No release alone makes anybody certain: **the danger is in combining them.**")
    elif g.several and j.newly_certain:
        found.append(f"**{count(j.newly_certain)}** of them become certain only by combining releases.")
    if j.answered < j.persons:
        found.append(
            f"**{count(j.persons - j.answered)} of {count(j.persons)} persons have no certified answer**: nobody of "
            "them counts as safe, and the figures below can only grow."
        )
    if g.decision is not None and (known := len(g.audit.posterior.reader.known_before)):
        found.append(f"The policy does not count {persons(known)} whose value the reader is said to know.")
    if tolerated := g.audit.posterior.certificate.changed.tolerated:
        found.append(
            f"The releases fit together only if values changed: {persons(tolerated)} had to be taken for changed, which"
            " is a guess."
        )
    return found


def figures(g: Gathered) -> tuple[Big, ...]:
    """The four figures; the counts are nested."""
    a, b = g.after, g.before
    other, than, told = g.beside, "by one release alone" if g.summed else "before", []
    for kind, name, now, was in (
        ("c", "Certain", a.certain, None if other is None else other.certain),
        ("n", "At least 90\u202f% sure", a.p90, None if other is None else other.p90),
        ("h", "At least 50\u202f% sure", a.p50, None if other is None else other.p50),
    ):
        strong, rest = _change(now, was, than) if g.several and not g.open else ("", "")
        if g.open:
            now, rest = g.proven if kind == "c" else max(now, g.proven), "or more: what is open can only add to it."
        told.append(Big(kind, name, count(now), strong, " ".join(filter(None, [rest, _beside(g, kind, now)]))))
    where = "in one release" if not g.several else f"in {small(len(g.names))} releases"
    new = "" if b is None or not g.several else _newcomers(a.persons - b.persons)
    rest = f"in {g.newest}." if new and not g.open else ""
    unknown = f"{count(a.unknown)} without an answer." if a.unknown else ""
    return (
        *told,
        Big(
            "",
            "Of how many persons",
            count(a.persons),
            unknown or new,
            f"{rest} Read {where}." if rest else f"Read {where}.",
        ),
    )


def _newcomers(number: int) -> str:
    return "Nobody is new" if number == 0 else f"{count(number)} {are(number)} new"


def _change(now: int, was: int | None, than: str) -> tuple[str, str]:
    if was is None:
        return "", "How many before was not worked out."
    if now == was:
        return ("", f"As {than}: nobody.") if not now else ("as many", f"as {than} ({count(was)}).")
    return f"{count(abs(now - was))} {'more' if now > was else 'fewer'}", f"than {than} ({count(was)})."


def _beside(g: Gathered, kind: str, now: int) -> str:
    if g.open:
        return ""
    if kind == "c" and g.decision is not None:
        for reason in g.decision.reasons:
            if reason.rule == "certain" and isinstance(reason.limit, int):
                return f"The policy allows {'nobody' if reason.limit == 0 else count(reason.limit)}."
    return share_of(now, g.after.persons)


def states_chart(g: Gathered) -> Chart:
    """Two bars: before the newest release, and with it; or one release alone, and all together."""
    states: list[tuple[str, Bands]] = []
    if g.beside is not None:
        before = f"Before: {listed(g.names[:-1])}" if len(g.names) <= 4 else f"Before {g.newest}"
        states.append(("One release alone" if g.summed else before, g.beside))
    together = "All together" if g.summed else f"With {g.newest}"
    states.append((together if g.several else g.newest, g.so_far))
    rows = tuple(
        (
            name,
            *(count(n) for n in (b.persons, b.certain, b.p90, b.p50, b.low)),
            *([count(b.unknown)] if g.after.unknown else []),
        )
        for name, b in states
    )
    headings = ("State", "Persons", "Certain", "≥\u202f90\u202f%", "≥\u202f50\u202f%", "Below 50\u202f%")
    grid = PlainTable(
        (*headings, *(["No answer"] if g.after.unknown else [])), rows, right=tuple(range(1, 7)), stacked=True
    )
    said = " ".join(
        f"{name}: {count(b.persons)} persons, {count(b.certain)} certain, {count(b.p90)} at least 90 percent sure, "
        f"{count(b.p50)} at least 50 percent sure, {count(b.low)} below."
        for name, b in states
    )
    data = {
        "states": [
            {
                "name": name,
                "persons": b.persons,
                **{band: b.apart()[band] for band in BANDS},
                "unknown": b.unknown,
                "half": b.p50,
            }
            for name, b in states
        ]
    }
    return Chart(
        "before_after",
        "Alone and together" if g.summed else "Before and after the newest release",
        said,
        data,
        (grid,),
        legend=band_legend(unknown=bool(g.after.unknown)),
    )


def band_legend(*, unknown: bool = False) -> tuple[tuple[str, str], ...]:
    """The bands in their fixed order."""
    return (*((band, BAND_WORDS[band]) for band in BANDS), *([("unknown", "no answer")] if unknown else []))


def steps(g: Gathered) -> tuple[NextStep, ...]:
    """What to do, the most important first."""
    found, before, after = _open_ends(g), g.before, g.after
    worse = before is None or (after.certain, after.p90, after.p50) > (before.certain, before.p90, before.p50)
    if g.several and after.p50 and worse:
        found.append(_make_again(g))
    elif after.certain and not g.several:
        rest = "Publishing takes criteria for that, such as entropy l-diversity."
        found.append(NextStep("Make the groups larger or more diverse.", rest))
    if g.several and before is not None and before.certain:
        rest = f"who {are(before.certain)} certain already. No new release can undo that."
        found.append(NextStep(f"Decide about the {count(before.certain)}", rest))
    if g.decision is None:
        rest = "A policy turns these figures into a verdict that stops a pipeline."
        found.append(NextStep("Say what is too much.", rest))
    if not found or (g.conclusive and not after.p50):
        rest = "and lay the next release on it before that one is published."
        found.append(NextStep("Keep this page with the release,", rest))
    return tuple(found[:4])


def _make_again(g: Gathered) -> NextStep:
    """By the guard where it can follow persons; larger groups where it cannot; more noise where that is what it has."""
    if g.held and g.held[-1].noise is not None:
        rest = "A smaller ε or coarser cells tell readers less; what it promises holds whatever they know."
        return NextStep(f"Publish {g.newest} with more noise, or fewer cells.", rest)
    if followed(g) is not None:
        rest = (
            "Guarded publishing repairs the groups until your limit holds for everybody, or says why it cannot; a dry "
            "run compares the strategies and their cost first."
        )
        return NextStep(f"Make {g.newest} again, with its history in view.", rest)
    rest = (
        "Then audit again. Where every earlier release publishes ids or has its private link beside it, guarded "
        "publishing keeps a limit for everybody."
    )
    return NextStep(f"Make {g.newest} again with larger or more diverse groups.", rest)


def _open_ends(g: Gathered) -> list[NextStep]:
    """What keeps the audit from being conclusive, and what would help."""
    found, certificate = [], g.audit.posterior.certificate
    if g.audit.untied:
        rest = "Name a register that says who is who, or keep the private link beside each release folder."
        found.append(NextStep("Tie the releases together.", rest))
    if certificate.contradictions:
        places = f"{count(certificate.contradictions)} place{'s' if certificate.contradictions > 1 else ''}"
        why = "the releases: somebody's value changed, or a file is not what it says"
        if by_statements(g.audit):
            why = "both releases and statements: a statement is not true, or speaks of others"
        rest = f"In {places} no assignment fits {why}."
        found.append(NextStep("Settle the contradictions.", rest))
    elif certificate.persons_by_state.get("relaxed", 0) and by_statements(g.audit):
        found.append(NextStep("Settle the statements.", "Some contradict the releases and gave way: leave them out."))
    elif not certificate.status.certain:
        rest = "More seconds may settle those who have no answer yet; what is proven stays."
        found.append(NextStep("Give it more time.", rest))
    if certificate.changed.tolerated:
        rest = "Your own tables, one for each release, know it: name them with the audit."
        found.append(NextStep("Tell whose value changed.", rest))
    return found


def answers(g: Gathered) -> tuple[ShortAnswer, ...]:
    """Seven questions, answered on the first two screens."""
    j, a = g.audit.joint, g.after
    alone = f"; with the most telling single release {count(j.expected_guesses_alone)}" if g.several else ""
    badly = (
        f"Who always guesses the likeliest value is right for about **{count(j.expected_guesses)} of"
        f" {count(j.persons)}** persons{alone}. What is left is as uncertain as **{g.alternatives:.2g} equally likely"
        " values** per person."
    )
    if g.open:
        badly = (
            f"That is known for **{count(j.answered)} of {count(j.persons)}** persons only; for the others it is open."
        )
    share = (
        ShortAnswer(
            "May I share this file?",
            "**No.** It holds ids and proofs. The shareable report has the same counts without them.",
        )
        if g.internal
        else ShortAnswer(
            "May I share this file?",
            "**Yes.** It holds counts, no ids, no proofs and no rows; parts of breakdowns under 10 persons are merged."
            + (
                " Whoever has the releases could compute the same."
                if g.audit.scored is None
                else " What stands beside your own tables is more than the releases tell."
            ),
        )
    )
    uncovered = f"What a reader knows {_beyond(g)}" + (
        ", and values that changed between releases" if g.several else ""
    )
    found = [
        ShortAnswer(
            "Who is exposed?", _who(g), *(("Where it sits", "where") if g.values is not None else ("How sure", "how"))
        ),
        ShortAnswer("How badly?", badly, "How sure", "how"),
        ShortAnswer(
            "Why?",
            _why(g),
            *(("Why", "why") if g.combined else ("How sure", "how") if g.several else ("Criteria", "criteria")),
        ),
        ShortAnswer("Since which release?", _since(g), *(("What each added", "since") if g.staged else ())),
        share,
        ShortAnswer("What is not covered?", f"{uncovered}. **The true exposure can be higher.**", "Limits", "limits"),
    ]
    return tuple(found if a.persons else found[-2:])


def _beyond(g: Gathered) -> str:
    """Where what the page does not cover begins: behind what the reader was said to know and believe."""
    reader = g.audit.posterior.reader
    number = len(reader.knowledge)
    given = ["1 statement" if number == 1 else f"{count(number)} statements"] if number else []
    given += ["prior"] if reader.prior is not None else []
    return f"beyond the {' and the '.join(given)} given here" if given else "from elsewhere"


def _who(g: Gathered) -> str:
    if g.open:
        return f"Known so far: {persons(g.proven)} {are(g.proven)} certain. Nobody without an answer counts as safe."
    if g.values is None:
        few = (
            f"{persons(g.after.certain)} {are(g.after.certain)} certain and {persons(g.after.p50)} at least 50\u202f%"
            " sure"
        )
        more = (
            ""
            if g.internal
            else ", too few to break down without pointing at somebody; the"
            f" {'tables of persons name' if g.in_pieces else 'internal report names'} them"
        )
        return f"{few.capitalize()}{more}."
    measure, word = g.values.measure, "certain" if g.values.measure == "certain" else "at least 50\u202f% sure"
    top = [part for part in g.values.parts if part.merged == 1 and getattr(part, measure)][:2]
    number = getattr(g.after, measure)
    if not top:
        return f"{persons(number)} {are(number)} {word}, over many values."
    named = listed([f"**{exposed_of(p, measure, about=True)}** with {p.label}" for p in top])
    return f"Above all {named} are {word}; of everybody it is {share_said(g.values.whole, measure)}."


def _why(g: Gathered) -> str:
    if not g.several:
        return "Groups in which a value is too frequent, or the only one, give it away."
    if g.audit.untied:
        return "Nothing was combined that is not tied together."
    said = (
        f"The same persons stand in different groups of {all_of(len(g.names)) if len(g.names) > 2 else 'the two'}"
        " releases, and each group rules values out."
    )
    if g.summed and (many := g.audit.joint.newly_certain) and (many >= LEAST or many == g.after.certain):
        how = "both" if len(g.names) == 2 else "several"
        return f"{said} **{count(many)} of the {count(g.after.certain)}** fall only when {how} are combined."
    most = max((need.size for need in g.needs or ()), default=0)
    many = sum(need.persons for need in g.needs or () if need.size == most)
    if most > 1 and (g.internal or many >= LEAST or many == g.after.certain):
        every = any(need.at_least for need in g.needs or ())
        how = f"at least {small(most)} releases" if every else all_of(most) if most == len(g.names) else small(most)
        return f"{said} **{count(many)} of the {count(g.after.certain)}** fall only when {how} are combined."
    return said


def _since(g: Gathered) -> str:
    if not g.several:
        return f"There is one release only: {g.newest}."
    if g.summed:
        return (
            "What each release added is not worked out where a component is too large for one worker. By one alone"
            f" **{persons(g.audit.joint.certain_alone)}** {are(g.audit.joint.certain_alone)} certain."
        )
    if g.open:
        before = (
            ""
            if g.before is None
            else (
                f" Before it, **{'nobody' if not g.before.certain else count(g.before.certain)}**"
                f" {are(g.before.certain)} certain."
            )
        )
        return f"What {g.newest} adds is not known in full.{before}"
    told, last = [], 0
    for state in g.states:
        if state.bands is None:
            return (
                "How many each release added was not worked out in the time given; with all of them it is"
                f" {persons(g.after.certain)}."
            )
        more = state.bands.certain - last
        last = state.bands.certain
        if more or len(g.states) <= 4:
            told.append(f"**{count(more) if more else 'nobody'}** by {g.names[g.states.index(state)]}")
    return f"Certain persons: {listed(told)}." if told else "Nobody is certain since any of them."
