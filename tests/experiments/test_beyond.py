"""Persons who come and go, ways to publish that remember, and noise that is refused without its library."""

from itertools import pairwise

import polars as pl
import pytest

from showthrough.anonymizers import noise_source
from showthrough.errors import InputError
from showthrough.experiments.coming_and_going import Histories, tables
from showthrough.experiments.publishing_courses import PublishingCourses
from showthrough.experiments.study_data import ID, StudyData
from showthrough.progress import Progress


@pytest.fixture(scope="module")
def parts():
    frame = StudyData.synthetic().table("adult").with_columns(pl.col("age").cast(pl.Int64))
    return tables(frame, 100, 80, 4, 1)


def histories(parts):
    return Histories.of(parts, k=5, l=3, queries=20, seed=0, seconds=20.0, progress=Progress())


def test_so_many_stay_and_some_come_back(parts):
    people = [set(part[ID]) for part in parts]
    assert [len(own) for own in people] == [100] * 4
    assert [len(a & b) for a, b in pairwise(people)] == [80] * 3
    back = (people[2] - people[1]) & people[0]
    assert len(back) == 4


def test_values_do_not_change(parts):
    each = pl.concat(parts).group_by(ID).agg(pl.col("occupation").n_unique())
    assert set(each["occupation"]) == {1}


def test_the_first_release_is_read_alone_and_together_alike(parts):
    course = histories(parts[:2]).independent("anatomy")
    first = course.steps[0]
    assert first.together == first.alone
    assert course.steps[1].together.certain > first.together.certain
    assert course.steps[1].everybody == 120


def test_a_way_that_remembers_keeps_its_limit(parts):
    own = histories(parts)
    for strategy, l in (("m-invariance", 3), ("guarded", 2)):
        course = own.kept(strategy, l)
        assert len(course.steps) == 4
        assert max(step.together.most for step in course.steps) <= 1 / l + 1e-6


def test_without_its_library_noise_is_refused_with_a_hint(parts, monkeypatch):
    def missing():
        raise InputError(f"Noise is made by the library opendp: {noise_source.INSTALL}.")

    monkeypatch.setattr(noise_source, "_library", missing)
    course = histories(parts[:2]).noise(1.0)
    assert not course.steps
    assert 'pip install "showthrough[dp]"' in course.refused
    found = PublishingCourses(rows=60, stay=50, releases=2, exact=False, queries=10).run(
        StudyData.synthetic(), Progress(), 0
    )
    assert any('pip install "showthrough[dp]"' in note for note in found.notes)
    assert {row["option"] for row in found.charts[0].data["rows"]} >= {"anatomy, l = 3", "m-invariance, m = 3"}


def test_independent_groups_rise_and_the_others_stay():
    found = PublishingCourses.quick().run(StudyData.synthetic(), Progress(), 1)
    assert all(claim.holds for claim in found.claims)
    course = found.tables[0].frame
    last = course.group_by("way").agg(pl.col("at_90").last(), pl.col("newest_alone_at_90").max())
    shares = dict(last.select("way", "at_90").iter_rows())
    assert shares["anatomy, l = 3"] > shares["mondrian, k = 5"] > shares["m-invariance, m = 3"] == 0
