"""How long the report of a large audit takes, and how large it is, beside the inference.

    python -m benchmarks.report_time [--persons 100000] [--releases 2] [--l 8] [--audience shareable]

Histories are those of `benchmarks.growth`: Anatomy releases made independently of each other. Prints seconds of the
audit (inference and each release alone), of the page with everything that it works out, and its bytes. A million persons
in two releases take about 3 GB.
"""

from __future__ import annotations

import argparse
import resource
import time

import showthrough as st
from benchmarks.histories import independent
from showthrough.report import html


def main() -> None:
    """Make a history, audit it, make its page, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=100_000)
    parser.add_argument("--releases", type=int, default=2)
    parser.add_argument("--l", type=int, default=8)
    parser.add_argument("--audience", default="shareable")
    given = parser.parse_args()
    releases = independent(given.persons, given.l, releases=given.releases)
    began = time.perf_counter()
    audit = st.audit(releases)
    audited = time.perf_counter() - began
    inference = sum(audit.posterior.certificate.seconds.values())
    began = time.perf_counter()
    page = html.page(audit, audience=given.audience)
    made = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{given.releases} x {given.persons:,} persons, l = {given.l}: inference {inference:.1f} s, audit {audited:.1f} s, "
        f"{given.audience} page {made:.1f} s ({made / inference:.2f} x the inference), {len(page.encode()):,} bytes, "
        f"{memory:.1f} GB, {audit.posterior.certificate.status}"
    )


if __name__ == "__main__":
    main()
