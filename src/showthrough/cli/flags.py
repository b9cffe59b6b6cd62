"""Parameters that a message names as Python spells them, said as the options of a command.

>>> as_options('Names are missing: name them with quasi=, or missing="value" fills them.', ("quasi", "missing"))
'Names are missing: name them with --quasi, or --missing value fills them.'
>>> as_options("Give one with hierarchies={'zip': FILE}.", ["hierarchies"])
'Give one with --hierarchy zip=FILE.'
>>> as_options("This would do: policy=Policy(max_posterior=0.25).", ["policy"])
'This would do: --max-posterior 0.25.'
>>> as_options("Or policy=Policy(max_posterior=0.25, max_gain=0.1).", ["policy"])
'Or --max-posterior 0.25 --max-gain 0.1.'
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from showthrough import said
from showthrough.errors import FieldError, ShowthroughError

TOLD = (
    "accept_violations",
    "best_effort",
    "changed",
    "criteria",
    "exposed",
    "hierarchies",
    "hold_back",
    "merge_overlaps",
    "missing",
    "policy",
    "quasi",
)
"""Parameters that notes and remarks of a release name."""

_OPTIONS = {
    "hierarchies": "hierarchy",
    "value_maps": "value-map",
    "output": "kind",
    "suppression_limit": "suppress",
    "limits": "coding",
    "exposed": "accept-exposed",
    "marginals": "marginal",
    "levels": "level",
    "source": "from",
    "gate": "policy",
    "plot": "output",
}
"""Options that are not called as their parameters are."""

_ARGUMENTS = ("experiment",)
"""Parameters that are given without an option."""

_OTHERWISE = {
    'exposed="accept"': "--accept-exposed",
    "link=False": "--no-link",
    "in criteria=": "(--m-unique, --frequency-l, …)",
    "Posterior.locatability tells": "--dry-run tells",
    "Choose another folder.": "Choose another --folder.",
    "told by dp.compose": "told by showthrough dp account",
    "with `dp.compose`": "with showthrough dp account",
}
"""What is said in another way on the command line."""


def option(parameter: str) -> str:
    """The option that sets a parameter."""
    return f"--{_OPTIONS.get(parameter, parameter).replace('_', '-')}"


def as_options(message: str, parameters: Iterable[str]) -> str:
    """The message with each of the parameters, and what it is set to, as an option."""
    named = tuple(parameters)
    for python, here in _OTHERWISE.items():
        if "=" not in python or any(f"{name}=" in python for name in named):
            message = message.replace(python, here)
    for name in named:
        flag = option(name)
        message = re.sub(rf"\b{name}=Policy\(([\w=., ]+)\)", lambda found: _limits(found[1]), message)
        message = re.sub(rf"\b{name}={{'([^']*)': (\w+)}}", rf"{flag} \1=\2", message)
        message = re.sub(rf"\b{name}={{'?([^':]*)'?: \((\d+), (\d+)\)}}", rf"{flag} \1=\2-\3", message)
        message = re.sub(rf'\b{name}="([^"]*)"', rf"{flag} \1", message)
        message = re.sub(rf"\b{name}=([A-Z]{{2,}})\b", rf"{flag} \1", message)
        message = re.sub(rf"\b{name}=(True)?", flag, message)
    return message


def _limits(given: str) -> str:
    """Limits of a policy as options."""
    return " ".join(f"{option(name)} {value}" for name, value in re.findall(r"(\w+)=([\d.]+)", given))


def sentence(error: ShowthroughError, *, shareable: bool) -> str:
    """What a command says of an error; an entry of the request goes by the name of its option."""
    told = said.shareable if shareable else said.internal
    if isinstance(error, FieldError) and not error.where:
        named = error.field.capitalize() if error.field in _ARGUMENTS else option(error.field)
        return f"{named} {as_options(told(error.sentence), error.parameters)}"
    return as_options(told(error.said), error.parameters)
