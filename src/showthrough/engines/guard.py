"""Runs a command, and ends it with all that it started as soon as nobody holds the other end of stdin any more.

A program of its own, which loads nothing of the package: whoever started it may be killed at any instant, and the
system then closes the pipe.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

PATIENCE = 3.0  # seconds to end in order


def main(command: list[str]) -> int:
    """The command's exit code."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the pipe says when it is time
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=_until_left_alone, args=(process,), daemon=True).start()
    return process.wait()


def _until_left_alone(process: subprocess.Popen[bytes]) -> None:
    while os.read(0, 4096):
        pass
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    os.killpg(0, signal.SIGKILL)  # executors of a worker are in our group, and so are we


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
