"""Lines of TOML entries: every entry is a number that stands nowhere else, so that a search for it finds its line."""

import random
import tomllib

import pytest

from showthrough.table.toml_lines import places

DECOYS = [
    '"[block]"',
    "'k = 5'",
    '"""\n[block]\nk = 5\n# x = 1\n\\"quoted\\" = 2\n"""',
    "'''\n[[exceptions]]\n'''",
    '"a # b"',
]
KEYS = ["k", "certain", '"with space"', "'lit.eral'", "max_posterior", '"\\u0041"', "a-b", "1"]


class Writer:
    """Random TOML text in which every number is unique."""

    def __init__(self, seed):
        self.rng, self.next, self.names = random.Random(seed), 1000, 0

    def number(self):
        self.next += 1
        return str(self.next)

    def key(self):
        self.names += 1
        return self.rng.choice([f"n{self.names}", f'"q {self.names}"', f"'p.{self.names}'"])

    def scalar(self):
        return self.rng.choice([self.number, self.number, lambda: self.rng.choice(DECOYS)])()

    def value(self, depth=0):
        way = self.rng.random()
        if depth > 2 or way < 0.6:
            return self.scalar()
        if way < 0.8:
            gap = self.rng.choice(["", "\n  ", " # k = 7\n"])
            return "[" + "".join(f"{gap}{self.value(depth + 1)},{gap}" for _ in range(self.rng.randint(0, 3))) + "]"
        return "{" + ", ".join(f"{self.key()} = {self.inline(depth + 1)}" for _ in range(self.rng.randint(0, 3))) + "}"

    def inline(self, depth):
        return (
            self.number()
            if depth > 2
            else self.rng.choice([self.number(), "{" + f"{self.key()} = {self.number()}" + "}"])
        )

    def entry(self):
        dots = ".".join(self.key() for _ in range(self.rng.choice([1, 1, 1, 2])))
        return f"{dots}{self.rng.choice(['=', ' = '])}{self.value()}{self.rng.choice(['', '  # [x]'])}\n"

    def document(self):
        parts = ["".join(self.entry() for _ in range(self.rng.randint(0, 3)))]
        for _ in range(self.rng.randint(0, 5)):
            head = self.rng.choice(["[{}]", "[{}.{}]", "[[{}]]", "[[many]]", "[[many]]"])
            parts.append(head.format(self.key(), self.key()) + self.rng.choice(["", " # k = 1"]) + "\n")
            parts += [self.rng.choice(["", "\n", "# c = 3\n"]) + self.entry() for _ in range(self.rng.randint(0, 3))]
        return self.rng.choice(["\n", "\r\n"]).join("".join(parts).split("\n"))


def leaves(found, path=()):
    if isinstance(found, dict):
        for key, inner in found.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(found, list):
        for number, inner in enumerate(found):
            yield from leaves(inner, (*path, number))
    else:
        yield path, found


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_every_number_is_found_on_its_line(first):
    seen = 0
    for seed in range(first, first + 100):
        text = Writer(seed).document()
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError:  # an inline table that was broken over lines, a key twice
            continue
        known = places(text)
        lines = text.replace("\r\n", "\n").split("\n")
        for path, value in leaves(data):
            assert path in known, (seed, path)
            if isinstance(value, int) and value > 1000:
                at = next(n for n, line in enumerate(lines, start=1) if str(value) in line)
                assert known[path] == at, (seed, path, text)
                seen += 1
    assert seen > 100
