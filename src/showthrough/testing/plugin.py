"""The plugin of pytest: the fixture `release_gate`, and where it finds its policy.

    def test_what_we_publish(release_gate):
        release_gate("releases/2025", "releases/2026")

The policy is the file that the setting ``showthrough_policy`` names, seen from the root of the tests
(policy.toml unless set), or ``policy=``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from showthrough.auditing.audit import Audit

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
        from showthrough.testing.releasable import assert_releasable

        own = request.config.rootpath / str(request.config.getini(SETTING)) if policy is None else policy
        return assert_releasable(*releases, policy=own, **options)

    return gate
