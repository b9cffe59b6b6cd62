"""`infer` of releases that lie on a cluster: laid out by the workers, answered in pieces, written by the workers."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from showthrough import __version__
from showthrough.engines.cluster_release import ClusterRelease
from showthrough.engines.engine import Engine
from showthrough.errors import InputError
from showthrough.inference.cluster.cutting import PERSONS
from showthrough.inference.cluster.giant_component import answer_giant
from showthrough.inference.cluster.laid_pieces import DONE, LaidPiece, answer_laid
from showthrough.inference.cluster.laying import STARS, Laying
from showthrough.inference.cluster.pieces import LAID, MEMBERS, TABLES, gone_if_refused
from showthrough.inference.cluster.spread import SpreadPosterior, joined
from showthrough.inference.cluster.wide import Wide, worked
from showthrough.inference.log import Log
from showthrough.register.locating import names_of
from showthrough.release.release import Release
from showthrough.storage.taking_up import ANEW, named, states_of, taken_up

LARGEST = 2_000_000  # persons of a component that one worker answers
_STEPS = ("tallies", "persons", "forests", STARS, "ties", *LAID, "local", DONE)
_COMPLETE = "complete"


def infer_laid(releases: Sequence[Any], engine: Engine, asked: Wide) -> SpreadPosterior:
    """The answer of releases on a cluster; a run that was broken off in the same folder is taken up again."""
    session = getattr(engine, "session", None)
    if session is None:
        raise InputError("Releases on a cluster need the engine of that cluster: engine=st.engines.spark(session).")
    folder = _folder(releases, asked, Path(engine.folder))  # type: ignore[attr-defined]
    with gone_if_refused(folder):
        return _in_folder(releases, engine, asked, folder)


def _in_folder(releases: Sequence[Any], engine: Engine, asked: Wide, folder: Path) -> SpreadPosterior:
    session = engine.session  # type: ignore[attr-defined]
    given = [_put_there(one, folder, k) for k, one in enumerate(releases)]
    names = tuple(names_of(given))  # type: ignore[arg-type]
    laying = Laying(session, given, names, folder)
    largest = sys.maxsize if asked.wanted.changed.told else LARGEST  # who is several persons is so on one worker
    laid = engine.run(lambda: laying.run(asked.progress, persons=PERSONS, largest=largest))  # type: ignore[attr-defined]
    id_type = pl.Int64() if laying.id_type() == "bigint" else pl.String()
    question = asked.question(folder, id_type)
    there = sorted(int(p.name.removeprefix("piece=")) for p in (folder / MEMBERS).glob("piece=*"))
    small = [LaidPiece(str(folder), k, names, asked.wanted.changed) for k in there if k not in laid.giants]
    if laid.giants and asked.further is not None:
        asked.further.check_giant()
    found = worked(engine, answer_laid, small, question, asked.progress)
    for k in laid.giants:
        log = Log.of(asked.progress, asked.clock.left())
        found.append(answer_giant(engine, folder, k, names, question, log, asked.wanted.changed.otherwise))
    published = dict(zip(names, laying.values(), strict=True))
    for name in _STEPS:
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / _COMPLETE).touch()
    certificate = joined([one.certificate for one in found], len(names))
    assert certificate.persons >= laid.persons
    return SpreadPosterior(certificate, folder, published, tuple(found), session=session)


def _folder(releases: Sequence[Any], asked: Wide, home: Path) -> Path:
    """Where this history is worked on: in the same folder if it is the same, so that a broken run is taken up again."""
    further = None if asked.further is None else asked.further.asked
    question: list[Any] = [repr(asked.wanted), sorted(map(str, asked.wanted.changed.told)), further]
    made_of: list[Any] = [__version__]
    for one in releases:
        own = [one] if not isinstance(one, ClusterRelease) else [one.source, one.values]
        paths = [path if isinstance(path, str) else os.urandom(8).hex() for path in own if path is not None]
        roles = [] if not isinstance(one, ClusterRelease) else [one.id, one.sensitive, one.group, one.count, one.name]
        question.append([paths, roles])
        made_of.append([states_of(path) for path in paths])
    folder = home / f"showthrough-{named(question, made_of)}"
    if (folder / _COMPLETE).exists():
        shutil.rmtree(folder)
    if taken_up(folder, _COMPLETE):
        asked.progress.stage(ANEW)
    for name in (DONE, *TABLES):
        (folder / name).mkdir(exist_ok=True, mode=0o700)
    return folder


def _put_there(one: Any, folder: Path, k: int) -> ClusterRelease:
    """A release on the cluster; one that this process holds becomes one."""
    if isinstance(one, ClusterRelease):
        return one
    if not isinstance(one, Release) or one.roles.id is None or not one.form.publishes_ids:
        raise InputError(
            "Beside releases on a cluster stand bucketized releases with ids: persons are joined by their ids there."
        )
    if one.counterfeits.height:
        raise InputError("A release with counterfeits is worked on where it is held: give all releases as such.")
    at = folder / "local" / str(k)
    for name in ("records", "values"):
        (at / name).mkdir(parents=True, exist_ok=True)
    members = pl.DataFrame({"id": one.records[one.roles.id], "group": one.person_groups()})
    members.write_parquet(at / "records" / "part.parquet")
    one.tally.write_parquet(at / "values" / "part.parquet")
    return ClusterRelease(str(at / "records"), "id", "value", "group", str(at / "values"), "n", one.name)
