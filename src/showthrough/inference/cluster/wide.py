"""`infer` with an engine: pieces of a history to whoever works on them, and their figures back."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from showthrough.engines.engine import Engine
from showthrough.errors import ContradictionError
from showthrough.inference.clock import Clock
from showthrough.inference.cluster.cutting import Cutting, HistoryPiece
from showthrough.inference.cluster.pieces import TABLES, MorePerPiece, PieceAnswer, PieceQuestion, answer_file
from showthrough.inference.cluster.spread import SpreadPosterior, joined
from showthrough.inference.posterior import Posterior
from showthrough.inference.row_values import published_values
from showthrough.inference.run import Wanted
from showthrough.progress import Progress
from showthrough.register.changed import Changed
from showthrough.register.leeway import Leeway
from showthrough.register.reader import Reader
from showthrough.release.release import Release
from showthrough.release.sums import without_persons
from showthrough.table.frozen import Frozen

AnyPiece = TypeVar("AnyPiece")
Cuttable = TypeVar("Cuttable")
_AT_ONCE = 4  # pieces for each worker between two words about how far the work is


@dataclass(frozen=True, eq=False)
class Wide:
    """How an answer is wanted, whoever works on it, and in which time; ``infer`` answers a piece."""

    infer: Callable[..., Posterior]
    infer_by_guess: Callable[..., Posterior]
    wanted: Wanted
    clock: Clock
    further: MorePerPiece | None = None

    @property
    def progress(self) -> Progress:
        """Who is told how far the work is."""
        return self.clock.progress

    def question(self, folder: Path, id_type: pl.DataType, domain: tuple[Any, ...] = ()) -> PieceQuestion:
        """What every piece is asked."""
        until, against = time.time() + self.clock.left(), self.wanted.contradictions
        return PieceQuestion(
            self.infer, str(folder), id_type, domain, against, until, self.further, infer_by_guess=self.infer_by_guess
        )


@dataclass(frozen=True, eq=False)
class CutHistory:
    """A history that lies in the files of a folder, cut into pieces; beside them, what is known without its persons."""

    folder: str
    files: tuple[str, ...]
    id_type: pl.DataType
    published: Mapping[str, tuple[Any, ...]]  # the values of each release, by its name
    reader: Reader  # who has no person
    sources: tuple[Release, ...]  # that hold no person
    changed: Changed  # what to do about values that changed; the pieces know whose did
    whole: str | None = None  # the file of all in one, where a guess may give way that ties the pieces together
    levels: Mapping[str, Mapping[str, float]] | None = None  # of each release by itself, if somebody looked


def cut_down(releases: Sequence[Release], reader: Reader, changed: Changed, folder: str) -> CutHistory:
    """Cut a history that this process holds, and put the pieces down in a folder."""
    cutting = Cutting.of(releases, reader)
    published = {r.name: tuple(published_values(r).unique().sort()) for r in cutting.heads}
    files = tuple(_put_down(cutting.pieces(changed), Path(folder)))
    sources = tuple(without_persons(r) for r in cutting.heads)
    nobody, whole = replace(changed, told=Frozen()), None
    if cutting.by_guess:
        whole = _put(cutting.whole(changed), Path(folder) / "pieces" / "whole.pickle")
    return CutHistory(folder, files, cutting.ids.dtype, published, reader.without_persons(), sources, nobody, whole)


def cut_by(engine: Engine, cut: Callable[[Cuttable, str], CutHistory], part: Cuttable) -> CutHistory:
    """A history that a worker cuts, who alone reads it."""
    folder = work_folder(engine)
    try:
        (found,) = engine.map(cut, [part], str(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return found


def infer_wide(releases: Sequence[Release], reader: Reader, engine: Engine, asked: Wide) -> SpreadPosterior:
    """The answer of a history that this process holds, piece by piece on an engine."""
    asked.progress.stage("reading groups")
    folder = work_folder(engine)
    try:
        cut = cut_down(releases, reader, asked.wanted.changed, str(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return infer_cut(cut, engine, asked)


def infer_cut(cut: CutHistory, engine: Engine, asked: Wide) -> SpreadPosterior:
    """The answer of a history that was cut, piece by piece on an engine."""
    folder = Path(cut.folder)
    question = asked.question(folder, cut.id_type, cut.reader.domain)
    try:
        try:
            found = worked(engine, answer_file, cut.files, question, asked.progress)
        except ContradictionError:
            if cut.whole is None:
                raise
            for table in TABLES:
                for path in (folder / table).iterdir():
                    path.unlink()
            found = worked(engine, answer_file, [cut.whole], question, asked.progress)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # nobody goes on from here
        raise
    shutil.rmtree(folder / "pieces")
    certificate = joined([one.certificate for one in found], len(cut.published))
    near = {name: wide for one in found for name, wide in one.near.items()}
    reader = replace(cut.reader, leeway=Leeway(near=Frozen(near)))
    answer = SpreadPosterior(
        certificate, folder, cut.published, tuple(found), reader, session=getattr(engine, "session", None)
    )
    if getattr(engine, "folder", None) is None:
        weakref.finalize(answer, shutil.rmtree, folder, ignore_errors=True)
    return answer


def worked(
    engine: Engine,
    function: Callable[[AnyPiece, PieceQuestion], PieceAnswer],
    files: Sequence[AnyPiece],
    question: PieceQuestion,
    progress: Progress,
) -> list[PieceAnswer]:
    """The answers of all pieces, told as they come."""
    found: list[PieceAnswer] = []
    question = replace(question, share=1 / max(1, len(files)))
    progress.stage("pieces")
    step = _AT_ONCE * engine.workers
    for first in range(0, len(files), step):
        progress.count(first, len(files))
        found += engine.map(function, files[first : first + step], question)
    progress.count(len(files), len(files))
    return found


def work_folder(engine: Engine) -> Path:
    """A fresh folder that all who work can see; it goes with the answer unless the engine has a place of its own."""
    folder = Path(tempfile.mkdtemp(prefix="showthrough-", dir=getattr(engine, "folder", None)))
    os.chmod(folder, 0o700)
    for name in ("pieces", *TABLES):
        (folder / name).mkdir()
    return folder


def _put_down(pieces: Iterable[HistoryPiece], folder: Path) -> list[str]:
    """The pieces in files."""
    return [_put(cut, folder / "pieces" / f"{k:06d}.pickle") for k, cut in enumerate(pieces)]


def _put(cut: HistoryPiece, path: Path) -> str:
    with path.open("wb") as stream:
        pickle.dump(cut, stream, protocol=pickle.HIGHEST_PROTOCOL)
    return str(path)
