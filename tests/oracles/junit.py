"""A strict reader of JUnit XML, by the rules of the schema of Ant's JUnit task (as widely copied; written anew here).

Elements in their order, attributes that must and may be there, their types, and totals that add up.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

_WHOLE = re.compile(r"\d+")
_DECIMAL = re.compile(r"\d+(\.\d+)?")
_TOKEN = re.compile(r"\S+( \S+)*")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_SUITE = {
    "id": _WHOLE, "package": _TOKEN, "name": _TOKEN, "timestamp": _TIME, "hostname": _TOKEN, "tests": _WHOLE,
    "failures": _WHOLE, "errors": _WHOLE, "skipped": _WHOLE, "time": _DECIMAL,
}  # fmt: skip
_CASE = {"name": _TOKEN, "classname": _TOKEN, "time": _DECIMAL}
_ANY = re.compile(r".*", re.DOTALL)


def faults(text: bytes) -> list[str]:
    """What is not as the schema wants it; empty if all is."""
    root = ET.fromstring(text)
    found = _attributes(root, {})
    if root.tag != "testsuites":
        return [f"root {root.tag}"]
    for number, suite in enumerate(root):
        found += _suite(suite, number)
    return found


def _suite(suite: ET.Element, number: int) -> list[str]:
    found = _attributes(suite, _SUITE)
    tags = [child.tag for child in suite]
    cases = [child for child in suite if child.tag == "testcase"]
    if tags != ["properties", *["testcase"] * len(cases), "system-out", "system-err"]:
        found.append(f"order of {tags}")
    if suite.get("id") != str(number):
        found.append("id of the suite")
    for one in suite.findall("properties/property"):
        found += _attributes(one, {"name": _TOKEN, "value": _ANY})
    for case in cases:
        found += _attributes(case, _CASE)
        if len(case) > 1:
            found.append("several outcomes of a case")
        for outcome in case:
            if outcome.tag == "skipped":
                found += _attributes(outcome, {})
            elif outcome.tag in ("error", "failure"):
                found += _attributes(outcome, {"message": _ANY, "type": _TOKEN})
            else:
                found.append(f"outcome {outcome.tag}")
    totals = {"tests": len(cases)}
    totals |= {
        f"{tag}s".replace("skippeds", "skipped"): len(suite.findall(f"testcase/{tag}"))
        for tag in ("failure", "error", "skipped")
    }
    found += [f"{name} is not {count}" for name, count in totals.items() if suite.get(name) != str(count)]
    names = [(case.get("classname"), case.get("name")) for case in cases]
    return found + (["a case twice"] if len(set(names)) < len(names) else [])


def _attributes(element: ET.Element, wanted: dict[str, re.Pattern[str]]) -> list[str]:
    found = [f"{element.tag} has {name}" for name in element.keys() - wanted.keys()]
    found += [f"{element.tag} lacks {name}" for name in wanted.keys() - element.keys()]
    return found + [
        f"{name} of {element.tag} is {element.get(name)!r}"
        for name, kind in wanted.items()
        if element.get(name) is not None and not kind.fullmatch(element.get(name, ""))
    ]
