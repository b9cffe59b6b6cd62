"""Messages that name Python parameters, said with the options of a command."""

import pytest

from showthrough.cli.flags import as_options


@pytest.mark.parametrize(
    ("message", "parameters", "said"),
    [
        ("hold_back=True allows it.", ("hold_back",), "--hold-back allows it."),
        ('changed="split" publishes them.', ("changed",), "--changed split publishes them."),
        ('exposed="accept" publishes for others.', ("exposed",), "--accept-exposed publishes for others."),
        ("name them with quasi=.", ("quasi",), "name them with --quasi."),
        ("give an l-diversity in criteria=.", ("criteria",), "give an l-diversity (--m-unique, --frequency-l, …)."),
        ("hold_back=True stays.", (), "hold_back=True stays."),
        ("merge_overlaps is for generalized output", ("merge_overlaps",), "merge_overlaps is for generalized output"),
        ('missing="value" or missing="suppress"', ("missing",), "--missing value or --missing suppress"),
        ("valid=1 and my_id=2", ("id",), "valid=1 and my_id=2"),
    ],
)
def test_parameters_become_options(message, parameters, said):
    assert as_options(message, parameters) == said
