"""What Spark needs on this machine: its libraries, and Java. Looked at before any of them is started."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from showthrough.errors import InputError

INSTALL = "pip install 'showthrough[spark]'"
JAVA = 17
_PATIENCE = 30.0  # seconds for Java to say its version


def pyspark() -> Any:
    """The library, if it and what it works with are there in versions that fit."""
    try:
        found = import_module("pyspark")
    except ImportError:
        raise InputError(f"The engine spark needs PySpark, which is not installed: {INSTALL}.") from None
    of_spark = str(getattr(found, "__version__", ""))
    if _first(of_spark) < 4:
        raise InputError(f"The engine spark needs PySpark 4 or newer, not {of_spark or 'a version without a number'}.")
    if version_of("pyarrow") is None:
        raise InputError(f"The engine spark needs pyarrow, which is not installed: {INSTALL}.")
    of_pandas = version_of("pandas")
    if of_pandas is None:
        raise InputError(f"The engine spark needs pandas, which is not installed: {INSTALL}.")
    if _first(of_pandas) >= 3:
        raise InputError(
            f"The engine spark needs pandas below 3, as PySpark does, not {of_pandas}: in an environment of its own, "
            f"{INSTALL}."
        )
    return found


def version_of(library: str) -> str | None:
    """Which version of a library is installed, without loading it."""
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _first(of: str) -> int:
    digits = re.match(r"\d+", of)
    return int(digits[0]) if digits else 0


def java() -> int:
    """The version of the Java that Spark would start; a sentence if there is none, or an old one."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    how = "JAVA_HOME names it" if home else "the first on the path"
    wanted = f"Spark needs Java {JAVA} or newer"
    advice = f"Install one (Debian and Ubuntu: apt install openjdk-{JAVA}-jre-headless), or name it in JAVA_HOME."
    if program is None:
        raise InputError(f"{wanted}, and there is none on this machine. {advice}")
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        raise InputError(f"{wanted}; {program} ({how}) cannot be run. {advice}") from None
    numbers = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if told.returncode or numbers is None:
        raise InputError(f"{wanted}; {program} ({how}) does not say its version. {advice}")
    found = int(numbers[1])
    if found < JAVA:
        raise InputError(f"{wanted}; {program} ({how}) is Java {found}. {advice}")
    return found
