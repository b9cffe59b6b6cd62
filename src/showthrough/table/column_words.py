"""What columns are called: words that tell names and numbers of persons from names and numbers of other things."""

from __future__ import annotations

import itertools
import re

from showthrough.table.given_names import plain_letters


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PERSON = _set(  # names of persons
    """
    name names fullname surname lastname familyname firstname givenname forename vorname nachname familienname
    geburtsname nom prenom apellido apellidos nombre nombres cognome nome naam voornaam achternaam namn fornamn
    efternamn fornavn etternavn imie nazwisko jmeno prijmeni sukunimi etunimi maidenname patientname
    """
)
CONTACT = _set(  # addresses and numbers of persons
    """
    email mail phone telephone telefon telefono tel mobile handy cellphone fax address addr adresse direccion
    indirizzo street strasse rue calle iban accountnumber kontonummer ssn socialsecurity nhsnumber nino mrn passport
    passportnumber licenseplate numberplate driverslicense steuerid svnr bsn cpf curp dni nif nie pesel personnummer
    cpr aadhaar insurancenumber versichertennummer kvnr nationalid personalid url ipaddress
    """
)
OF_THINGS = _set(  # what else has names and codes
    """
    hospital drug product city country state company school file disease class category variable place county
    department brand species event job occupation field village region district clinic ward unit town group type
    level status code medication procedure diagnosis test device study site program language industry employer
    insurer payer
    """
)
IDS = _set(  # ids
    """
    id ids pid uid uuid guid identifier pseudonym pseudonyms rowid rownumber mrn
    """
)
MAYBE_IDS = _set(  # ids where nothing else is said: "case no", but not "birth number"
    """
    key nr no num number nummer numero record index row case subject patient person respondent serial seq sequence
    token hash fall akte
    """
)
MEASURES = _set(  # what is measured, not given out
    """
    age ages alter edad eta year years month day days date birth born income salary wage wages pay gehalt lohn
    revenue sales tax cost price amount balance weight height bmi size length width area distance score points rate
    ratio share percent temperature pressure glucose count duration hours minutes stay visits latitude longitude lat
    lon
    """
)
PLACES = _set(  # places
    """
    zip zipcode postal postalcode postcode plz cap cp code area tract block fips geoid
    """
)
_ID_OF = re.compile(
    r"(?:patient|person|subject|case|record|member|customer|client|user|employee|student|study|encounter|visit"
    r"|insured|row)"
    r"(?:id|nr|no|number|key|code)"
)


def words_of(name: str) -> set[str]:
    """The words of a column's name, and neighbours together: lastName and last_name are lastname."""
    parts = re.sub(r"(?<=[a-z\d])(?=[A-Z])", " ", name)
    words = [word for word in re.split(r"[^a-z]+", plain_letters(parts)) if word]
    words += ["id" for word in words if _ID_OF.fullmatch(word)]
    return {*words, *("".join(pair) for pair in itertools.pairwise(words)), "".join(words)}
