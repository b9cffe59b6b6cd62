"""How long importing the package takes, beside the interpreter's own start: python benchmarks/import_time.py"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15


def seconds(code: str) -> float:
    """Median wall time of a fresh interpreter that runs ``code``."""
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    """Print the floor, the package and the first use of it."""
    floor = seconds("pass")
    command = "import sys; sys.argv = ['showthrough', '--help']; import showthrough.cli.main as m; m.main()"
    first = "import showthrough as st; from showthrough.examples import figure1; st.infer(figure1.releases())"
    rows = {
        "import showthrough": "import showthrough",
        "the command's --help": command,
        "first inference (figure 1)": first,
        "import numpy, polars": "import numpy, polars",
    }
    print(f"{'python alone':30} {floor:.3f} s")
    for name, code in rows.items():
        print(f"{name:30} {seconds(code) - floor:.3f} s more")


if __name__ == "__main__":
    main()
