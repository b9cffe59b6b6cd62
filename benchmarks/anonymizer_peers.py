"""One peer's Mondrian on Adult, in the peer's own environment: python benchmarks/anonymizer_peers.py NAME CSV K

Prints one JSON line: CPU seconds of the cuts alone (printing the cells not counted) and the group of each row.
Needs nothing of showthrough.
"""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    """Cut with the named package."""
    import pandas as pd

    name, path, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
    frame = pd.read_csv(path)
    quasi, sensitive = list(frame.columns[:-1]), frame.columns[-1]
    for column in quasi[1:]:
        frame[column] = frame[column].astype("category")
    if name == "anonypy":
        import anonypy

        preserver = anonypy.Preserver(frame, quasi, sensitive)
        start = time.process_time()
        parts = preserver.modrian.partition(k, 0, 0.0)
    else:
        import anonypyx

        anonymiser = anonypyx.Anonymiser(frame, feature_columns=quasi, sensitive_column=sensitive, k=k)
        start = time.process_time()
        parts = anonymiser.algorithm.partition(anonymiser.parameters)
    seconds = time.process_time() - start
    group = [-1] * len(frame)
    for code, part in enumerate(parts):
        for row in part:
            group[row] = code
    print(json.dumps({"seconds": seconds, "group": group}))


if __name__ == "__main__":
    main()
