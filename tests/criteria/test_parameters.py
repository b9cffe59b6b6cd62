"""A wrong parameter of a criterion is a sentence that names it, never a traceback of comparisons."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import showthrough as st
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.negation import distinct_after
from showthrough.errors import InputError, ParameterError

NAN = float("nan")
NUMBERS = {  # every numeric parameter of every criterion
    "KAnonymity.k": st.KAnonymity,
    "DistinctLDiversity.l": st.DistinctLDiversity,
    "FrequencyLDiversity.l": st.FrequencyLDiversity,
    "EntropyLDiversity.l": st.EntropyLDiversity,
    "RecursiveLDiversity.c": lambda x: st.RecursiveLDiversity(x, 2),
    "RecursiveLDiversity.l": lambda x: st.RecursiveLDiversity(2, x),
    "AlphaKAnonymity.alpha": lambda x: st.AlphaKAnonymity(x, 2),
    "AlphaKAnonymity.k": lambda x: st.AlphaKAnonymity(0.5, x),
    "TCloseness.t": st.TCloseness,
    "BetaLikeness.beta": st.BetaLikeness,
    "DeltaDisclosure.delta": st.DeltaDisclosure,
    "MUniqueness.m": st.MUniqueness,
    "Dissimilarity.epsilon": lambda x: st.Dissimilarity(x, 0.5, 2),
    "Dissimilarity.delta": lambda x: st.Dissimilarity(0.1, x, 2),
    "Dissimilarity.k": lambda x: st.Dissimilarity(0.1, 0.5, x),
    "DeltaPresence.minimum": lambda x: st.DeltaPresence(x, 1),
    "DeltaPresence.maximum": lambda x: st.DeltaPresence(0, x),
    "KMap.k": st.KMap,
    "AverageRisk.most": st.AverageRisk,
    "Uniqueness.most": st.Uniqueness,
    "CKSafety.c": lambda x: st.CKSafety(x, 2),
    "CKSafety.k": lambda x: st.CKSafety(0.5, x),
    "SkylinePrivacy.c": lambda x: st.SkylinePrivacy(x, (1, 1, 1)),
}
WHOLE = [name for name in NUMBERS if name.split(".")[1] in ("k", "m")] + [
    "DistinctLDiversity.l",
    "RecursiveLDiversity.l",
]


@pytest.mark.parametrize("wrong", ["5", "", None, True, np.True_, NAN, [5], (1, 2), Decimal(1), b"1", 1j], ids=repr)
@pytest.mark.parametrize("place", NUMBERS)
def test_no_number(place, wrong):
    with pytest.raises(ParameterError) as caught:
        NUMBERS[place](wrong)
    name = place.split(".")[1]
    assert caught.value.parameters == (name,)
    assert name in str(caught.value)
    assert str(caught.value).endswith(f", not {wrong!r}.")
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize("place", WHOLE)
@pytest.mark.parametrize("wrong", [2.5, Fraction(5, 2), float("inf")])
def test_no_whole_number(place, wrong):
    with pytest.raises(ParameterError, match="a whole number as"):
        NUMBERS[place](wrong)


@pytest.mark.parametrize("place", NUMBERS)
@pytest.mark.parametrize("right", [1, 1.0, np.int64(1), np.float32(1), Fraction(1)])
def test_numbers_of_any_make(place, right):
    if place != "Dissimilarity.delta":  # 1 satisfies nobody in the strict reading
        NUMBERS[place](right)


def test_the_sentence():
    with pytest.raises(InputError, match=r"^k-anonymity needs a whole number as k, not '5'\.$"):
        st.KAnonymity("5")
    with pytest.raises(InputError, match=r"^k-anonymity needs k of at least 1, not 0\.$"):
        st.KAnonymity(0)
    with pytest.raises(InputError, match=r"^\(α,k\)-anonymity needs α \(alpha\) between 0 and 1, not 1\.5\.$"):
        st.AlphaKAnonymity(1.5, 2)
    with pytest.raises(InputError, match=r"^δ-disclosure needs δ \(delta\) above 0, not 0\.$"):
        st.DeltaDisclosure(0)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: st.BetaLikeness(1, enhanced="no"), "enhanced"),
        (lambda: st.DeltaDisclosure(1, occurring=0), "occurring"),
        (lambda: st.Dissimilarity(0.1, 0.5, 2, strict="no"), "strict"),
        (lambda: st.DeltaPresence(0, 1, everywhere="no"), "everywhere"),
        (lambda: st.TCloseness(0.1, reference=None), "reference"),
        (lambda: st.TCloseness(0.1, "near"), "distance"),
        (lambda: st.AlphaKAnonymity(0.5, 2, values="HIV"), "values"),
        (lambda: st.DeltaPresence(0.5, 0.2), "minimum"),
    ],
)
def test_words_and_flags(make, name):
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.parameters[0] == name


def test_what_is_asked_of_counts():
    with pytest.raises(ParameterError, match="a whole number as j, not '1'"):
        distinct_after(GroupCounts.from_rows(np.array([0, 0]), np.array([0, 1]), values=2), "1")
