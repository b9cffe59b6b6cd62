"""What every limit means, in a sentence with a place for the limit; said by files, formats and explanations alike."""

from __future__ import annotations

MEANINGS = {
    "certain": "How many persons may be certain: of whom a reader of all releases can prove the value.",
    "max_posterior": "How sure a reader of all releases may be of anybody's value.",
    "max_gain": "How much likelier the newest release may make anybody's value.",
    "max_shift": "How far anybody's probabilities may move from what the reader believed before.",
    "min_anonymity": "As uncertain as how many equally likely values everybody's value has to stay.",
    "proximity": "How sure a reader may be that a person's value, a number, lies near another.",
    "impossible": "How often a value of a person's own groups may be ruled out for that person.",
    "k": "k-anonymity: how many persons every group of a release has at least.",
    "distinct_l": "Distinct l-diversity: how many different values every group has at least.",
    "frequency_l": "Frequency l-diversity: no value is more frequent in a group than 1/l.",
    "entropy_l": "Entropy l-diversity: every group's values are as varied as so many equally frequent ones.",
    "recursive": "Recursive (c, l)-diversity: the most frequent value of a group is outweighed by rarer ones.",
    "m_unique": "m-uniqueness: every group has so many records, each with another value.",
    "t": "t-closeness: no group's values are distributed further than this from those of all.",
    "alpha": "(α, k)-anonymity: no value has a larger share of a group than α.",
    "beta": "β-likeness: no value is relatively more frequent in a group than among all, by more than β.",
    "delta_disclosure": "δ-disclosure: no value's frequency in a group differs from that among all by a factor e^δ.",
    "dissimilarity": "(ε, δ)^k-dissimilarity: in every group of k or more, few values lie near each other.",
    "ck_safety": "(c, k)-safety: whoever knows any k implications is less than c sure of anybody's value.",
    "skyline": "Skyline privacy: less than c sure, whoever knows up to so many excluded values, persons and relatives.",
    "average_risk": "Average risk: how probably a record is found on average, groups over records.",
    "uniqueness": "Uniqueness: which share of the records may be alone in their group.",
    "population_uniqueness": "Uniqueness in the population: which share of it may be unique, estimated from a sample.",
    "epsilon": "ε that differentially private releases may use up together.",
    "delta": "δ that differentially private releases may use up together.",
}
