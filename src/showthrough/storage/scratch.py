"""Files that one run keeps for itself on storage that its workers share: whole or not there, and gone when it ends.

Unlike what users ask for they need no lock and no journal: whoever does the same work again writes the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


def put(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Let ``write`` fill a file that appears under its name in one step."""
    unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with open(unfinished, "xb") as stream:
            write(stream)
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
