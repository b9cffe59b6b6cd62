"""Public raw files, where they are, and how they become the tables that experiments read.

The two SHA-256 of Adult's raw files are those of the UCI repository. Of the raw IPUMS files none is known; what is
known is that of the table that comes out, and it is checked for every table: a file that was packed again is as good.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from showthrough.errors import FileError
from showthrough.table.unpacking import unpacked

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income"
)
IPUMS = (
    "year,gq,gqtype,farm,ownershp,value,rent,ftotinc,nfams,ncouples,nmothers,nfathers,momloc,stepmom,momrule,poploc,"
    "steppop,poprule,sploc,sprule,famsize,nchild,nchlt5,famunit,eldch,yngch,nsibs,relate,age,sex,race,marst,chborn,bpl,"
    "school,educrec,schltype,empstat,labforce,occ1950,occscore,sei,ind1950,classwkr,wkswork2,hrswork2,yrlastwk,workedyr,"
    "inctot,incwage,incbus,incfarm,incss,incwelfr,incother,poverty,migrate5,migplac5,movedin,vetstat,tranwork"
)
ADULT_COLUMNS = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "occupation")
IPUMS_COLUMNS = ("age", "classwkr", "educrec", "marst", "race", "sex", "bpl", "occ1950")


@dataclass(frozen=True)
class MadeTable:
    """A table that comes of a raw file: where it is put, how it is made, and the SHA-256 of its text."""

    place: str
    make: Callable[[bytes, str], str]
    sha256: str

    def made(self, raw: bytes, name: str) -> bytes:
        """The bytes of its file; other contents than the known ones are refused."""
        text = self.make(raw, name).encode()
        if hashlib.sha256(text).hexdigest() != self.sha256:
            raise FileError(
                f"{name} is not the public file: the table {self.place} that comes of it has another SHA-256 than the "
                "known one. Nothing was written; fetch it from another place."
            )
        return gzip.compress(text, mtime=0) if self.place.endswith(".gz") else text


@dataclass(frozen=True)
class RawFile:
    """A file to download: its name, the folder of the repository, its SHA-256 where that is known, and its tables."""

    name: str
    folder: str
    tables: tuple[MadeTable, ...]
    sha256: str | None = None

    @property
    def address(self) -> str:
        """Where the public repository has it."""
        return f"{UCI}/{self.folder}/{self.name}"

    def checked(self, raw: bytes) -> bytes:
        """The bytes, unless they are others than the known ones."""
        if self.sha256 is not None and hashlib.sha256(raw).hexdigest() != self.sha256:
            raise FileError(
                f"{self.name} is not the public file: its SHA-256 is another than the known one. Nothing was written; "
                "fetch it from another place."
            )
        return raw


def _rows(raw: bytes, name: str, columns: int) -> list[list[str]]:
    """The cells of a text without a header: blanks around them go, and so do empty lines and comments."""
    try:
        lines = raw.decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise FileError(f"{name} is not the public file: it is no plain text. Nothing was written.") from None
    rows = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip() and not line.startswith("|")]
    if not rows or any(len(row) != columns for row in rows):
        raise FileError(f"{name} is not the public file: its rows have not {columns} columns. Nothing was written.")
    return rows


def _text(header: str, rows: list[list[str]]) -> str:
    return "".join(f"{line}\n" for line in (header, *(",".join(row) for row in rows)))


def _adult(raw: bytes, name: str) -> list[list[str]]:
    rows = _rows(raw, name, ADULT.count(",") + 1)
    return [[*row[:-1], row[-1].removesuffix(".")] for row in rows]  # labels of the test part end with a dot


def adult_table(raw: bytes, name: str) -> str:
    """All columns of Adult, with names."""
    return _text(ADULT, _adult(raw, name))


def adult_chosen(raw: bytes, name: str) -> str:
    """The records without missing values and the columns of the composition paper's Table 2."""
    names = ADULT.split(",")
    at = [names.index(column) for column in ADULT_COLUMNS]
    return _text(",".join(ADULT_COLUMNS), [[row[k] for k in at] for row in _adult(raw, name) if "?" not in row])


def ipums_table(raw: bytes, name: str) -> str:
    """All columns of IPUMS, with names; codes keep their zeros."""
    return _text(IPUMS, _rows(unpacked(raw, name), name, IPUMS.count(",") + 1))


def ipums_chosen(raw: bytes, name: str) -> str:
    """The columns of the composition paper's Table 3; ages without zeros in front."""
    names = IPUMS.split(",")
    at = [names.index(column) for column in IPUMS_COLUMNS]
    rows = [[row[k] for k in at] for row in _rows(unpacked(raw, name), name, len(names))]
    for row in rows:
        row[0] = row[0].lstrip("0") or "0"
    return _text(",".join(IPUMS_COLUMNS), rows)


RAW_FILES: Mapping[str, tuple[RawFile, ...]] = {
    "adult": (
        RawFile(
            "adult.data", "adult",
            (
                MadeTable(
                    "adult/adult_train.csv.gz", adult_table,
                    "f2c62076f19504d99a38b22badf445a7f42530ade6b827acf78dd143fbce38bb",
                ),
                MadeTable(
                    "adult/adult_kdd08.csv.gz", adult_chosen,
                    "922bfa59703b04bda34e2cce8eaf8caf1298445ed3abc9942b539efb5c5c4e29",
                ),
            ),
            sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        ),
        RawFile(
            "adult.test", "adult",
            (
                MadeTable(
                    "adult/adult_test.csv", adult_table,
                    "f6b1801c5d231515ea5ff04d4444997bacd57e04876e94710cb9b9bd5549c033",
                ),
            ),
            sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        ),
    ),
    "ipums": (
        RawFile(
            "ipums.la.97.gz", "ipums-mld",
            (
                MadeTable(
                    "ipums/ipums_la_97.csv.gz", ipums_table,
                    "d01104d74496da79ec6482dfb43b001e6d8b170b799267b6c117b60caf9920f3",
                ),
                MadeTable(
                    "ipums/ipums_la_97_kdd08.csv", ipums_chosen,
                    "cb3b1283452882e637db836720378b27fd64c1cab0ada588c8894830341a0a7c",
                ),
            ),
        ),
        RawFile(
            "ipums.la.98.gz", "ipums-mld",
            (
                MadeTable(
                    "ipums/ipums_la_98.csv.gz", ipums_table,
                    "45ac930ed54a66ca7ebf056a8c68b8557ee715c560ceaac3e683c182f9c21e67",
                ),
            ),
        ),
        RawFile(
            "ipums.la.99.gz", "ipums-mld",
            (
                MadeTable(
                    "ipums/ipums_la_99.csv.gz", ipums_table,
                    "31032e8007dfa7162b2afeb7472dff4c6c33ead12debd6dc61ba89be62289f2c",
                ),
            ),
        ),
    ),
}  # fmt: skip
"""By the name that the command takes."""
