"""Parameters that a message names as Python spells them, said as the options of a command.

>>> as_options('Names are missing: name them with quasi=, or missing="value" fills them.', ("quasi", "missing"))
'Names are missing: name them with --quasi, or --missing value fills them.'
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_OTHERWISE = {
    'exposed="accept"': "--accept-exposed",
    "in criteria=": "(--m-unique, --frequency-l, …)",
}
"""What has another name on the command line."""


def as_options(message: str, parameters: Iterable[str]) -> str:
    """The message with each of the parameters, and what it is set to, as an option."""
    for python, option in _OTHERWISE.items():
        if any(f"{name}=" in python for name in parameters):
            message = message.replace(python, option)
    for name in parameters:
        option = f"--{name.replace('_', '-')}"
        message = re.sub(rf'\b{name}="([^"]*)"', rf"{option} \1", message)
        message = re.sub(rf"\b{name}=(True)?", option, message)
    return message
