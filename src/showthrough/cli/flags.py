"""Messages for the command line: rooms below speak of parameters, a terminal of options.

A parameter in a message is written as Python writes it, ``name=`` or ``name=value``; that is how it is
found here.

    >>> as_options('changed="split" publishes them as new persons.')
    '--changed split publishes them as new persons.'
    >>> as_options("Give one with hierarchies={'zip': FILE}, or name the column with id=.")
    'Give one with --hierarchy zip=FILE, or name the column with --id.'
"""

from __future__ import annotations

import re

from showthrough.errors import FieldError

OPTIONS = {  # where the option is not called as the parameter is
    "hierarchies": "hierarchy",
    "value_maps": "value-map",
    "output": "kind",
    "suppression_limit": "suppress",
    "limits": "coding",
}
WHOLE = {  # where parameter and value are one option
    'exposed="accept"': "--accept-exposed",
    "policy=Policy(max_posterior=0.5)": "--max-posterior 0.5",
    "Posterior.locatability tells": "--dry-run tells",
    "Choose another folder.": "Choose another --folder.",
}
PARAMETERS = (
    "accept_violations|audience|bounds|cells|changed|count|criteria|encoding|format|group|hierarchies|hold_back|id|kind|"
    "limits|link|locate|max_posterior|merge_overlaps|metric|missing|name|output|overwrite|people|plan|population|"
    "present|quasi|register|repair|sensitive|spread|strategy|suppression_limit|table|tree|value_maps|values"
)
_GIVEN = re.compile(rf"(?<!in Python )\b({PARAMETERS})=({{'([^']*)': (\w+)}}|\"([^\"]*)\"|\w+(?:[.-]\w+)*)?")
_TWICE = re.compile(r"(--[\w-]+)((?: [\w.-]+)?) \(\1\2\)")


def option(parameter: str) -> str:
    """The option that sets a parameter."""
    return f"--{OPTIONS.get(parameter, parameter).replace('_', '-')}"


def as_options(message: str) -> str:
    """The same message with options where it names parameters."""
    for python, flag in WHOLE.items():
        message = message.replace(python, flag)
    return _TWICE.sub(r"\1\2", _GIVEN.sub(_as_option, message))


def sentence(error: Exception, message: str) -> str:
    """What is said of an error; of a field of the request by the name of its option."""
    if isinstance(error, FieldError) and not error.where and error.field not in ("release", "policy", "criteria"):
        return f"{option(error.field)} {as_options(error.sentence)}"
    return as_options(message)


def _as_option(found: re.Match[str]) -> str:
    name, given, key, file, text = found.groups()
    value = f" {key}={file}" if key else f" {text}" if text is not None else f" {given}" if given else ""
    return f"{option(name)}{'' if given == 'True' else value}"
