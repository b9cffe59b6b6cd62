"""Direct identifiers recognised by their form: addresses, numbers of accounts, cards and persons of many countries.

A form with enough structure of its own (an e-mail address, an IBAN) is *sure*: some cells of it are enough. A plain
number with one check digit passes by chance once in ten, so nearly all cells have to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from showthrough.table.check_digits import day, luhn, mod11_10, mod97, verhoeff, weighted

LEAST_SURE = 0.01  # share of the different cells that have a sure form
LEAST_LIKELY = 0.8  # and of those that have another one
LEAST_CELLS = 8  # different cells, for forms that a few numbers may have by chance
MOST_CELLS = 4000  # different cells that are looked at
LONGEST_TEXT = 5000  # letters of a cell in which a sure form is sought


@dataclass(frozen=True)
class Form:
    """What direct identifiers of one sort look like; ``extra`` is asked of cells whose shape fits."""

    name: str
    shape: re.Pattern[str]
    extra: Callable[[str], bool] | None = None
    sure: bool = False

    def has(self, cell: str) -> bool:
        """Whether a cell, without blanks around it, has the form; a sure one may stand in a longer text."""
        if not self.sure:
            return self.shape.fullmatch(cell) is not None and self._fits(cell)
        return any(self._fits(found.group()) for found in self.shape.finditer(cell[:LONGEST_TEXT]))

    def _fits(self, text: str) -> bool:
        if self.extra is None:
            return True
        try:
            return self.extra(re.sub(r"[\s.\-/]", "", text).upper())
        except (ValueError, IndexError):  # digits of other scripts and the like
            return False


def recognised(cells: Sequence[str]) -> str | None:
    """What the different cells of a column are, if they are direct identifiers."""
    step = max(1, -(-len(cells) // MOST_CELLS))
    looked = [cell.strip() for cell in cells[::step]]
    for form in FORMS:
        found = sum(form.has(cell) for cell in looked)
        if found and (form.sure and found >= LEAST_SURE * len(looked)):
            return form.name
        if len(looked) >= LEAST_CELLS and found >= LEAST_LIKELY * len(looked):
            return form.name
    return None


def _digits(n: int | str, extra: Callable[[str], bool], name: str) -> Form:
    """Plain numbers, with the blanks, points and dashes that people put between digits."""
    least, most = (n, n) if isinstance(n, int) else map(int, n.split("-"))
    return Form(name, re.compile(rf"\d(?:[ .\-/]?\d){{{least - 1},{most - 1}}}", re.ASCII), extra)


def _iban(text: str) -> bool:
    return len(text) >= 15 and mod97(text)


def _letter(number: int) -> str:
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


def _nie(text: str) -> bool:
    return _letter(int(str("XYZ".find(text[0])) + text[1:-1] if text[0] in "XYZ" else text[:-1])) == text[-1]


def _nhs(d: str) -> bool:
    return weighted(d, range(10, 0, -1)) % 11 == 0 and len(set(d)) > 1


def _nir(text: str) -> bool:
    number = text[:13].replace("2A", "19").replace("2B", "18")
    return 97 - int(number) % 97 == int(text[13:])


def _insured(text: str) -> bool:
    number = f"{ord(text[0]) - 64:02d}{text[1:-1]}"
    return sum(sum(divmod(int(d) * (1 + at % 2), 10)) for at, d in enumerate(number)) % 10 == int(text[-1])


def _fiscal(text: str) -> bool:
    odd = dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True))
    turned = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    odd |= {chr(65 + k): value for k, value in enumerate(turned)}
    total = sum(odd[c] for c in text[0:15:2]) + sum(int(c, 36) - (10 if c.isalpha() else 0) for c in text[1:15:2])
    return chr(65 + total % 26) == text[15]


def _bsn(d: str) -> bool:
    return weighted(d, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0 and len(set(d)) > 1


def _nif(d: str) -> bool:
    return (11 - weighted(d, range(9, 1, -1)) % 11) % 11 % 10 == int(d[8])


def _rijksregister(d: str) -> bool:
    return int(d[9:]) in (97 - int(d[:9]) % 97, 97 - int("2" + d[:9]) % 97)


def _swedish(d: str) -> bool:
    return luhn(d[-10:]) and day(d[-10:-8], d[-8:-6], f"{int(d[-6:-4]) % 60:02d}")


def _norwegian(d: str) -> bool:
    first = weighted(d, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11
    return first == 0 and weighted(d, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _finnish(text: str) -> bool:
    number = re.sub(r"\D", "", text[:-1]) if text[6].isalpha() or not text[6].isdigit() else text[:9]
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(number[:6] + number[-3:]) % 31] == text[-1]


def _pesel(d: str) -> bool:
    return weighted(d, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0 and day(d[:2], f"{int(d[2:4]) % 20:02d}", d[4:6])


def _czech(d: str) -> bool:
    return int(d) % 11 == 0 and day(d[:2], f"{int(d[2:4]) % 50 % 20:02d}", d[4:6])


def _austrian(d: str) -> bool:
    return weighted(d, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11 == int(d[3]) and day(d[8:], d[6:8], d[4:6])


def _ahv(d: str) -> bool:
    return d.startswith("756") and weighted(d, (1, 3) * 7) % 10 == 0


def _baltic(d: str) -> bool:
    first = weighted(d, (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    check = first if first < 10 else weighted(d, (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11 % 10
    return check == int(d[10]) and day(d[1:3], d[3:5], d[5:7])


def _romanian(d: str) -> bool:
    return weighted(d, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11 % 10 == int(d[12]) and day(d[1:3], d[3:5], d[5:7])


def _bulgarian(d: str) -> bool:
    date = day(d[:2], f"{int(d[2:4]) % 20:02d}", d[4:6])
    return date and weighted(d, (2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11 % 10 == int(d[9])


def _turkish(d: str) -> bool:
    tenth = (7 * sum(map(int, d[0:9:2])) - sum(map(int, d[1:8:2]))) % 10
    return d[0] != "0" and tenth == int(d[9]) and sum(map(int, d[:10])) % 10 == int(d[10])


def _cpf(d: str) -> bool:
    def check(part: str) -> int:
        return (weighted(part, range(len(part) + 1, 1, -1)) * 10) % 11 % 10

    return len(set(d)) > 1 and check(d[:9]) == int(d[9]) and check(d[:10]) == int(d[10])


def _rut(text: str) -> bool:
    total = sum(int(d) * (2 + at % 6) for at, d in enumerate(reversed(text[:-1])))
    return "0123456789K0"[(11 - total % 11)] == text[-1]


def _chinese(text: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[weighted(text[:17], weights) % 11] == text[17] and day(text[6:10], text[10:12], text[12:14])


def _korean(d: str) -> bool:
    return (11 - weighted(d, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10 == int(d[12]) and day(*_pairs(d))


def _my_number(d: str) -> bool:
    rest = weighted(d, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return (0 if rest <= 1 else 11 - rest) == int(d[11])


def _south_african(d: str) -> bool:
    return luhn(d) and day(*_pairs(d))


def _medicare(d: str) -> bool:
    return d[0] in "23456" and weighted(d, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(d[8])


def _nric(text: str) -> bool:
    total = weighted(text[1:8], (2, 7, 6, 5, 4, 3, 2)) + (4 if text[0] in "TG" else 0)
    return ("JZIHGFEDCBA" if text[0] in "ST" else "XWUTRQPNMLK")[total % 11] == text[8]


def _pairs(d: str) -> tuple[str, str, str]:
    return d[:2], d[2:4], d[4:6]


def _ssn(d: str) -> bool:
    return d[:3] not in ("000", "666") and d[0] != "9" and d[3:5] != "00" and d[5:] != "0000"


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII | re.IGNORECASE)


_PHONES = (
    r"\+\d[\d ().\-/]{6,18}\d|00[1-9][\d ().\-/]{7,18}\d|\(\d{2,5}\)[ \-/]?\d{3,4}[ \-]?\d{3,5}"
    r"|0?\d{2,4}[ \-/]\d{3,4}[ \-]\d{3,5}|0\d{2,4}[ \-/]\d{6,8}|0\d(?:[ .\-]\d{2}){4}"
)
FORMS = (
    Form("e-mail addresses", re.compile(r"[^\s@,;]{1,64}@[^\s@,;]{1,250}\.[^\W\d_]{2,}"), sure=True),
    Form("account numbers (IBAN)", _re(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,8}\b"), _iban, sure=True),
    Form("Italian fiscal codes", _re(r"\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b"), _fiscal, sure=True),
    Form("Mexican CURP numbers", _re(r"\b[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d\b"), None, sure=True),
    Form("Chinese resident numbers", _re(r"\b[1-9]\d{5}(?:19|20)\d{9}[\dX]\b"), _chinese, sure=True),
    Form("phone numbers", _re(_PHONES)),
    Form("US social security numbers", _re(r"\d{3}-\d{2}-\d{4}"), _ssn),
    Form("British insurance numbers", _re(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]")),
    Form("Spanish identity numbers", _re(r"[XYZ]?-?\d{7,8}-?[A-Z]"), _nie),
    Form("French social security numbers", _re(r"[1-478] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}"), _nir),
    Form("German health insurance numbers", _re(r"[A-Z]\d{9}"), _insured),
    Form("Finnish personal codes", _re(r"\d{6}[\-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]"), _finnish),
    Form("Danish personal numbers", _re(r"\d{6}-\d{4}"), lambda d: day(d[4:6], d[2:4], d[:2])),
    Form("Chilean RUT numbers", _re(r"\d{1,2}\.?\d{3}\.?\d{3}-[\dK]"), _rut),
    Form("Singapore identity numbers", _re(r"[STFG]\d{7}[A-Z]"), _nric),
    Form("Swedish personal numbers", _re(r"(?:19|20)?\d{6}[\-+]?\d{4}"), lambda t: _swedish(t.replace("+", ""))),
    _digits(9, _bsn, "Dutch service numbers"),
    _digits(9, _nif, "Portuguese tax numbers"),
    _digits(9, luhn, "Canadian or Israeli identity numbers"),
    _digits("10-11", _medicare, "Australian Medicare numbers"),
    _digits(10, _nhs, "NHS numbers"),
    _digits(10, _bulgarian, "Bulgarian personal numbers"),
    _digits(10, _austrian, "Austrian insurance numbers"),
    _digits(10, _czech, "Czech or Slovak birth numbers"),
    _digits(11, mod11_10, "German tax numbers"),
    _digits(11, _rijksregister, "Belgian register numbers"),
    _digits(11, _norwegian, "Norwegian birth numbers"),
    _digits(11, _pesel, "Polish PESEL numbers"),
    _digits(11, _baltic, "Estonian or Lithuanian personal codes"),
    _digits(11, _turkish, "Turkish identity numbers"),
    _digits(11, _cpf, "Brazilian CPF numbers"),
    _digits(12, lambda d: d[0] not in "01" and verhoeff(d), "Aadhaar numbers"),
    _digits(12, _my_number, "Japanese individual numbers"),
    _digits(13, _ahv, "Swiss insurance numbers"),
    _digits(13, _romanian, "Romanian personal codes"),
    _digits(13, _korean, "Korean resident numbers"),
    _digits(13, _south_african, "South African identity numbers"),
    _digits("15-16", luhn, "card numbers"),
)
