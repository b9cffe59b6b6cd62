"""The releases that an attack is given, whatever they are handed over in."""

from __future__ import annotations

from typing import Any

from showthrough.errors import InputError
from showthrough.inference.run import listed
from showthrough.release.release import Release


def attacked(releases: Any) -> list[Release]:
    """One release or several as a list, and nothing else."""
    given = listed(releases)
    if not given:
        raise InputError("There is nothing to attack: give at least one release.")
    return given


def attacked_alone(release: Any) -> Release:
    """The release of an attack that looks at one at a time."""
    given = attacked(release)
    if len(given) > 1:
        raise InputError("This attack looks at one release at a time: give one.")
    return given[0]
