"""A decision as JUnit XML: one test case per limit and release, and one for what is doubtful altogether.

Broken limits are failures, what is not known is an error, and what an exception covers is skipped. Attributes and
order are those of the schema of Ant's JUnit task, which Jenkins, GitLab and others read.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from showthrough.policy.decision import Decision, Reason
from showthrough.report.formats import Judgement

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # no character of XML 1.0


def junit(told: Judgement) -> bytes:
    """The XML file."""
    decided = told.decided
    root = ET.Element("testsuites")
    broken = sum(r.outcome == "over" for r in decided.reasons)
    errors = sum(r.outcome == "open" for r in decided.reasons) + bool(decided.doubts)
    suite = ET.SubElement(
        root,
        "testsuite",
        id="0",
        package="showthrough",
        name=f"showthrough {told.subject}",
        timestamp=told.made.date[:19],
        hostname="localhost",
        tests=str(len(decided.reasons) + 1),
        failures=str(broken),
        errors=str(errors),
        skipped=str(sum(r.outcome == "excepted" for r in decided.reasons)),
        time="0",
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in (("verdict", str(decided.verdict)), ("said", decided.said), ("version", told.made.showthrough)):
        ET.SubElement(properties, "property", name=name, value=_clean(value))
    for reason in decided.reasons:
        _case(suite, told.subject, reason)
    _whole(suite, told.subject, decided)
    ET.SubElement(suite, "system-out").text = _clean("\n".join([decided.said, *(e.said for e in decided.exceptions)]))
    ET.SubElement(suite, "system-err")
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _case(suite: ET.Element, subject: str, reason: Reason) -> None:
    where = f" of {reason.release}" if reason.release is not None else ""
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"showthrough.{subject}.{reason.severity}",
        name=_token(f"{reason.rule}{where}"),
        time="0",
    )
    said = _clean(reason.said)
    if reason.outcome == "over":
        ET.SubElement(case, "failure", type=reason.severity, message=said).text = said
    elif reason.outcome == "open":
        ET.SubElement(case, "error", type="inconclusive", message=said).text = said
    elif reason.outcome == "excepted":
        ET.SubElement(case, "skipped").text = said


def _whole(suite: ET.Element, subject: str, decided: Decision) -> None:
    case = ET.SubElement(suite, "testcase", classname=f"showthrough.{subject}", name="conclusive", time="0")
    if decided.doubts:
        said = _clean("\n".join(decided.doubts))
        ET.SubElement(case, "error", type="inconclusive", message=_clean(decided.doubts[0])).text = said


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)


def _token(text: str) -> str:
    """Without what a token may not hold: breaks, and more than one space."""
    return " ".join(_clean(text).split())
