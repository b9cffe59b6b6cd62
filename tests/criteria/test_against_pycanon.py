"""The same releases through pyCANON, where it is right; where it is not, the test says why."""

import numpy as np
import polars as pl
import pytest

from showthrough.criteria.levels import levels
from tests.oracles import criteria as slow

pycanon = pytest.importorskip("pycanon", reason="pyCANON is not installed: pip install pycanon compares with it")
pandas = pytest.importorskip("pandas")


def random_rows(seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    rows = 60
    return pl.DataFrame(
        {
            "zip": random.integers(0, 4, rows).astype(str),
            "sex": random.choice(["f", "m"], rows),
            "disease": random.choice(["flu", "gout", "mumps", "asthma"], rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def level(frame: pl.DataFrame, name: str) -> float:
    return levels(frame, sensitive="disease").filter(criterion=name)["level"].item()


@pytest.mark.parametrize("seed", range(5))
def test_same_levels(seed):
    from pycanon import anonymity

    frame = random_rows(seed)
    rows = pandas.DataFrame(frame.to_dict(as_series=False))
    roles = (rows, ["zip", "sex"], ["disease"])
    assert level(frame, "k-anonymity") == anonymity.k_anonymity(rows, ["zip", "sex"])
    assert level(frame, "distinct l-diversity") == anonymity.l_diversity(*roles)
    assert level(frame, "(α,k)-anonymity") == pytest.approx(anonymity.alpha_k_anonymity(*roles)[0])
    assert level(frame, "t-closeness (equal)") == pytest.approx(anonymity.t_closeness(*roles))
    assert level(frame, "basic β-likeness") == pytest.approx(anonymity.basic_beta_likeness(*roles))


@pytest.mark.parametrize("seed", range(5))
def test_disclosure_of_occurring_values(seed):
    """It leaves out values that a group lacks, against the definition."""
    from pycanon import anonymity

    frame = random_rows(seed)
    rows = pandas.DataFrame(frame.to_dict(as_series=False))
    theirs = anonymity.delta_disclosure(rows, ["zip", "sex"], ["disease"])
    assert level(frame, "δ-disclosure of occurring values") == pytest.approx(theirs)


def test_entropy_is_truncated_there():
    """Three equally frequent values reach l = 3; int(e**H) with H rounded down makes 2 of it."""
    from pycanon import anonymity

    frame = pl.DataFrame({"zip": ["1"] * 3, "sex": ["f"] * 3, "disease": ["flu", "gout", "mumps"]})
    rows = pandas.DataFrame(frame.to_dict(as_series=False))
    assert level(frame, "entropy l-diversity") == 3
    assert slow.entropy_holds(["flu", "gout", "mumps"], 3)
    assert anonymity.entropy_l_diversity(rows, ["zip", "sex"], ["disease"]) == 2
