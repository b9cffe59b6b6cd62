"""Compare ways to publish one table again and again: groups or noise, after one release and after many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from showthrough.comparing.comparison import (
    EPSILONS,
    METHODS,
    QUERIES,
    RELEASES,
    SECONDS,
    SHARE,
    Comparison,
    compare,
)
from showthrough.errors import FieldError
from showthrough.progress import Progress
from showthrough.report.origin import Origin
from showthrough.table.entries import Entries, between
from showthrough.table.files import read_table
from showthrough.table.hierarchy import Hierarchy


@dataclass(frozen=True)
class CompareRequest(Entries):
    """The table and the options of `compare`; files instead of frames. ``plot`` is an SVG to draw."""

    table: str
    id: str
    sensitive: str
    quasi: tuple[str, ...]
    methods: tuple[str, ...] = METHODS
    epsilons: tuple[float, ...] = EPSILONS
    match: bool = True
    k: int = 5
    l: int = 3
    releases: tuple[int, ...] = RELEASES
    share: float = SHARE
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    queries: int = QUERIES
    seconds: float = SECONDS
    seed: int = 0
    plot: str | None = None
    encoding: str | None = None

    def check(self) -> None:
        """Numbers in their ranges, and something to compare."""
        for name, least in (("k", 2), ("l", 2), ("queries", 1), ("seed", 0), ("seconds", 0)):
            between(name, getattr(self, name), least)
        if not (self.methods or self.epsilons):
            raise FieldError("methods", "lists nothing, and neither do epsilons: name what to compare.")

        if self.plot is not None and Path(self.plot).suffix.lower() != ".svg":
            raise FieldError(
                "plot", f"names the plot, an SVG: its name ends in .svg, not as {Path(self.plot).name} does."
            )

    def files(self) -> list[Path]:
        """Everything that is read and must not be written over."""
        return [Path(self.table), *map(Path, self.hierarchies.values())]


@dataclass(frozen=True, eq=False)
class CompareOptionsResult:
    """The comparison, and its plot where one was asked for."""

    request: CompareRequest
    comparison: Comparison
    plot: bytes | None
    made: Origin


def run_compare_options(
    request: CompareRequest, progress: Progress | Callable[[str], None] | None = None
) -> CompareOptionsResult:
    """Read the table, publish it by every option, and draw what comes out."""
    from showthrough.report.compared import drawn, need_drawing

    if request.plot is not None:
        need_drawing()  # before the work, not after it
    tell = Progress.of(progress)
    tell.stage("reading the table")
    table = read_table(request.table, encoding=request.encoding)
    trees = {c: Hierarchy.read(file, encoding=request.encoding) for c, file in request.hierarchies.items()}
    named = ("id", "sensitive", "quasi", "methods", "epsilons", "match", "k", "l", "releases", "share", "queries")
    given = {name: getattr(request, name) for name in (*named, "seconds", "seed")}
    found = compare(table, **given, hierarchies=trees, progress=tell)
    plot = None if request.plot is None else drawn(found)
    return CompareOptionsResult(request, found, plot, Origin.now(request.files()))
