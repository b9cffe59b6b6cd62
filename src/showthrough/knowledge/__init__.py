"""What somebody knows beside the releases: statements about persons, shares and counts; `statement` makes them.

>>> from showthrough import knowledge as k
>>> print(k.known("11", "HIV"), k.share("HIV", where={"sex": "f"}, at_least=0.2, at_most=0.4), sep="; ")
11 has HIV; of the persons with sex f at least 20 % and at most 40 % have HIV
"""

from showthrough.knowledge.mining import mine
from showthrough.knowledge.statement import (
    Statement,
    count,
    exactly_one,
    excluded,
    known,
    one_of,
    share,
)

__all__ = ["Statement", "count", "exactly_one", "excluded", "known", "mine", "one_of", "share"]
