"""The command ``showthrough``: ready to be interrupted before anything is loaded."""

from __future__ import annotations

import os
import signal
from types import FrameType


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    """Nothing has been read or written yet: end at once, without a word of the interpreter."""
    os.write(2, b"Interrupted: nothing was done.\n")
    os._exit(130)


def main() -> None:
    """Run the command; whatever happens ends in an exit code and a sentence."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # whoever started us may have it ignored
        signal.signal(signal.SIGINT, _interrupted)
    from showthrough.cli.app import app
    from showthrough.cli.ending import run

    run(lambda: app(prog_name="showthrough", standalone_mode=False))
