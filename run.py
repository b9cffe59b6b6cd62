#!/usr/bin/env python3
"""Set up a private environment beside this file and run the project in it. Needs only Python 3.11+.

python3 run.py demo          set up, then run the worked example
python3 run.py test          set up, then run all tests
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
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE / ".venv"
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")


def set_up(lock: str) -> None:
    """Make the environment that a lock file describes, unless it stands already."""
    listed = HERE / "requirements" / lock
    described = listed.read_bytes() + (HERE / "pyproject.toml").read_bytes() + os.fsencode(HERE)
    wanted = hashlib.sha256(described).hexdigest()
    stamp = HOME / f".{lock}.sha256"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print("Setting up .venv (once; this downloads the pinned libraries) ...", file=sys.stderr, flush=True)
    works = PYTHON.exists() and subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True).returncode == 0
    if not works:
        clear = ["--clear"] if HOME.exists() else []
        run(sys.executable, "-m", "venv", *clear, str(HOME), hint="On Debian and Ubuntu: apt install python3-venv.")
    pip = (str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    run(*pip, "--require-hashes", "-r", str(listed))
    run(*pip, "--no-deps", "--no-build-isolation", "--editable", str(HERE))
    stamp.write_text(wanted)


def run(*command: str, hint: str = "") -> None:
    """Run a step of the set-up, or stop with a sentence."""
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"The set-up failed at: {' '.join(command[:6])} ... {hint}")


def main() -> int:
    """Dispatch to the tests, the checks or the command itself."""
    if sys.version_info < (3, 11):
        sys.exit(f"showthrough needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    words = sys.argv[1:]
    if not words:
        sys.exit((__doc__ or "").strip())
    set_up("run.txt" if words[0] not in ("test", "lint") else "test.txt")
    if words[0] == "test":
        spread = ["-n", "auto", "--dist", "loadfile"]  # one worker per core; -n 0 runs them one after the other
        return subprocess.run([PYTHON, "-m", "pytest", *spread, *words[1:]], cwd=HERE, check=False).returncode
    if words[0] == "lint":
        steps = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
        return max(subprocess.run([PYTHON, "-m", *step], cwd=HERE, check=False).returncode for step in steps)
    started_as = {**os.environ, "SHOWTHROUGH_COMMAND": "python3 run.py"}
    command = [str(PYTHON), "-m", "showthrough", *words]
    if os.name != "nt":
        os.execve(command[0], command, started_as)  # the command itself hears signals, and nobody kills it half done
    return subprocess.run(command, env=started_as, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
