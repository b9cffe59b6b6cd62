"""The command ``showthrough``: ready to be interrupted before anything is loaded.

Nothing is imported above `main` that Python has not loaded by itself: each import is a moment in which an
interruption would end in a traceback.
"""

from __future__ import annotations

import _signal as signals  # type: ignore[import-not-found]  # `signal` without the modules that it loads
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    """Nothing has been read or written yet: end at once, without a word of the interpreter."""
    os.write(2, b"Interrupted: nothing was done.\n")
    os._exit(130)


def main() -> None:
    """Run the command; whatever happens ends in an exit code and a sentence."""
    if signals.getsignal(signals.SIGINT) is signals.default_int_handler:  # whoever started us may have it ignored
        signals.signal(signals.SIGINT, _interrupted)
    from showthrough.cli.app import app
    from showthrough.cli.ending import run

    run(lambda: app(prog_name="showthrough", standalone_mode=False))
