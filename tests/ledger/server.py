"""A real PostgreSQL server for the tests: made, started and ended by the run itself, in a temporary folder.

Its programs are those of the machine. The server refuses to run as root, so it is then run by another user.
"""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

PASSWORD = "only for tests"
NEEDED = "SHOWTHROUGH_NEEDS_POSTGRES"


class NoServerError(Exception):
    """Why there is none."""


@dataclass(frozen=True)
class Server:
    """A server that runs: its folder, and addresses of databases in it."""

    home: Path
    port: int

    def address(self, database: str = "postgres", *, user: str = "keeper", password: str = PASSWORD) -> str:
        host = quote(str(self.home / "socket"), safe="")
        return f"postgresql://{user}:{quote(password)}@/{database}?host={host}&port={self.port}"

    def fresh(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        name = f"ledger_{secrets.token_hex(6)}"
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        return self.address(name)

    def run(self, statement: str, database: str = "postgres") -> list:
        """Run something as the owner of everything."""
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


def programs() -> Path:
    """Where the machine has initdb and pg_ctl."""
    places = [*sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True), "/usr/local/bin", "/opt/homebrew/bin"]
    places += [os.path.dirname(shutil.which("pg_ctl") or "")]
    for place in places:
        if place and all(os.access(os.path.join(place, name), os.X_OK) for name in ("initdb", "pg_ctl", "postgres")):
            return Path(place)
    raise NoServerError("this machine has no PostgreSQL (initdb, pg_ctl)")


def _user() -> tuple[int, int] | None:
    """Who runs the server: somebody else than root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return found.pw_uid, found.pw_gid
    raise NoServerError("the server must not run as root, and there is no user nobody")


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start a server, and end it."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise NoServerError("psycopg is not installed") from None
    tools, user = programs(), _user()
    home = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # the path of a socket has to be short
    try:
        (home / "socket").mkdir()
        (home / "password").write_text(PASSWORD)
        if user is not None:
            for path in (home, home / "socket", home / "password"):
                os.chown(path, *user)
        data = home / "data"
        lock = ["-A", "scram-sha-256", "--pwfile", str(home / "password")]
        _run([tools / "initdb", "-D", data, "-U", "keeper", "-E", "UTF8", "--locale=C", "-N", *lock], user)
        port = 5432
        options = f"-k {home / 'socket'} -p {port} -c listen_addresses= -c fsync=off -c max_connections=50"
        _run([tools / "pg_ctl", "-D", data, "-w", "-t", "60", "-l", home / "log", "-o", options, "start"], user)
        try:
            yield Server(home, port)
        finally:
            _run([tools / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"], user)
    finally:
        for _ in range(20):
            shutil.rmtree(home, ignore_errors=True)
            if not home.exists():
                break
            time.sleep(0.1)


def _run(command: list, user: tuple[int, int] | None) -> None:
    own = {} if user is None else {"user": user[0], "group": user[1], "extra_groups": []}
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL, **own,
        env={**os.environ, "LC_ALL": "C", "HOME": "/"}, timeout=120,
    )  # fmt: skip
    if done.returncode:
        raise NoServerError(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
