"""From Parquet files to a Parquet posterior, beside infer alone: python -m benchmarks.pipeline [persons]"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import showthrough as st
from benchmarks.histories import independent


def main() -> None:
    """Write two releases, then time read → encode → infer → write."""
    persons = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for release in independent(persons, 8):
            paths.append(Path(folder) / f"{release.name}.parquet")
            release.to_frame().write_parquet(paths[-1])
        start = time.perf_counter()
        releases = [st.read_release(p, id="id", sensitive="value", group="group") for p in paths]
        read = time.perf_counter()
        post = st.infer(releases)
        inferred = time.perf_counter()
        post.to_frame().write_parquet(Path(folder) / "posterior.parquet")
        written = time.perf_counter()
    print(
        f"{persons:,} persons: read {read - start:.1f} s, infer {inferred - read:.1f} s, "
        f"write {written - inferred:.1f} s; "
        f"all of it is {(written - start) / (inferred - read):.2f} x infer alone"
    )


if __name__ == "__main__":
    main()
