"""One piece of a history, answered as any history is, and written down by whoever works on it."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from showthrough.errors import Cancelled, EngineError, InternalError, ShowthroughError
from showthrough.inference.attribution import PartTold
from showthrough.inference.certificate import Certificate
from showthrough.inference.cluster.cutting import HistoryPiece
from showthrough.inference.posterior import Posterior
from showthrough.register.leeway import Near
from showthrough.storage.system import remove
from showthrough.storage.unit import written_whole
from showthrough.table.arrays import Flags
from showthrough.table.frozen import Frozen

ANSWER, PEOPLE, FACTS = TABLES = ("answer", "people", "facts")
"""What is written of each piece: probabilities, everybody's likeliest value, and what is proven."""

MEMBERS, COUNTS = LAID = ("members", "counts")
"""What a cluster lays out of each piece before it is answered: whom it holds, and what is published of their groups."""


class MorePerPiece(Protocol):
    """Figures of a piece that can be added up, and what its people have beside their likeliest value."""

    def __call__(self, post: Posterior, seconds: float, share: float) -> tuple[Any, pl.DataFrame]:
        """Of a posterior, made in so many seconds at most; the piece is that share of all pieces."""

    @property
    def asked(self) -> str:
        """What is counted, as a text that tells two questions apart."""

    def of_giant(self, told: Sequence[Any], groups: Sequence[int], *, certain: bool) -> Any:
        """The same figures from the sums of a giant component."""

    @property
    def by_sets(self) -> bool:
        """Whether it is asked what some of the releases tell."""

    def of_part(self, told: Mapping[tuple[int, ...], PartTold], inside: Flags) -> Any:
        """What sets of releases tell of some persons of a giant component; ``inside`` [releases, persons]."""

    def check_giant(self) -> None:
        """Refuse what is not counted in a giant component, before anything is."""

    @property
    def limits(self) -> Mapping[str, float]:
        """What a giant component is asked to count persons over."""


@dataclass(frozen=True, eq=False)
class PieceQuestion:
    """What all pieces are asked, and where their answers go."""

    infer: Callable[..., Posterior]
    folder: str
    id_type: pl.DataType
    domain: tuple[Any, ...] = ()
    contradictions: str = "explain"
    until: float = float("inf")  # on the clock of the day, which machines share as well as they can
    further: MorePerPiece | None = None
    share: float = 1.0  # of a piece, among all of them
    infer_by_guess: Callable[..., Posterior] | None = None  # for pieces that are answered so

    def left(self) -> float:
        """Seconds until the time is over."""
        return max(0.0, self.until - time.time())


@dataclass(frozen=True, eq=False)
class PieceAnswer:
    """What the driver is told of a piece: counts, no person."""

    certificate: Certificate
    facts: Mapping[str, int]
    entropy: float
    contradictions: tuple[str, ...] = ()
    figures: Any = None
    near: Mapping[str, Near] = field(default_factory=Frozen)  # by release: how many centroids a guess gave way to
    seconds: float = field(default=0.0, compare=False)  # of processor time


@contextmanager
def gone_if_refused(*folders: Path) -> Iterator[None]:
    """Folders that a later run goes on from, unless what was asked is refused: then nobody asks it again."""
    try:
        yield
    except (EngineError, Cancelled, InternalError):
        raise
    except ShowthroughError:
        for folder in folders:
            with suppress(OSError):
                remove(folder)
        raise


def answer_file(path: str, question: PieceQuestion) -> PieceAnswer:
    """The answer of a piece that was put into a file."""
    with Path(path).open("rb") as stream:
        cut: HistoryPiece = pickle.load(stream)
    return answer_cut(cut, Path(path).stem, question)


def answer_cut(cut: HistoryPiece, name: str, question: PieceQuestion) -> PieceAnswer:
    """Infer from a piece, write what is known of everybody under its name, and tell the counts."""
    began = time.process_time()
    given: dict[str, Any] = {"register": cut.register, "membership": cut.membership, "domain": question.domain}
    given |= {"changed": cut.changed, "seconds": question.left()}
    if cut.by_guess:
        assert question.infer_by_guess is not None
        post = question.infer_by_guess(cut.releases, **given)
    else:
        post = question.infer(cut.releases, **given, contradictions=question.contradictions)
    figures, more = None, pl.DataFrame()
    if question.further is not None:
        figures, more = question.further(post, question.left(), question.share)
    people = pl.concat([post.best(), post.states().to_frame(), more], how="horizontal")
    for table, frame in ((ANSWER, post.to_frame(uncertified=True)), (PEOPLE, people), (FACTS, post.proven())):
        keep(frame, Path(question.folder) / table / f"{name}.parquet", question.id_type)
    told, counts = post.contradictions, post.fact_counts()
    return PieceAnswer(
        post.certificate,
        vars(counts),
        post.entropy,
        tuple(one.shareable for one in told),
        figures,
        post.reader.leeway.near,
        time.process_time() - began,
    )


def keep(frame: pl.DataFrame, path: Path, id_type: pl.DataType) -> None:
    """Write a table of persons: the same columns and types in every piece."""
    if "release" not in frame.columns:  # of ids that are several persons
        frame = frame.insert_column(1, pl.Series("release", [None] * frame.height, dtype=pl.String))
    if "fact" in frame.columns and "conditional" not in frame.columns:
        frame = frame.with_columns(pl.lit(value=False).alias("conditional"))
    frame = frame.with_columns(pl.col("id").cast(id_type))
    with written_whole(path, private=True) as stream:
        frame.write_parquet(stream)
