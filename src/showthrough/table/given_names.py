"""Frequent given names of many languages, to tell columns of persons' names from other words."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence

LEAST = 0.4  # share of the different cells that hold a given name
LEAST_CELLS = 10  # different cells: a few words may be names by chance
LEAST_MENTIONS = 0.05  # share of the different cells that mention a person in longer text
FEWEST_MENTIONS = 3
LONGEST_TEXT = 200  # words of a cell

_NAMES = """
aaron abdul abdullah abigail adam adele adrian adriana agnes agnieszka ahmad ahmed aiko aisha alan albert alberto
alejandra alejandro alessandro alex alexander alexandra alexandre alexis alfred ali alice alicia alina alison allison
amanda amelia amina amir amy ana anastasia anders andre andrea andreas andrei andres andrew andrzej angela angelica
anita anja ann anna anne annette anthony antoine antonia antonio anya arjun arnold arthur arturo asha ashley astrid
audrey ayse barbara beatrice beatriz benjamin bernard bernd bianca bill birgit bjorn bob bogdan bonnie brandon brenda
brian bruno camille carl carla carlos carmen carol carolina caroline catherine cecilia charles charlotte chen chloe
chris christian christina christine christoph christopher cindy claire clara claudia claudio cristina cynthia dagmar
daniel daniela danielle david deborah deepak denise dennis diana diane diego dieter dimitri dmitri dominique donald
donna dorothea dorothy douglas edith eduardo edward elena eleni elias elisa elisabeth elizabeth ella ellen elsa elvira
emil emily emma enrique eric erica erik erika ernst esther eugene eva evelyn ewa fabian fatima fatma felix fernanda
fernando filip florian frances francesca francesco francisco franck francois frank frederic friedrich fritz gabriel
gabriela gabriele gary georg george georgios gerald gerard gerhard gertrud giorgos giovanni giulia giuseppe gloria
grace greta grzegorz guillaume gunther gustav hana hanna hannah hans harald harold harry hasan heather heidi heike
heinrich heinz helen helena helga henri henrik henry herbert hermann hiroshi hugo ian ibrahim igor ilse ingrid irene
irina isaac isabel isabella ivan ivana jack jacob jacques jaime jakob jakub james jan jana jane janet janine jaroslav
jason javier jean jeff jeffrey jelena jennifer jens jeremy jerzy jessica jiri joan joanna joao joe johan johann
johanna johannes john jonas jonathan jorge jorgen jose josef joseph joshua juan juana judith julia julian julie julien
jurgen justin kamila karen karin karl katarina katarzyna kate katherine kathleen kathryn katja katrin kazuko keith
kelly kenji kenneth kevin kim kimberly klaus kristina kumar kurt lara larisa lars laura lauren laurent lea lena leo
leon leonard leonardo liam lina linda ling lisa lorenzo louis louise luca lucas lucia luigi luis luisa lukas lydia
maciej magdalena malgorzata manfred manuel manuela marc marcel marcin marco marcus margaret margarete margarita maria
mariam marie marina mario marion mark marko markus marta martha martin martina mary maryam masako matej mateo matteo
matthew matthias maurice max maximilian maya megan mehmet mei melanie melissa mercedes michael michal michel michele
michelle miguel mikhail milan milica mohamed mohammad mohammed monica monika muhammad mustafa nadia nadine nancy
natalia natalie natasha nathalie nathan nicholas nicola nicole nikola nikolai nikolaos nina noah nora norbert olaf
oleg olga oliver olivia omar oscar oskar otto pablo pamela paola paolo pascal patricia patrick paul paula pavel pawel
pedro peggy per peter petra philip philipp philippe pierre pietro piotr priya rachel rafael rahul rainer raj ralf
ralph ramon raquel raymond rebecca regina reinhard renate rene ricardo richard rita robert roberta roberto robin roger
roland rolf roman ronald rosa rosemary ruben rudolf ruth ryan sabine sabrina said sakura salma samantha samuel sandra
sanjay sara sarah satoshi scott sean sebastian sergei sergey sergio sharon silke silvia simon simone sofia sonia sonja
sophia sophie stefan stefanie stephanie stephen steve steven stuart sunita susan susana susanne sven svetlana sylvia
takashi tanja tatiana teresa theodor theresa thomas thorsten tiffany tim timothy tobias tom tomas tomasz tony tracy
ulrich ulrike ursula uwe vanessa vera veronica veronika victor vijay viktor vincent vincenzo virginie vladimir walter
wanda wei wendy werner wilhelm william wolfgang xavier yan yasmin ying yoko yolanda youssef yuki yusuf yvonne zainab
zbigniew zhang zofia
"""
NAMES = frozenset(_NAMES.split())


def plain_letters(text: str) -> str:
    """Lower case without accents."""
    parts = unicodedata.normalize("NFKD", text.replace("ø", "o").replace("ß", "ss").replace("ł", "l"))
    return "".join(c for c in parts if not unicodedata.combining(c)).lower()


def are_names(cells: Sequence[str]) -> bool:
    """Whether different cells are mostly names of persons: one to four words, a given name among them."""
    if len(cells) < LEAST_CELLS:
        return False
    found = 0
    for cell in cells:
        words = plain_letters(cell.replace(",", " ").replace("-", " ")).split()
        found += len(words) <= 4 and all(w.strip(".'").isalpha() for w in words) and any(w in NAMES for w in words)
    return found >= LEAST * len(cells)


def mention_names(cells: Sequence[str]) -> bool:
    """Whether some of the different cells mention a person in a longer text: a given name beside another."""
    found = sum(map(_mentions, cells))
    return found >= max(FEWEST_MENTIONS, LEAST_MENTIONS * len(cells))


def _mentions(cell: str) -> bool:
    words = cell.split(maxsplit=LONGEST_TEXT)[:LONGEST_TEXT]
    for one, other in itertools.pairwise(words):
        if one[:1].isupper() and other[:1].isupper():
            first, second = (plain_letters(word.strip("()[].,:;!?'\"")) for word in (one, other))
            backwards = one.endswith(",") and second in NAMES
            if len(first) > 1 and len(second) > 1 and (backwards or (first in NAMES and one[-1].isalpha())):
                return True
    return False
