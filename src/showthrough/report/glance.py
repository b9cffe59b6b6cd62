"""An audit at a glance, for a terminal: verdict, figures, since when, how sure, what to do; words as on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from showthrough.auditing.bands import Bands
from showthrough.auditing.further import Further
from showthrough.auditing.since import HistoryState, states
from showthrough.auditing.whole_audit import Audit
from showthrough.numerals import many
from showthrough.report.page import headline
from showthrough.report.page.bars import STEP
from showthrough.report.page.gathered import Gathered, at_hand
from showthrough.report.page.sure import HowSure, Sureness, holder_of

_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN = " .:-=+x*#"  # no %, which stands beside them
_LATEST = 6  # releases that are listed one by one


@dataclass(frozen=True)
class Glance:
    """What a terminal shows first: (label, text) line by line, of ``certain`` the word and the number."""

    verdict: str
    finding: str
    figures: str
    since: str
    heights: tuple[int, ...]  # 0 to 8, of steps of five percent; the last is of certain persons
    first: int  # the percentage at which the heights begin
    certain: int
    step: str

    def lines(self, *, plain: bool) -> list[tuple[str, str]]:
        """For a terminal, or ``plain`` for a file or a pipe."""
        bars = _PLAIN if plain else _BLOCKS
        *rest, last = (bars[h] for h in self.heights)
        left, right = "[]" if plain else ("", "")  # or a sign beside a number would read as part of it
        sure = f"{self.first} % {left}{''.join(rest)}{right} 100 %   certain {left}{last}{right} {many(self.certain)}"
        told = [(self.verdict, self.finding), ("", self.figures)]
        told += [("since", self.since)] if self.since else []
        return [*told, ("sure", sure), ("next", self.step)]


def glance(audit: Audit, further: Further) -> Glance:
    """At a glance; what the history was before the newest release is asked of ``further``."""
    sure = HowSure.of(holder_of(audit))
    g = replace(at_hand(audit, sure), further=further, states=states(further))
    verdict = str(audit.decision.verdict).upper() if audit.decision is not None else ""
    if not verdict:
        verdict = "FOUND" if g.conclusive else "INCONCLUSIVE"
    first, heights = _heights(sure.together)
    step = headline.steps(g)[0]
    return Glance(
        verdict=verdict,
        finding=_finding(g),
        figures=_figures(g),
        since=_since(g.states) if g.several else "",
        heights=heights,
        first=first,
        certain=g.after.certain,
        step=_ordinary(f"{step.strong} {step.rest}"),
    )


def _ordinary(text: str) -> str:
    """Without the marks of a page."""
    return text.replace("**", "")


def _finding(g: Gathered) -> str:
    now, before = g.after, g.before
    whom = "nobody" if not now.certain else many(now.certain)
    verb = "is" if now.certain in (0, 1) else "are"
    said = f"{whom} of {many(now.persons)} persons {verb} certain{_change(now, before, 'certain')}"
    if g.several and now.certain and not g.audit.joint.certain_alone:
        said += "; no release alone makes anybody certain"
    return said


def _change(now: Bands, before: Bands | None, band: str) -> str:
    if before is None:
        return ""
    more = getattr(now, band) - getattr(before, band)
    return f" ({many(abs(more))} {'more' if more > 0 else 'fewer'} than before)" if more else " (as before)"


def _figures(g: Gathered) -> str:
    now, before = g.after, g.before

    def grown(band: str) -> str:
        more = 0 if before is None else getattr(now, band) - getattr(before, band)
        return f" ({'+' if more > 0 else '-'}{many(abs(more))})" if more else ""

    unknown = f"   without an answer: {many(now.unknown)}" if now.unknown else ""
    state = g.audit.posterior.certificate.status
    told = [
        f"at least {level} %: {many(getattr(now, band))}{grown(band)}" for level, band in ((90, "p90"), (50, "p50"))
    ]
    return f"{'   '.join(told)}{unknown}   figures: {state}"


def _since(told: Sequence[HistoryState]) -> str:
    """How many certain persons each release added."""
    parts, last = [], 0
    for state in told:
        if state.bands is None:
            return "not worked out in the time given"
        more = state.bands.certain - last
        parts.append(f"{state.release} {'nobody' if not more else many(more)}")
        last = state.bands.certain
    hidden = len(parts) - _LATEST
    return "   ".join([f"… {hidden} before", *parts[-_LATEST:]] if hidden > 0 else parts)


def _heights(sure: Sureness) -> tuple[int, tuple[int, ...]]:
    """Where the bars begin, in percent, and how high each is; the last is of certain persons."""
    counts = np.append(sure.steps, sure.bands.certain)
    begin = int(np.argmax(counts[:-1] > 0)) if counts[:-1].any() else counts.size - 2
    shown = counts[begin:]
    most = max(1, int(shown.max()))
    return begin * STEP, tuple(int(np.ceil(8 * n / most)) for n in shown)
