"""Every test of the ledger runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from tests.ledger.server import NEEDED, NoServerError, Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    try:
        with running() as found:
            yield found
    except NoServerError as why:
        if os.environ.get(NEEDED):
            pytest.fail(f"PostgreSQL is needed, but {why}.")
        pytest.skip(str(why))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path) -> str:
    """Where a new ledger can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return str(request.getfixturevalue("server").fresh())


@pytest.fixture
def places(place, request: pytest.FixtureRequest, tmp_path) -> Callable[[], str]:
    """More of them, on the same database."""
    made = []

    def another() -> str:
        made.append(0)
        if place.startswith("postgresql"):
            return str(request.getfixturevalue("server").fresh())
        return str(tmp_path / f"ledger-{len(made)}.db")

    return another
