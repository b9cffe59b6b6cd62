"""The assertion and the fixture for tests of pipelines, in a pytest of their own."""

import os

import pytest

import showthrough as st
from showthrough.errors import InputError
from showthrough.examples import figure1
from showthrough.testing import NotReleasableError, assert_releasable

pytest_plugins = ["pytester"]
READ = {"id": "pseudonym", "sensitive": "disease", "group": "group"}


def test_assertion_on_releases_and_files(tmp_path):
    releases = figure1.releases()
    assert assert_releasable(*releases, policy=st.Policy(certain=3)).verdict == "pass"
    with pytest.raises(NotReleasableError) as problem:
        assert_releasable(*releases, policy=st.Policy(certain=0))
    assert str(problem.value).startswith("block: 3 persons are certain; the policy allows nobody.")
    assert problem.value.audit.verdict == "block"
    files = figure1.write(tmp_path)
    assert assert_releasable(*files, policy=st.Policy(certain=3), read=READ).verdict == "pass"
    soft = st.Rules(review=st.Policy(max_posterior=0.5, certain=None))
    assert assert_releasable(*releases, policy=soft, allow_review=True).verdict == "review"
    with pytest.raises(NotReleasableError, match="review"):
        assert_releasable(*releases, policy=soft)
    with pytest.raises(NotReleasableError, match="inconclusive"):
        assert_releasable(*releases, policy=st.Policy(certain=15), seconds=0)
    with pytest.raises(InputError, match="no release"):
        assert_releasable(policy=soft)
    with pytest.raises(InputError, match=r"Release\.bucketized"):
        assert_releasable(releases[0].to_frame(), policy=soft)


def test_fixture_by_entry_point(pytester):
    figure1.write(pytester.path)
    entries = "".join(f'{name} = "{column}"\n' for name, column in READ.items())
    (pytester.path / "h.toml").write_text(entries + '[[release]]\nfile = "D1.csv"\n[[release]]\nfile = "D2.csv"\n')
    (pytester.path / "policy.toml").write_text("[block]\ncertain = 0\n")
    (pytester.path / "soft.toml").write_text("[block]\ncertain = 3\n")
    pytester.makepyfile(
        """
        def test_blocked(release_gate):
            release_gate("h.toml")

        def test_fine(release_gate):
            assert release_gate("h.toml", policy="soft.toml").verdict == "pass"
        """
    )
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*NotReleasableError: block: 3 persons are certain; the policy allows nobody.*"])
    done = pytester.runpytest_subprocess("-o", "showthrough_policy=soft.toml", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=2)


def test_the_gate_stands_wherever_pytest_is_started(pytester):
    figure1.write(pytester.path)
    (pytester.path / "pytest.ini").write_text("[pytest]\n")
    (pytester.path / "policy.toml").write_text("[block]\ncertain = 0\n")
    (pytester.path / "soft.toml").write_text("[block]\ncertain = 3\n")
    home = pytester.mkdir("deep")
    (home / "test_it.py").write_text(
        f"READ = {READ!r}\n\n"
        "def test_fine(release_gate):\n"
        "    release_gate('D1.csv', 'D2.csv', policy='soft.toml', read=READ)\n\n"
        "def test_blocked(release_gate):\n"
        "    release_gate('D1.csv', 'D2.csv', read=READ)\n"
    )
    for start in (pytester.path, home):
        os.chdir(start)
        done = pytester.runpytest_subprocess("-p", "no:cacheprovider", str(home))
        done.assert_outcomes(passed=1, failed=1)
        told = done.stdout.str()
        assert "NotReleasableError: block: 3 persons are certain" in told
        assert "plugin.py" not in told  # the failure stands at the gate, not inside of it
        assert "releasable.py" not in told
