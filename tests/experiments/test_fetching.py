"""Fetching public tables: from a server of our own, from a folder, and everything that can go wrong on the way."""

import gzip
import hashlib
import http.server
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from showthrough.errors import Cancelled, FileError
from showthrough.experiments import fetching, raw_files
from showthrough.experiments.fetching import fetched
from showthrough.experiments.raw_files import (
    ADULT,
    IPUMS,
    RAW_FILES,
    MadeTable,
    RawFile,
    adult_chosen,
    adult_table,
    ipums_chosen,
    ipums_table,
)
from showthrough.progress import Progress
from tests.cli.running import run

ROWS = [
    "39, State-gov, 7516, Bachelors, 13, Never-married, Adm-clerical, Own-child, White, Male, 214, 0, 40, Cuba, <=50K",
    "54, ?, 180211, Some-college, 10, Married, ?, Husband, Asian, Male, 0, 0, 60, South, >50K",
]
TRAIN = "".join(f"{row}\n" for row in [*ROWS, ""]).encode()
TEST = b"|1x3 Cross validator\n" + "".join(f"{row}.\n" for row in ROWS).encode()
CELLS = [str(k % 10) for k in range(IPUMS.count(",") + 1)]
CELLS[IPUMS.split(",").index("age")] = "007"


def digest(content):
    return hashlib.sha256(content).hexdigest()


def made(place, make, raw):
    return MadeTable(place, make, digest(make(raw, "x").encode()))


FILES = (
    RawFile(
        "adult.data", "adult",
        (made("adult/train.csv.gz", adult_table, TRAIN), made("adult/chosen.csv", adult_chosen, TRAIN)), digest(TRAIN),
    ),
    RawFile("adult.test", "adult", (made("adult/test.csv", adult_table, TEST),), digest(TEST)),
)  # fmt: skip


class Server(http.server.BaseHTTPRequestHandler):
    """Answers as ``answers`` says: bytes, or a function of the handler."""

    answers: ClassVar[dict] = {}
    asked: ClassVar[list] = []

    def do_GET(self):
        self.asked.append((self.path, dict(self.headers)))
        answer = self.answers.get(self.path)
        if answer is None:
            self.send_error(404)
        elif callable(answer):
            answer(self)
        else:
            self.say(answer)

    def say(self, content, size=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) if size is None else size))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Server.answers, Server.asked = {"/adult/adult.data": TRAIN, "/adult/adult.test": TEST}, []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{found.server_address[1]}"
        found.shutdown()
        thread.join(5)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_tables_are_fetched_checked_and_laid_out(server, tmp_path, monkeypatch):
    monkeypatch.setattr(raw_files, "UCI", server)
    paths = fetched(FILES, tmp_path, None, Progress())
    assert files_in(tmp_path) == ["adult/chosen.csv", "adult/test.csv", "adult/train.csv.gz"]
    assert {str(path.relative_to(tmp_path)) for path in paths} == set(files_in(tmp_path))
    packed = (tmp_path / "adult/train.csv.gz").read_bytes()
    train = gzip.decompress(packed).decode().splitlines()
    assert train[0] == ADULT
    assert train[1:] == [row.replace(", ", ",") for row in ROWS]
    assert (tmp_path / "adult/test.csv").read_text().splitlines() == train, "no comment, no dots"
    chosen = (tmp_path / "adult/chosen.csv").read_text().splitlines()
    assert chosen[1:] == ["39,State-gov,Bachelors,Never-married,White,Male,Cuba,Adm-clerical"]
    assert packed[4:8] == b"\0\0\0\0", "packed without a time"
    assert [path for path, _ in Server.asked] == ["/adult/adult.data", "/adult/adult.test"]
    assert all(set(told) <= {"Accept-Encoding", "Host", "User-Agent", "Connection"} for _, told in Server.asked)


def test_ipums_keeps_its_codes(tmp_path):
    raw = gzip.compress("".join(", ".join(CELLS) + "\r\n" for _ in range(2)).encode())
    assert ipums_table(raw, "x") == "".join(f"{line}\n" for line in (IPUMS, *[",".join(CELLS)] * 2))
    assert ipums_chosen(raw, "x").splitlines()[1].split(",")[0] == "7"


def test_a_folder_with_the_raw_files_will_do(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "adult.data").write_bytes(TRAIN)
    (tmp_path / "raw" / "adult.test").write_bytes(TEST)
    fetched(FILES, tmp_path / "data", str(tmp_path / "raw"), Progress())
    assert len(files_in(tmp_path / "data")) == 3
    (tmp_path / "raw" / "adult.test").unlink()
    with pytest.raises(FileError, match=r"There is no file .*adult\.test"):
        fetched(FILES, tmp_path / "other", str(tmp_path / "raw"), Progress())
    assert not (tmp_path / "other").exists()


