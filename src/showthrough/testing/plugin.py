"""The plugin of pytest: the fixture `release_gate`, and where it finds its policy.

    def test_what_we_publish(release_gate):
        release_gate("releases/2025", "releases/2026")

The policy is the file that the setting ``showthrough_policy`` names, seen from the root of the tests
(policy.toml unless set), or ``policy=``. Names of files that are not there are seen from that root too, so that it does
not matter where pytest is started.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from showthrough.auditing.whole_audit import Audit

SETTING = "showthrough_policy"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Called by pytest."""
    parser.addini(
        SETTING, "Policy file of the fixture release_gate, seen from the root of the tests.", default="policy.toml"
    )


@pytest.fixture
def release_gate(request: pytest.FixtureRequest) -> Callable[..., Audit]:
    """`assert_releasable` with the policy of the project."""

    def gate(*releases: Any, policy: Any = None, **options: Any) -> Audit:
        __tracebackhide__ = True  # a failure is shown where the gate stands
        from showthrough.testing.releasable import assert_releasable

        root = request.config.rootpath
        own = root / str(request.config.getini(SETTING)) if policy is None else _found(policy, root)
        return assert_releasable(*(_found(one, root) for one in releases), policy=own, **options)

    return gate


def _found(given: Any, root: Path) -> Any:
    """A path as it is if something is there, else seen from the root; all else as it is."""
    if not isinstance(given, (str, os.PathLike)) or os.path.lexists(given):
        return given
    return root / given if os.path.lexists(root / given) else given
