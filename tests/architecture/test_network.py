"""Three files open connections: for a command, to the database of a ledger, to a cluster; nobody else could."""

import ast

import pytest

from tests.architecture.source import Module, modules

WAYS_OUT = {
    "socket",
    "ssl",
    "http",
    "urllib",
    "ftplib",
    "smtplib",
    "asyncio",
    "requests",
    "httpx",
    "aiohttp",
    "urllib3",
    "psycopg",
}
ALLOWED = {
    "experiments.fetching": {"http.client", "urllib.error", "urllib.request"},  # showthrough data fetch
    "cli.interrupts": {"socket"},  # a pair inside the process, which signals wake
    "engines.reaching": {"socket"},  # the master of the cluster that the caller names
    "ledger.postgres_store": {"psycopg"},  # the database that the address of a ledger names
    "ledger.sqlite_store": {"urllib.parse"},  # texts alone
    "report.sarif": {"urllib.parse"},  # texts alone
}


def ways_out(module: Module) -> set[str]:
    """Modules that could open a connection, wherever a file imports them."""
    found = set()
    for node in ast.walk(module.tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        found |= {name for name in names if name.partition(".")[0] in WAYS_OUT}
    return found


def test_nobody_else_opens_connections():
    found = {module.name: ways_out(module) for module in modules()}
    assert {name: ways for name, ways in found.items() if ways} == ALLOWED


@pytest.mark.parametrize(
    "line", ["import socket", "def f():\n    from urllib.request import urlopen", "import http.client"]
)
def test_ways_out_are_seen(line):
    assert ways_out(Module("somewhere", modules()[0].path, ast.parse(line), 1))
