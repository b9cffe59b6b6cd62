"""Tables to compare options on."""

import numpy as np
import polars as pl


def people(rows: int = 120, seed: int = 0) -> pl.DataFrame:
    """Persons with an age, a sex, a town and a diagnosis that hangs on the age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    sick = np.where(rng.random(rows) < 0.4, (age // 16) % 5, rng.integers(0, 5, rows))
    return pl.DataFrame(
        {
            "id": [f"p{k}" for k in range(rows)],
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice(["north", "south", "west"], rows),
            "ill": [f"ill {k}" for k in sick],
        }
    )
