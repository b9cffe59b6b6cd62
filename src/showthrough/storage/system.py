"""What writing needs of the operating system: names that change hands in one step, locks, bytes on the disk."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import stat
import sys
from pathlib import Path

from showthrough.errors import FileError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
_LOCKLESS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
_BUSY = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}
READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}  # what whoever may only read is told
_NOT_SYNCED = _CANNOT | {errno.EBADF, errno.EACCES, errno.EPERM}  # systems that do not sync folders

_AT_ONCE = 1 << 20  # bytes of a copy
_HERE = -100  # AT_FDCWD
_ONLY_NEW, _EXCHANGE = (1, 2) if sys.platform.startswith("linux") else (4, 2)


def exchange(one: Path, other: Path) -> bool:
    """Swap what two names hold in one step; False where the system cannot."""
    return renamed(one, other, _EXCHANGE)


def rename_new(old: Path, new: Path) -> None:
    """Rename a file or folder to a name that nothing has; `FileExistsError` if something has it."""
    if renamed(old, new, _ONLY_NEW):
        return
    if os.path.lexists(new):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(old, new)


def renamed(one: Path, other: Path, flag: int) -> bool:
    """Call ``renameat2`` (Linux) or ``renamex_np`` (macOS); False where system or file system has no such thing."""
    if sys.platform == "win32":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform.startswith("linux") and hasattr(libc, "renameat2"):
        done = libc.renameat2(_HERE, names[0], _HERE, names[1], flag)
    elif sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        done = libc.renamex_np(*names, flag)
    else:
        return False
    if done == 0:
        return True
    problem = ctypes.get_errno()
    if problem in _CANNOT:
        return False
    raise OSError(problem, os.strerror(problem))


def refuse_unmovable(target: Path) -> None:
    """Raise now what moving something to this name, or away from it, would raise later, when others have moved."""
    try:
        found = os.lstat(target)  # a name may be too long
    except FileNotFoundError:
        return
    folder = os.stat(target.parent)
    if found.st_dev != folder.st_dev:  # another file system is mounted there
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
    sticky = bool(folder.st_mode & stat.S_ISVTX) and hasattr(os, "geteuid")
    if sticky and os.geteuid() not in (0, found.st_uid, folder.st_uid):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def lock(handle: int) -> bool | None:
    """Take the lock of an open file without waiting; None where the file system has no locks.

    It ends with the process, however that ends.
    """
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in _LOCKLESS:
            return None
        if problem.errno in _BUSY:
            return False
        raise
    return True


def write_bytes(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write a new file; ``private`` ones are readable by their owner alone from the first byte on."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600 if private else 0o666)
    try:
        write_all(handle, content)
    finally:
        os.close(handle)


_BINARY = getattr(os, "O_BINARY", 0)


def write_all(handle: int, content: bytes | bytearray) -> None:
    """Write every byte, however few the system takes at a time."""
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


def sync(path: Path) -> None:
    """Bring a file or folder to the disk; folders where the system can do that."""
    folder = path.is_dir()
    if folder and sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDWR | _BINARY if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as problem:
        if not folder or problem.errno not in _NOT_SYNCED:
            raise
    finally:
        os.close(handle)


def sync_tree(path: Path) -> None:
    """Bring a file, or a folder with all that is in it, to the disk."""
    if path.is_symlink():
        return
    if path.is_dir():
        for inside in sorted(path.iterdir()):
            sync_tree(inside)
    sync(path)


def move_folder(old: Path, new: Path) -> None:
    """Give a folder of private files a new name, if need be on another file system: there it is copied, then gone."""
    try:
        os.rename(old, new)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
    else:
        return
    new.mkdir()
    for path in sorted(old.iterdir()):
        with path.open("rb") as source:
            handle = os.open(new / path.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(handle, "wb") as target:
                shutil.copyfileobj(source, target, _AT_ONCE)
    remove(old)


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        with contextlib.suppress(OSError):
            path.chmod(0o700)
        for inside in list(path.iterdir()):
            remove(inside)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def unwritable(path: str | os.PathLike[str], problem: OSError) -> FileError:
    """The sentence for a file or folder that cannot be written."""
    folder = os.path.dirname(os.fspath(path))
    if problem.errno == errno.ENOENT and folder and not os.path.lexists(folder):
        return FileError(f"{os.fspath(path)} cannot be written: there is no folder {folder}. Make it first.")
    return FileError(f"{os.fspath(path)} cannot be written: {reason(problem)}.")


def reason(problem: OSError) -> str:
    """What the operating system says, without error number and path."""
    return (problem.strerror or str(problem)).lower()
