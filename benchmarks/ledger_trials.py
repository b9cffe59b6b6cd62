"""Trials of the ledger that need processes: gates at the same moment, kills at random ones, and full disks.

Children are forked from a process that has loaded the package and not worked with it: libraries that hold threads do
not survive a fork. What a child finds is its exit code, or a line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import showthrough as st
from showthrough.errors import ShowthroughError
from showthrough.ledger import ledger as _loaded  # noqa: F401

VERDICTS = {"pass": 0, "block": 1, "review": 3, "inconclusive": 4}


def fork(work: Callable[[], int]) -> int:
    """Run something in a child; gives its number."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        code = work()
    except ShowthroughError as problem:
        print(problem, flush=True)
        code = 2
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def done(child: int) -> int:
    """Wait for a child; its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def asked(work: Callable[[], Any]) -> Any:
    """What a child says, as plain data."""
    end, begin = os.pipe()

    def tell() -> int:
        os.close(end)
        with os.fdopen(begin, "w") as stream:
            json.dump(work(), stream)
        return 0

    child = fork(tell)
    os.close(begin)
    with os.fdopen(end) as stream:
        text = stream.read()
    code = done(child)
    assert code == 0, f"a child ended with {code}"
    return json.loads(text)


def _history(place: str) -> dict[str, Any]:
    with st.Ledger.open(place) as ledger:
        found = ledger.verify()
        return {
            "holds": found.holds,
            "faults": list(found.faults),
            "names": [r.name for r in ledger.history()],
            "prints": [r.fingerprint() for r in ledger.history()],
            "verdicts": [e.told["verdict"] for e in ledger.log() if e.kind == "verdict given"],
            "events": found.events,
        }


def at_once(places: Callable[[], str], rounds: int) -> Counter[str]:
    """Two candidates that are safe alone and unsafe together, judged at the same moment, round after round."""
    found: Counter[str] = Counter()
    for _ in range(rounds):
        place = places()
        assert asked(partial(_begun, place)) is True
        end, begin = os.pipe()
        children = [fork(partial(_gate, place, which, end)) for which in (0, 1)]
        time.sleep(0.05)  # both stand at the door
        os.write(begin, b"go")
        codes = sorted(done(child) for child in children)
        os.close(end)
        os.close(begin)
        state = asked(partial(_history, place))
        good = codes == [0, 1] and state["holds"] and len(state["names"]) == 2
        found["one passed, one was blocked" if good else f"wrong: {codes} {state}"] += 1
        assert sorted(state["verdicts"]) == ["block", "pass"], state
    return found


def _begun(place: str) -> bool:
    from tests.ledger.cases import safe

    with st.Ledger.create(place) as ledger:
        ledger.add(safe("D"))
    return True


def _gate(place: str, which: int, door: int) -> int:
    from tests.ledger.cases import STRICT, pair

    candidate = pair()[which]
    with st.Ledger.open(place) as ledger:
        os.read(door, 1)
        return VERDICTS[ledger.gate(candidate, policy=STRICT).verdict]


def killed(places: Callable[[], str], rounds: int, seed: int) -> Counter[str]:
    """Gates and additions that are killed at a random moment, every other one while it writes.

    The ledger is as before or as after, and goes on.
    """
    rng, found = random.Random(seed), Counter[str]()
    place, before, longest = "", None, 0.3
    for number in range(rounds):
        if number % 20 == 0:
            place = places()
            assert asked(partial(_begun, place)) is True
            before = asked(partial(_history, place))
            began = time.monotonic()
            assert done(fork(partial(_next, place, "first", seed + 10**6, adds=False))) == 0
            longest = time.monotonic() - began
            before = asked(partial(_history, place))
        adds, name = rng.random() < 0.3, f"R{number}"
        end, begin = os.pipe()
        child = fork(partial(_next, place, name, seed + number, adds=adds, writes=begin))
        os.close(begin)
        if number % 2:
            os.read(end, 1)  # it writes now
            time.sleep(rng.random() * 0.03)
        else:
            time.sleep(longest * (rng.random() * 1.1 if rng.random() < 0.4 else 0.7 + 0.5 * rng.random()))  # often late
        os.kill(child, signal.SIGKILL)
        os.close(end)
        code = done(child)
        state = asked(partial(_history, place))
        assert before is not None
        assert state["holds"], state["faults"]
        if state["events"] == before["events"]:
            assert state == before, (state, before)
            found["as before"] += 1
        else:
            assert state["names"] == [*before["names"], name], (state, before)
            assert state["prints"][:-1] == before["prints"]
            found["as after"] += 1
        found["ended by itself"] += code == 0
        found["killed while it wrote"] += code < 0 and bool(number % 2)
        before = state
    return found


def _next(place: str, name: str, seed: int, *, adds: bool, writes: int | None = None) -> int:
    from tests.ledger.cases import PERMISSIVE, random_release

    candidate = random_release(random.Random(seed), name)
    with st.Ledger.open(place) as ledger:
        if writes is not None:
            ledger._store.database.run = partial(_telling, ledger._store.database.run, writes)
        if adds:
            ledger.add(candidate)
        else:
            assert ledger.gate(candidate, policy=PERMISSIVE).verdict == "pass"
    return 0


def _telling(run: Callable[..., Any], writes: int, statement: str, values: Any = ()) -> Any:
    if statement.startswith("INSERT"):
        os.write(writes, b"x")
    return run(statement, values)


def full(home: Path, rounds: int, seed: int, *, fills: bool) -> Counter[str]:
    """A gate for which there is no room, or just enough: the ledger is as before or as after, and goes on.

    The folder is ``filled`` up to some bytes if it stands on a small file system; else files may not grow.
    """
    rng, found = random.Random(seed), Counter[str]()
    original, place, filler = home / "original.db", home / "ledger.db", home / "filler"
    assert asked(partial(_begun, str(original))) is True
    before, needed = asked(partial(_history, str(original))), 0
    for number in range(-1, rounds):  # the first one measures what it takes
        filler.unlink(missing_ok=True)
        shutil.copyfile(original, place)
        room = rng.randrange(int(1.5 * needed) + 1) if number >= 0 else None
        if fills and room is not None:
            _fill(filler, room)
        code, said = _told(partial(_large, str(place), None if fills else room))
        filler.unlink(missing_ok=True)
        state = asked(partial(_history, str(place)))
        assert state["holds"], state["faults"]
        if number < 0:
            assert code == 0, said
            needed = 2 * (os.path.getsize(place) - os.path.getsize(original)) + 2**15  # the journal too
        elif code == 0:
            assert state["names"] == [*before["names"], "large"], state
            found["there was room"] += 1
        else:
            assert (code, state) == (2, before), (code, said, state)
            assert "cannot be written: the disk is full, or fails. What it held before is as it was." in said, said
            found["refused in a sentence, the old state intact"] += 1
    return found


def _fill(filler: Path, room: int) -> None:
    free = os.statvfs(filler.parent)
    filler.write_bytes(bytes(max(free.f_bavail * free.f_frsize - room, 0)))


def _large(place: str, room: int | None) -> int:
    from tests.ledger.cases import STRICT, safe

    if room is not None:
        limit = os.path.getsize(place) + room // 2
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    with st.Ledger.open(place) as ledger:
        return VERDICTS[ledger.gate(safe("large", persons=range(1200)), policy=STRICT).verdict]


def _told(work: Callable[[], int]) -> tuple[int, str]:
    """The exit code of a child, and what it prints."""
    end, begin = os.pipe()

    def tell() -> int:
        os.dup2(begin, 1)
        return work()

    child = fork(tell)
    os.close(begin)
    with os.fdopen(end) as stream:
        text = stream.read()
    return done(child), text
