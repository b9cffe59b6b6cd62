"""Ctrl-C while an audit works: the first ends it with what is known, the second at once.

A handler in Python waits until the main thread is back from whatever it does, which may be a linear program, and two
signals in the meantime are one. So the signal itself only writes a byte, and a thread of its own reads it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator

from showthrough.cli.common import NOTHING_WRITTEN, say
from showthrough.cli.ending import INTERRUPTED
from showthrough.progress import Progress

FIRST = "Interrupted: ending with what is known. Press Ctrl-C again to end at once."
_PATIENCE = 1.0  # seconds for the work to notice that it was cancelled
_SHOW_CURSOR = "\x1b[?25h"


@contextlib.contextmanager
def ending_early(progress: Progress) -> Iterator[None]:
    """The first Ctrl-C asks the work to end with what is known, the second ends the process."""
    if threading.current_thread() is not threading.main_thread():  # signals are not for us
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(ours, progress, ended), daemon=True)
    before = signal.signal(signal.SIGINT, lambda *_: None)  # what it does is done by the thread
    wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    watch.start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, before)
        theirs.close()
        watch.join()
        ours.close()


def _watch(signals: socket.socket, progress: Progress, ended: threading.Event) -> None:
    """Count interrupts until the other end is closed."""
    heard = 0
    while numbers := signals.recv(64):
        for _ in range(numbers.count(signal.SIGINT)):
            heard += 1
            if heard == 1:
                progress.enough()
                say(FIRST)
            elif heard == 2:
                progress.cancel()
                if not ended.wait(_PATIENCE):
                    _end_at_once()


def _end_at_once() -> None:
    """The work is where it hears nothing, so nothing waits for it; what it would write is written at its end."""
    say(NOTHING_WRITTEN)
    for child in multiprocessing.active_children():
        child.terminate()
    if sys.stderr.isatty():
        sys.stderr.write(_SHOW_CURSOR)
    sys.stderr.flush()
    os._exit(INTERRUPTED)
