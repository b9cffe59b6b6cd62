"""Check digits of numbers that are given to persons, accounts and cards, by the rules of their issuers."""

from __future__ import annotations

from collections.abc import Sequence

_VERHOEFF = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_TURNS = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip


def luhn(digits: str) -> bool:
    """Every second digit from the right doubled, digits added up: a multiple of ten.

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    doubled = [sum(divmod(2 * int(d), 10)) for d in digits[-2::-2]]
    return (sum(doubled) + sum(int(d) for d in digits[::-2])) % 10 == 0


def weighted(digits: str, weights: Sequence[int]) -> int:
    """The digits added up, each times its weight."""
    return sum(int(d) * w for d, w in zip(digits, weights, strict=False))


def mod97(text: str) -> bool:
    """ISO 7064 mod 97-10 after the first four characters moved to the end, letters as 10 to 35 (IBAN).

    >>> mod97("GB82WEST12345698765432"), mod97("GB82WEST12345698765433")
    (True, False)
    """
    return int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1


def mod11_10(digits: str) -> bool:
    """ISO 7064 mod 11,10, as in German tax numbers.

    >>> mod11_10("86095742719"), mod11_10("86095742718")
    (True, False)
    """
    product = 10
    for d in digits[:-1]:
        product = ((int(d) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def verhoeff(digits: str) -> bool:
    """Verhoeff's check in the group of the pentagon, as in Indian numbers.

    >>> verhoeff("2363"), verhoeff("2364")
    (True, False)
    """
    check = 0
    for at, d in enumerate(reversed(digits)):
        check = int(_VERHOEFF[check][int(_TURNS[at % 8][int(d)])])
    return check == 0


def day(year: str, month: str, date: str) -> bool:
    """Whether month and day can be; the year may have two digits.

    >>> day("85", "02", "30"), day("85", "12", "24")
    (False, True)
    """
    long = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}.get(int(month), 31)
    return year.isdigit() and 1 <= int(month) <= 12 and 1 <= int(date) <= long