def test_what_was_there_is_replaced_as_a_whole(server, tmp_path):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "test.csv").write_text("old")
    Server.answers["/adult/adult.test"] = TEST + b"\n1, 2\n"
    with pytest.raises(FileError):
        fetched(FILES, tmp_path, f"{server}/adult", Progress())
    assert (tmp_path / "adult" / "test.csv").read_text() == "old"
    assert files_in(tmp_path) == ["adult/test.csv"]
    Server.answers["/adult/adult.test"] = TEST
    fetched(FILES, tmp_path, f"{server}/adult/", Progress())
    assert (tmp_path / "adult" / "test.csv").read_text().startswith(ADULT)


def truncated(handler):
    handler.say(TRAIN[:50], size=len(TRAIN))
    handler.close_connection = True


def slow(handler):
    handler.send_response(200)
    handler.end_headers()
    time.sleep(1.0)


def elsewhere(handler):
    handler.send_response(302)
    handler.send_header("Location", "ftp://127.0.0.1/adult.data")
    handler.end_headers()


def garbage(handler):
    handler.wfile.write(b"\0\1\2 nothing like HTTP\n\n")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "the server answers 404"),
        (truncated, "it ended after 50 of"),
        (slow, "no answer for 0.2 seconds"),
        (elsewhere, "it leads elsewhere"),
        (garbage, "it is no address, or the answer is no file"),
        (b"x" * 4000, "far larger"),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_says_how_to_do_it_by_hand(server, tmp_path, monkeypatch, answer, words):
    monkeypatch.setattr(fetching, "SECONDS", 0.2)
    monkeypatch.setattr(fetching, "MOST", 3000)
    Server.answers["/adult/adult.data"] = answer
    with pytest.raises(FileError) as told:
        fetched(FILES, tmp_path / "data", f"{server}/adult", Progress())
    assert words in str(told.value)
    assert "By hand: put https://archive.ics.uci.edu" in str(told.value)
    assert "nothing was written" in str(told.value)
    assert not (tmp_path / "data").exists()


def test_without_a_network(tmp_path):

    with pytest.raises(FileError, match=r"connection refused.*By hand"):
        fetched(FILES, tmp_path / "data", "http://127.0.0.1:1", Progress())
    with pytest.raises(FileError, match="There is no file"):
        fetched(FILES, tmp_path / "data", "ftp://example.org", Progress())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TRAIN + b" ", "its SHA-256 is another than the known one"),
        (b"", "its SHA-256 is another"),
    ],
)
def test_other_bytes_than_the_known_ones_are_refused(server, tmp_path, content, words):
    Server.answers["/adult/adult.data"] = content
    with pytest.raises(FileError, match=words):
        fetched(FILES, tmp_path / "data", f"{server}/adult", Progress())
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TRAIN.replace(b"39", b"38"), "another SHA-256"),
        (b"1, 2, 3\n", "its rows have not 15 columns"),
        ("é\n".encode(), "no plain text"),
        (b"", "its rows have not 15 columns"),
    ],
)
def test_where_no_hash_is_known_the_table_tells(server, tmp_path, content, words):
    unknown = [replace(one, sha256=None) for one in FILES]
    Server.answers["/adult/adult.data"] = content
    with pytest.raises(FileError, match=words):
        fetched(unknown, tmp_path / "data", f"{server}/adult", Progress())
    assert not (tmp_path / "data").exists()


def test_a_damaged_gzip_is_a_sentence():
    with pytest.raises(FileError, match="gzip"):
        ipums_table(gzip.compress(b"1,2\n")[:-5], "ipums.la.97.gz")


def test_it_can_be_cancelled(server, tmp_path):
    class Impatient(Progress):
        def count(self, done, of):
            assert done <= of
            self.cancel()
            super().count(done, of)

    with pytest.raises(Cancelled):
        fetched(FILES, tmp_path / "data", f"{server}/adult", Impatient())
    assert not (tmp_path / "data").exists()


def test_the_command(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(RAW_FILES, "adult", FILES)
    done = run("data", "fetch", "adult", "--from", f"{server}/adult")
    assert done.code == 0, done.err
    assert files_in(tmp_path) == ["data/adult/chosen.csv", "data/adult/test.csv", "data/adult/train.csv.gz"]
    assert "data/adult/chosen.csv" in done.out
    done = run("data", "fetch", "adult", "--from", f"{server}/nowhere", "-o", "other")
    assert done.code == 2
    assert "name it with --from FOLDER" in done.err
    assert not Path("other").exists()
    done = run("data", "fetch", "iris")
    assert done.code == 2
    assert "Table is one of adult, ipums" in done.err
