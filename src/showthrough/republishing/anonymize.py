"""Make a release of a table that satisfies criteria, alone or beside its history."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from showthrough.anonymizers.demands import bare
from showthrough.anonymizers.describe import tight_cells
from showthrough.anonymizers.identifying import refuse_identifying, unasked_remark
from showthrough.anonymizers.joint_values import spread
from showthrough.anonymizers.methods import METHODS, Groups, Method, Options
from showthrough.anonymizers.noisy_counts import DP_COUNTS
from showthrough.anonymizers.plan import apply_plan, read_plan
from showthrough.anonymizers.publication import made, publish, seen_groups, utility_of, verified
from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Shape, Table, listed_names, prepare
from showthrough.errors import CriterionError, InputError, ParameterError
from showthrough.knowledge.statement import Statement
from showthrough.progress import Progress
from showthrough.register.register import Register
from showthrough.release.bucketized import BucketizedKind
from showthrough.release.kind import Shows
from showthrough.release.kinds import KINDS
from showthrough.release.release import Release
from showthrough.republishing.budgeted import refuse_budget, with_differential_privacy
from showthrough.republishing.republish import Choices, republish
from showthrough.republishing.strategies import STRATEGIES
from showthrough.republishing.together import linked_remark, told_together


def anonymize(
    table: Any,
    *,
    method: str = "mondrian",
    id: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    strategy: str = "independent",
    criteria: Sequence[Any] = (),
    others: str = "alone",
    history: Sequence[Release] = (),
    policy: Any = None,
    knowledge: Iterable[Statement] = (),
    prior: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
    output: str | None = None,
    suppression_limit: float = 0,
    missing: str = "refuse",
    shown: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    limits: Mapping[str, tuple[float | None, float | None]] | None = None,
    levels: Mapping[str, tuple[int | None, int | None]] | None = None,
    objective: str = "loss",
    cells: str = "tight",
    passes: int | None = None,
    accept_violations: bool = False,
    plan: Any = None,
    changed: str = "refuse",
    repair: str = "report",
    hold_back: bool = False,
    best_effort: bool = False,
    exposed: str = "refuse",
    prefer: str = "lasting",
    readers: str = "groups",
    merge_overlaps: bool = False,
    publish_ids: bool = False,
    quasi_anyway: Sequence[str] = (),
    domain: Mapping[str, Any] | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    mechanism: str = "geometric",
    neighbours: str = "replace-one",
    marginals: Sequence[Any] = (),
    seconds: float = 600.0,
    name: str = "",
    seed: int | None = None,
    progress: Progress | Callable[[str], None] | None = None,
) -> Release:
    """A release of the table that satisfies every criterion, checked by the criteria before it is returned.

    ``method`` is one of mondrian, mondrian-relaxed, local-recoding, full-domain, anatomy, mdav, xcolor
    and dp-counts. Columns with a hierarchy are published as its labels, other numbers as ranges, other text
    as sets; ``shown`` changes that per column. ``output`` "bucketized" publishes the same groups with
    exact quasi-identifiers and a group column. ``limits`` maps a column to its lowest and highest
    published number (top and bottom coding), ``levels`` to the least and greatest level of its hierarchy
    that may be published (0 is the value itself). ``objective`` is what methods that generalize make small:
    loss, entropy, precision, discernibility or average-class-size. ``suppression_limit`` is a number of rows,
    or a share below 1. ``missing`` says what to do with empty cells: refuse, value or suppress. ``cells`` "recursion"
    makes Mondrian publish the cells of its cuts instead of tight ranges: ranges and sets then leave nobody
    of the domain out (labels only where somebody is).

    ``sensitive`` may list several columns, which are published beside each other. A criterion on values is judged by
    each of them, one with ``.on("salary")`` by that column. ``others`` says how the rest counts meanwhile: "alone" (not
    at all), "quasi" (as a quasi-identifier that the reader knows) or "together" (all make one composite value).

    ``strategy`` says how ``history`` (releases with ids or private links, oldest first) is looked at.
    "independent" groups without a look at it (``release.made`` says what all tell together);
    "history-guided" keeps the last groups, with a ``repair`` for slots that nobody fills; "m-invariance"
    keeps everybody's values; "guarded" repairs what the method proposes until the joint posterior keeps
    ``policy``, in at most ``seconds``, against readers with the ``knowledge`` and ``prior`` of `infer`.
    ``changed`` says what to do with persons whose value changed, ``hold_back`` whether records may be held back,
    ``best_effort`` whether to come as near to the policy as possible where it cannot be kept (``made`` says by how
    much it fails), ``exposed`` whether to go on ("accept") where earlier
    releases put somebody over a limit already. The guard prefers "lasting" groups, whose values all
    differ, so that next releases stay possible; "useful" takes what loses least now. For generalized
    output ``made.notes`` tells how many persons exceed the limit for readers who locate them by
    quasi-identifiers; ``merge_overlaps`` merges groups until none does, and with ``readers`` "located" instead of
    "groups" the guard keeps the policy for these readers alone.

    ``plan`` (a plan.json, the folder that holds it, or a mapping) recodes the table as an earlier release
    was; records that fit none of its cells and groups that fail a criterion are suppressed.

    A bucketized release is two tables, records and values, without ids unless ``publish_ids``. Columns that
    identify persons, by themselves or as names, addresses and numbers of persons do, are refused as
    quasi-identifiers unless ``quasi_anyway`` names them.

    "dp-counts" publishes counts of values per cell with noise that promises differential privacy: ``epsilon`` (and
    ``delta``, for Gaussian noise) for all tables together, ``mechanism`` geometric, laplace, gaussian or
    discrete-gaussian, ``neighbours`` replace-one or add-remove. ``domain`` maps every column to its values, to cells
    that cover them, or to a level of its hierarchy. ``marginals`` lists the columns of each of several tables,
    perhaps with shares: ``[["age"], (["age", "sex"], 2)]``. Its noise takes no seed.

    What it cost is in ``release.made``; who went where in ``release.groups()`` if there is an ``id``.
    """
    asked = dict(locals())
    if method == DP_COUNTS:
        return with_differential_privacy(asked)
    refuse_budget(asked)
    began = time.perf_counter()
    if strategy not in STRATEGIES:
        raise InputError(f"The strategy is one of {', '.join(STRATEGIES)}, not {strategy!r}.")
    if (strategy == "guarded") != (policy is not None):
        raise InputError('strategy="guarded" obeys a policy, such as Policy(max_posterior=0.5); the others know none.')
    told = list(knowledge)
    if strategy != "guarded" and (told or prior is not None):
        raise InputError('knowledge and prior are of readers that strategy="guarded" is to stand; the others ask none.')
    if strategy != "guarded" and readers != "groups":
        raise ParameterError(
            'readers= is for strategy="guarded", which looks at them.', parameters=("readers", "strategy")
        )
    chosen = _method(method)
    if strategy in ("independent", "guarded"):
        _enforceable(chosen, criteria)
    secret = listed_names(sensitive)
    criteria = spread(criteria, secret, others)
    _refuse_several(secret, chosen, strategy, history)
    if levels:
        _refuse_levels(chosen, strategy, plan=plan is not None, output=output, cells=cells)
    shape = Shape.of(hierarchies, shown, weights, limits, missing, levels)
    tell = Progress.of(progress)
    tell.stage("reading the table")
    chance = _seed(seed)
    ready = prepare(table, id=id, sensitive=secret, quasi=quasi, shape=shape, others=others).shuffled(chance)
    refuse_identifying(ready, quasi_anyway, named=bool(id or secret or quasi))
    linked = linked_remark(history) if readers == "groups" else ()
    beside = (*unasked_remark(ready, quasi, quasi_anyway), *linked)
    _judgeable(criteria, ready)
    options = Options(
        seed=chance,
        suppression_limit=_rows(suppression_limit, ready.rows),
        cells=_one_of("cells", cells, ("tight", "recursion")),
        passes=passes,
        objective=_one_of(f"The objective of {method}", objective, chosen.objectives),
        progress=tell,
    )
    kind = _output(chosen, output, shape)
    if strategy != "independent":
        if plan is not None:
            raise InputError("A plan is followed by the independent strategy; audit the pair afterwards.")
        choices = Choices(
            strategy=strategy,
            criteria=tuple(criteria),
            history=tuple(history),
            policy=policy,
            kind=_one_of("output", output or _default(chosen, strategy), _outputs(Shows.EXACT, Shows.CELLS)),
            name=name,
            seed=options.seed,
            changed=changed,
            repair=repair,
            hold_back=hold_back,
            best_effort=best_effort,
            exposed=exposed,
            prefer=prefer,
            merge_overlaps=merge_overlaps,
            readers=readers,
            accept=accept_violations,
            seconds=seconds,
            progress=tell,
            known=_known(ready, told, prior),
        )
        ready = replace(ready, publish_ids=_publishes_ids(publish_ids, id, choices.kind))
        return _remarked(
            republish(ready, choices, lambda some: chosen.run(some, criteria, options), began=began),
            *beside,
            *_other_kind(chosen, choices.kind, output),
        )
    ready = replace(ready, publish_ids=_publishes_ids(publish_ids, id, kind))
    tell.stage("following the plan" if plan else f"grouping by {method}")
    grouped = apply_plan(ready, read_plan(plan), criteria, options) if plan else chosen.run(ready, criteria, options)
    tell.stage("publishing and checking")
    grouped = _with_cells(ready, grouped, kind)
    parameters = {"method": chosen.name, "criteria": [str(c) for c in criteria]}
    release = publish(ready, grouped, kind=kind, name=name, seed=chance, parameters=parameters)
    release = _judged(ready, grouped, release, criteria, method=chosen, began=began, accept=accept_violations)
    if not history:
        return _remarked(release, *beside)
    remark = told_together(ready, list(history), release, changed=changed, progress=tell.silent())
    return _remarked(release, *beside, remark)


def _remarked(release: Release, *remarks: Remark) -> Release:
    """The release with more for its publisher to know."""
    return replace(release, made=replace(release.made, remarks=(*release.made.remarks, *remarks)))


def _with_cells(table: Table, grouped: Groups, kind: str) -> Groups:
    """The groups with something to print: tight cells where the kind shows cells and the method made none."""
    if KINDS[kind].shows is not Shows.CELLS or grouped.cells is not None:
        return grouped
    texts = tight_cells(table.columns, grouped.group)
    return replace(grouped, cells={c.name: cells for c, cells in zip(table.columns, texts, strict=True)})


def _judged(
    table: Table,
    grouped: Groups,
    release: Release,
    criteria: Sequence[Any],
    *,
    method: Method,
    began: float,
    accept: bool,
) -> Release:
    """The release with what the criteria say of it and what it cost; refused where one does not hold."""
    checks = verified(table, grouped, release, criteria)
    failing = [c for c in checks if not c.holds]
    if failing and not accept:
        raise CriterionError(
            f"{method.name} did not reach {failing[0].criterion}: {failing[0].sentence} accept_violations=True "
            "gives the release as it is.",
            release=release,
            parameters=("accept_violations",),
        )
    exact = release.form.shows is Shows.EXACT
    utility = None if exact else utility_of(table, seen_groups(table, grouped), criteria, release)
    return replace(release, made=made(table, grouped, checks, method=method.name, began=began, utility=utility))


def _default(method: Method, strategy: str) -> str:
    """A guard publishes what its method does; the other strategies are about groups of persons with ids."""
    return method.kind if strategy == "guarded" and KINDS[method.kind].shows is Shows.CELLS else BucketizedKind.name


def _other_kind(method: Method, kind: str, output: str | None) -> tuple[Remark, ...]:
    """That quasi-identifiers are published as they are, where nobody asked for it and the method by itself does not."""
    if output is not None or KINDS[kind].shows is KINDS[method.kind].shows:
        return ()
    words = (
        "{method} by itself publishes a {usual} release; beside a history it made the groups of a {made} one, which "
        "shows quasi-identifiers as they are."
    )
    return (Remark.of("kind", words, method=method.name, usual=method.kind, made=kind),)


def _output(method: Method, output: str | None, shape: Shape) -> str:
    """The kind that is published; only what a method made can be."""
    kind = _one_of("output", output or method.kind, _outputs(*Shows))
    shows = KINDS[kind].shows
    if shows is Shows.CENTROIDS and KINDS[method.kind].shows is not shows:
        able = [m.name for m in METHODS.values() if KINDS[m.kind].shows is shows]
        raise InputError(f"Only the method {' or '.join(able)} publishes centroids.")
    if shows is Shows.EXACT and shape.limits:
        printed = " or ".join(_outputs(Shows.CELLS, Shows.CENTROIDS))
        raise InputError(
            f"Top and bottom coding (limits) changes what a {printed} release prints; a {kind} "
            "one publishes quasi-identifiers as they are."
        )
    return kind


def _refuse_levels(method: Method, strategy: str, *, plan: bool, output: str | None, cells: str) -> None:
    """Least and greatest levels where nothing keeps them."""
    printed = KINDS[_one_of("output", output or method.kind, _outputs(*Shows))].shows is Shows.CELLS
    if method.levels and printed and strategy == "independent" and not plan and cells == "tight":
        return
    able = ", ".join(one.name for one in METHODS.values() if one.levels)
    raise InputError(
        f"Least and greatest levels are kept by {able} with generalized output and tight cells, by the independent "
        "strategy and without a plan.",
        parameters=("levels",),
    )


def _refuse_several(sensitive: Sequence[str], method: Method, strategy: str, history: Sequence[Release]) -> None:
    """Several sensitive columns where one is followed, or where values stand beside no record."""
    if len(sensitive) < 2:
        return
    if strategy != "independent" or len(history):
        raise InputError(
            "Beside a history one sensitive column is followed: name one with sensitive=, or publish without the "
            "history and audit both by each column.",
            parameters=("sensitive",),
        )
    if not KINDS[method.kind].several_values:
        able = ", ".join(one.name for one in METHODS.values() if KINDS[one.kind].several_values)
        raise InputError(f"Several sensitive columns are published by {able}, not by {method.name}.")


def _publishes_ids(wanted: bool, id: str | None, kind: str) -> bool:
    """Ids are published on request alone, and only where a kind ties them to groups."""
    if wanted and id is None:
        raise InputError(
            "publish_ids=True publishes the ids: name their column with id=.", parameters=("publish_ids", "id")
        )
    if wanted and not KINDS[kind].publishes_ids:
        able = " or ".join(one.name for one in KINDS.values() if one.publishes_ids and one.from_groups)
        raise InputError(f"Only a {able} release can publish ids, not a {kind} one.", parameters=("publish_ids",))
    return wanted


def _outputs(*shows: Shows) -> tuple[str, ...]:
    """The kinds that can be published and show quasi-identifiers in one of these ways."""
    return tuple(kind.name for kind in KINDS.values() if kind.from_groups and kind.shows in shows)


def _method(name: str) -> Method:
    if name not in METHODS:
        raise InputError(f"The method is one of {', '.join((*METHODS, DP_COUNTS))}, not {name!r}.")
    return METHODS[name]


def _enforceable(method: Method, criteria: Sequence[Any]) -> None:
    """Refuse criteria that the method cannot promise."""
    if isinstance(criteria, str) or not isinstance(criteria, Sequence):
        raise InputError("criteria is a list, such as [KAnonymity(5), EntropyLDiversity(3)].")
    for criterion in criteria:
        if not isinstance(bare(criterion), method.enforces):
            able = sorted(m.name for m in METHODS.values() if isinstance(bare(criterion), m.enforces))
            hint = f"use {', '.join(able)}" if able else "no method does"
            raise InputError(
                f"{method.name} cannot enforce {criterion}: it enforces "
                f"{', '.join(kind.name for kind in method.enforces)}. For {criterion} {hint}."
            )
    if not criteria:
        raise InputError(
            f"Say what the release must satisfy: {method.name} enforces "
            f"{', '.join(kind.name for kind in method.enforces)}."
        )


def _judgeable(criteria: Sequence[Any], table: Table) -> None:
    """Refuse criteria on values without a sensitive column."""
    blind = next((c for c in criteria if getattr(c, "needs_values", False)), None)
    if blind is not None and table.sensitive is None:
        raise InputError(
            f"{blind} looks at sensitive values: name their column with sensitive=.", parameters=("sensitive",)
        )


def _rows(limit: float, rows: int) -> int:
    if not np.isfinite(limit) or limit < 0 or (limit >= 1 and limit != int(limit)):
        raise ParameterError(
            f"suppression_limit= is a share below 1 or a whole number of rows, not {limit}.",
            parameters=("suppression_limit",),
        )
    return int(limit * rows) if limit < 1 else int(limit)


def _known(table: Table, knowledge: list[Statement], prior: Any) -> dict[str, Any]:
    """What a reader knows and believes, with a register of the table's persons: of them it may speak."""
    if not knowledge and prior is None:
        return {}
    if table.id is None:
        raise InputError("Statements speak of persons: name the id column.", parameters=("id",))
    register = Register.of(table.frame, id=table.id, quasi=table.quasi)
    return {"knowledge": knowledge, "prior": prior, "register": register}


def _seed(seed: Any) -> int:
    if seed is None:
        return 0
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"The seed is a whole number of 0 or more, not {seed!r}.")
    return int(seed)


def _one_of(what: str, given: str, allowed: Sequence[str]) -> str:
    if given not in allowed:
        raise InputError(f"{what} is one of {', '.join(allowed)}, not {given!r}.")
    return given
