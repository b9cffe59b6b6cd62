"""Options that several commands share: one home for each, so that their names and help agree.

An option stays with its command if it means something else there.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer


class Audience(StrEnum):
    shareable = "shareable"
    internal = "internal"


# What is read
Id = Annotated[Optional[str], typer.Option("--id", help="Column with the person's pseudonym, if any.")]
Sensitive = Annotated[Optional[str], typer.Option(help="Column with the sensitive value.")]
Quasi = Annotated[Optional[str], typer.Option(help="Quasi-identifiers of releases without ids, with commas: zip,age.")]
Group = Annotated[Optional[str], typer.Option(help="Column with the group, if the file has one.")]
Kind = Annotated[
    Optional[str],
    typer.Option(help="bucketized, generalized, counted or microaggregated, if the columns do not tell."),
]
Values = Annotated[
    Optional[list[Path]],
    typer.Option(help="Second table of Anatomy's pair (group, value, count); once per release, in order."),
]
Count = Annotated[Optional[str], typer.Option(help="Column with the count in those tables, or in a table of counts.")]
Suppressed = Annotated[
    Optional[list[str]],
    typer.Option(
        metavar="MARK=LOW-HIGH",
        help="What a mark in a column of counts stands for, such as c=1-4; once per mark, =1-4 for an empty cell.",
    ),
]
Rounding = Annotated[
    Optional[str],
    typer.Option(
        metavar="BASE[:RULE]",
        help="The base that counts are rounded to, such as 5, or 5:random (conventional, random, up, down).",
    ),
]
Totals = Annotated[
    Optional[list[str]],
    typer.Option(metavar="LABEL", help="A label of totals in a table of counts, such as Total; once per label."),
]
Population = Annotated[
    Optional[str],
    typer.Option(
        metavar="NAME",
        help="What the tables of counts count: everybody of this name, so that they are the same persons in all.",
    ),
]
ValueCells = Annotated[
    bool,
    typer.Option(
        "--value-cells",
        help="Sensitive values are cells (20-30, {a, b}, a label of --hierarchy), each for one of several values.",
    ),
]
Hierarchies = Annotated[
    Optional[list[str]], typer.Option(help="COLUMN=FILE: hierarchy of a quasi-identifier, as ARX writes it.")
]
Encoding = Annotated[Optional[str], typer.Option(help="Text encoding of CSV files, if not UTF-8.")]

# What the reader knows and believes
Knowledge = Annotated[
    Optional[list[Path]],
    typer.Option(
        metavar="FILE.toml", help=r"Statements that the reader knows: \[\[known]], \[\[share]], …; once per file."
    ),
]
PriorFile = Annotated[
    Optional[Path],
    typer.Option(
        "--prior", metavar="FILE", help="What the reader believes before: p by id (or quasi-identifiers) and value."
    ),
]
Elastic = Annotated[
    bool,
    typer.Option("--elastic", help="Statements that contradict the releases give way by as few persons as they can."),
]

Unpacked = Annotated[
    Optional[float],
    typer.Option(
        min=1,
        metavar="MB",
        help="Let gzip and Parquet files unpack to so many megabytes. Default: 200 times their size, 50 to 1000 MB.",
    ),
]

# Limits
K = Annotated[Optional[int], typer.Option("--k", help="k-anonymity.")]
DistinctL = Annotated[Optional[int], typer.Option(help="Distinct l-diversity.")]
FrequencyL = Annotated[Optional[float], typer.Option(help="Frequency l-diversity.")]
EntropyL = Annotated[Optional[float], typer.Option(help="Entropy l-diversity.")]
Recursive = Annotated[Optional[str], typer.Option(metavar="C,L", help="Recursive (c,l)-diversity.")]
Alpha = Annotated[Optional[float], typer.Option(help="(α,k)-anonymity, with the k of --k or 1.")]
Beta = Annotated[Optional[float], typer.Option(help="β-likeness.")]
DeltaDisclosure = Annotated[Optional[float], typer.Option(help="δ-disclosure.")]
CkSafety = Annotated[
    Optional[str], typer.Option(metavar="C,K", help="(c,k)-safety: below c for whoever knows any k implications.")
]
SkylinePoints = Annotated[
    Optional[str],
    typer.Option(
        "--skyline",
        metavar="C,L,K,M",
        help="Skyline privacy: below c for whoever knows L excluded values, K persons and M relatives; further points "
        "L,K,M behind it.",
    ),
]
MUnique = Annotated[Optional[int], typer.Option(help="m-uniqueness.")]
AverageRisk = Annotated[Optional[float], typer.Option(help="Average risk: groups over records, at most.")]
Uniqueness = Annotated[Optional[float], typer.Option(help="Share of records alone in their group, at most.")]
PopulationUniqueness = Annotated[
    Optional[str],
    typer.Option(
        metavar="SHARE,SAMPLED", help="Share of the population that is unique, at most, if so much of it was sampled."
    ),
]
KMap = Annotated[Optional[int], typer.Option(help="k-map (needs --population).")]
Presence = Annotated[Optional[str], typer.Option(metavar="MIN,MAX", help="δ-presence (needs --population).")]

# What is written
Json = Annotated[Optional[str], typer.Option(help="Write the result as JSON to this file, or - for stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no tables and no progress; what fails is one line.")]

Junit = Annotated[Optional[Path], typer.Option(help="Write what became of each limit as JUnit XML to this file.")]
Sarif = Annotated[Optional[Path], typer.Option(help="Write the same as SARIF 2.1.0 to this file.")]
Markdown = Annotated[
    Optional[Path],
    typer.Option(help="Write verdict and figures as Markdown to this file. $GITHUB_STEP_SUMMARY gets them by itself."),
]


class Format(StrEnum):
    text = "text"
    json = "json"
    junit = "junit"
    sarif = "sarif"
    markdown = "markdown"


Shown = Annotated[Format, typer.Option("--format", help="What is printed; the verdict is the same in all of them.")]

# Limits of a policy
PolicyFile = Annotated[
    Optional[Path],
    typer.Option("--policy", metavar="FILE", help="Policy file; showthrough policy init writes one."),
]
MaxPosterior = Annotated[
    Optional[float], typer.Option(min=0, max=1, help="Limit: the largest probability of anybody's value.")
]
OverPosterior = Annotated[
    Optional[str], typer.Option(metavar="N", help="So many persons may be over it: a number (5) or a share (0.01).")
]
Certain = Annotated[Optional[int], typer.Option(min=0, help="Limit: persons who may be certain (0 unless set).")]
Impossible = Annotated[Optional[int], typer.Option(min=0, help="Limit: pairs (person, value) that may be impossible.")]
MaxGain = Annotated[
    Optional[float], typer.Option(min=0, max=1, help="Limit: largest growth of a probability by the newest release.")
]
MaxShift = Annotated[
    Optional[float],
    typer.Option(min=0, max=1, help="Limit: how far probabilities may move from the reader's prior (--prior)."),
]
MinAnonymity = Annotated[
    Optional[float],
    typer.Option(min=1, help="Limit: everybody's value stays as uncertain as so many equally likely ones."),
]
Near = Annotated[
    Optional[str],
    typer.Option("--proximity", metavar="EPS,LIMIT", help="Limit: probability of values within EPS of one."),
]
Integral = Annotated[
    Optional[str], typer.Option(help="Certain and impossible over whole values too: no, checked or required.")
]
T = Annotated[Optional[float], typer.Option("--t", help="t-closeness (equal distance).")]


class ChangedChoice(Enum):
    refuse = "refuse"
    split = "split"
    tolerate = "tolerate"


class Contradictions(Enum):
    explain = "explain"
    refuse = "refuse"


# How a history is read and audited
Missing = Annotated[
    Optional[list[str]], typer.Option(help="A cell that stands for a missing value, such as ?; once per mark.")
]
Locate = Annotated[
    Optional[str], typer.Option(help="Microaggregated releases: nearest centroid, or all within the spread.")
]
Spread = Annotated[
    Optional[list[str]], typer.Option(help="COLUMN=COLUMN: where a quasi-identifier's published spread stands.")
]
RegisterFile = Annotated[
    Optional[Path],
    typer.Option(help="Who is who: a table of ids and exact quasi-identifiers; columns in_NAME say who is in NAME."),
]
Present = Annotated[
    Optional[list[str]],
    typer.Option(help="NAME=FILE: the ids (one per line) of all who are in the release NAME."),
]
ValueMaps = Annotated[
    Optional[list[str]],
    typer.Option(help="NAME=FILE: the common value for each value that the release NAME publishes."),
]
Link = Annotated[
    Optional[bool],
    typer.Option(
        "--link/--no-link",
        help="Private links beside release folders tell who is in which group. Default: they are used unless a "
        "register is named; --link uses them beside it too.",
    ),
]
WhoChanged = Annotated[
    ChangedChoice,
    typer.Option(
        help="Values that must have changed: tolerate takes the fewest persons for changed, split makes one person "
        "per release of an id whose groups share no value, refuse stops."
    ),
]
OnContradiction = Annotated[
    Contradictions,
    typer.Option(help="Releases that no assignment fits: explain them and answer for all others, or refuse."),
]
Seconds = Annotated[float, typer.Option(min=0, help="The answer is what is known after this time, island by island.")]
ForWhom = Annotated[Audience, typer.Option(help="shareable: counts only. internal: ids and proofs.")]


class EngineChoice(StrEnum):
    """Where a history is worked on in pieces."""

    processes = "processes"
    spark = "spark"


Engine = Annotated[
    Optional[EngineChoice],
    typer.Option(
        help="Work in pieces that nothing ties together: processes takes all cores, spark a cluster, whose workers "
        "read folders of Parquet files. --people is a folder then."
    ),
]
Master = Annotated[
    Optional[str], typer.Option(metavar="URL", help="With --engine spark: spark://host:7077, local[4], yarn, k8s://….")
]
WorkFolder = Annotated[
    Optional[Path],
    typer.Option(
        help="With --engine spark: a folder that driver and workers share. A run that was broken off is taken up again "
        "there."
    ),
]
People = Annotated[
    Optional[Path],
    typer.Option(
        help="Write every person's probabilities and facts to this CSV file (keep it private). The first 200 "
        "facts carry a proof, unless it takes more than 30 steps; in Python, Posterior.explain gives any."
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write the people file as it is. Default: an apostrophe before cells that a spreadsheet would run.",
    ),
]
Bounds = Annotated[
    Optional[float],
    typer.Option(
        min=0,
        max=1,
        help="Add lower and upper bounds to the people file, for persons whose likeliest value has at least this "
        "probability, or no certified one; as sharp as --seconds allow again (column sharp).",
    ),
]
WholeValues = Annotated[
    Optional[float],
    typer.Option(min=0, help="Spend up to this many seconds on what no assignment of whole values allows."),
]
Page = Annotated[
    Optional[Path],
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.html",
        help="Write the report: one page that opens offline. With --audience internal it holds ids and proofs, and "
        "only you can read it.",
    ),
]

# The ledger
LedgerPlace = Annotated[
    str,
    typer.Option(
        "--ledger",
        envvar="SHOWTHROUGH_LEDGER",
        metavar="LEDGER",
        help="The ledger: a file, or postgresql://USER@HOST/DATABASE.",
    ),
]
KeyFile = Annotated[
    Optional[Path],
    typer.Option(
        "--key-file", metavar="FILE", help="The key of hashed ids. Default: the variable SHOWTHROUGH_LEDGER_KEY."
    ),
]
Wait = Annotated[float, typer.Option(min=0, help="Seconds to wait for others who write to the ledger.")]
ReleaseName = Annotated[
    Optional[str], typer.Option("--name", help="Name of the release in the ledger. Default: its own.")
]
