#!/usr/bin/env python3
"""Set up a private environment beside this file and run the project in it. Needs only Python 3.11+.

python3 run.py demo          set up, then run the worked example
python3 run.py test          set up, then run all tests; those of Spark where there is Java 17
python3 run.py lint          set up, then lint and strict types
python3 run.py COMMAND ...   set up, then run: showthrough COMMAND ...
"""

from __future__ import annotations

import os
import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # an interrupted set-up is begun again the next time

import hashlib
import itertools
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SPARK = "spark.txt"  # needs older pandas than the rest, so it has an environment of its own
SPARK_TESTS = Path("tests", "spark")


def set_up(lock: str) -> Path:
    """The Python of the environment that a lock file describes; it is made unless it stands already."""
    home = HERE / (".venv-spark" if lock == SPARK else ".venv")
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    listed = HERE / "requirements" / lock
    described = listed.read_bytes() + (HERE / "pyproject.toml").read_bytes() + os.fsencode(HERE)
    wanted = hashlib.sha256(described).hexdigest()
    stamp = home / f".{lock}.sha256"
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    print(f"Setting up {home.name} (once; this downloads the pinned libraries) ...", file=sys.stderr, flush=True)
    works = python.exists() and subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0
    if not works:
        clear = ["--clear"] if home.exists() else []
        run(sys.executable, "-m", "venv", *clear, str(home), hint="On Debian and Ubuntu: apt install python3-venv.")
    pip = (str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    run(*pip, "--require-hashes", "-r", str(listed))
    run(*pip, "--no-deps", "--no-build-isolation", "--editable", str(HERE))
    stamp.write_text(wanted)
    return python


def run(*command: str, hint: str = "") -> None:
    """Run a step of the set-up, or stop with a sentence."""
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"The set-up failed at: {' '.join(command[:6])} ... {hint}")


def tests(words: list[str]) -> int:
    """All tests, or those that are named, each in its environment; the exit code of the worst."""
    named = [word for word in words if (HERE / word.partition("::")[0]).exists()]
    spark = [word for word in named if SPARK_TESTS in (Path(word), *Path(word.partition("::")[0]).parents)]
    rest = [word for word in words if word not in spark]
    codes = []
    if len(named) > len(spark) or not named:
        spread = ["-n", "auto", "--dist", "loadfile"]  # one worker per core; -n 0 runs them one after the other
        apart = [] if named else [f"--ignore={SPARK_TESTS}"]
        command = [set_up("test.txt"), "-m", "pytest", *spread, *apart, *rest]
        codes.append(subprocess.run(command, cwd=HERE, check=False).returncode)
    if spark or (not named and java_is_there()):
        chosen = [word for word in words if word not in named] + (spark or [str(SPARK_TESTS)])
        codes.append(subprocess.run([set_up(SPARK), "-m", "pytest", *chosen], cwd=HERE, check=False).returncode)
    return max(codes)


def java_is_there() -> bool:
    """Whether Spark could start here; says why not, unless it must."""
    asked = (
        "from showthrough.engines import spark_needs\ntry: spark_needs.java()\nexcept Exception as why: exit(str(why))"
    )
    told = subprocess.run([set_up("test.txt"), "-c", asked], capture_output=True, text=True, check=False)
    if told.returncode and not os.environ.get("SHOWTHROUGH_NEEDS_SPARK"):
        print(f"The tests of Spark ({SPARK_TESTS}) are skipped. {told.stderr.strip()}", file=sys.stderr)
        return False
    return True


def main() -> int:
    """Dispatch to the tests, the checks or the command itself."""
    if sys.version_info < (3, 11):
        sys.exit(f"showthrough needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    words = sys.argv[1:]
    if not words:
        sys.exit((__doc__ or "").strip())
    if words[0] == "test":
        return tests(words[1:])
    if words[0] == "lint":
        steps = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
        python = set_up("test.txt")
        return max(subprocess.run([python, "-m", *step], cwd=HERE, check=False).returncode for step in steps)
    spark = words[0] == "cluster" or "--engine=spark" in words or ("--engine", "spark") in itertools.pairwise(words)
    started_as = {**os.environ, "SHOWTHROUGH_COMMAND": "python3 run.py"}
    command = [str(set_up(SPARK if spark else "run.txt")), "-m", "showthrough", *words]
    if os.name != "nt":
        os.execve(command[0], command, started_as)  # the command itself hears signals, and nobody kills it half done
    return subprocess.run(command, env=started_as, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
