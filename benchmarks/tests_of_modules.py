"""Which tests a mutant of a module must pass: those of the module, the quickest first.

A mutant that survives costs all of them, so a module gets the few test files that speak of it, not its whole room.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path("src") / "showthrough"

ROOMS: dict[str, tuple[str, ...]] = {
    "inference": ("tests/inference", "tests/auditing", "tests/register/test_register.py"),
    "policy": ("tests/policy", "tests/republishing/test_guarded.py"),
    "republishing": ("tests/republishing",),
}
INFERENCE: dict[str, tuple[str, ...]] = {
    "attribution": ("figure1", "attribution_of_split_ids", "posterior_face", "increments"),
    "bounds": ("figure1", "located", "posterior_face", "bounds_in_processes", "attacked_answers"),
    "certificate": ("ends_of_certificates", "figure1", "checker"),
    "checked_answer": ("checked_seats", "checker"),
    "checker": ("checked_seats", "checker"),
    "closing": ("figure1", "remaining", "seats", "contradictions"),
    "directions": ("figure1", "recession"),
    "explain": ("figure1", "contradictions", "proofs", "proofs_of_rows", "narration"),
    "face": ("figure1", "rows_before_a_step", "reduce", "contradictions", "proofs_of_rows", "increments"),
    "facts": ("figure1", "posterior_face", "whole_values"),
    "flow": ("figure1", "degenerate", "contradictions", "seats"),
    "graphs": ("graphs", "figure1", "contradictions", "located"),
    "history": ("figure1", "blanks", "degenerate", "located", "posterior_face", "contradictions"),
    "infer": ("figure1", "refusals", "posterior_face", "increments"),
    "integral": ("whole_values", "attacked_answers"),
    "islands": ("figure1", "islands", "remaining", "increments"),
    "lookup": ("figure1", "located", "seats", "contradictions"),
    "narrate": ("figure1", "contradictions", "proofs_of_rows", "narration"),
    "newton": ("figure1", "degenerate", "seats", "passes"),
    "pairs": ("figure1", "posterior_face", "located"),
    "passes": ("figure1", "passes", "seats"),
    "patch": ("figure1", "degenerate", "recession"),
    "places": ("figure1", "located", "contradictions", "seats", "increments"),
    "posterior": ("figure1", "posterior_face", "located"),
    "problem": ("figure1", "reduce", "located", "contradictions", "seats"),
    "proof": ("figure1", "proof_check_rows", "proofs", "forgery"),
    "proof_check": ("proof_check_rows", "forgery", "proofs", "proof_check_size", "proof_check_random"),
    "recession": ("figure1", "degenerate", "recession"),
    "reduce": ("figure1", "reduce", "located", "seats"),
    "remaining": ("figure1", "candidates_in_parts", "remaining", "located"),
    "rows": ("rows", "seats", "reduce"),
    "run": ("figure1", "degenerate", "remaining", "located", "contradictions"),
    "seated": ("located", "candidates_in_parts", "seats"),
    "solved": ("figure1", "posterior_face", "located", "contradictions"),
    "support": ("figure1", "contradictions", "whole_values"),
    "weighing": ("figure1", "seats", "proofs_of_rows"),
    "worlds": ("located", "whole_values"),
}
REPUBLISHING: dict[str, tuple[str, ...]] = {
    "anonymize": ("together", "past", "compare"),
    "drafts": ("drafts",),
    "figures": ("together", "compare"),
    "guarded": ("price_and_exposed", "guarded"),
    "history_guided": ("history_guided",),
    "m_invariance": ("m_invariance",),
    "past": ("past",),
    "people": ("price_and_exposed", "guarded"),
    "price": ("price_and_exposed", "compare"),
    "proposal": ("drafts", "together", "past"),
    "repairs": ("price_and_exposed", "guarded"),
    "republish": ("together", "past", "compare", "price_and_exposed"),
    "search": ("price_and_exposed", "cancelling", "guarded"),
    "split": ("m_invariance",),
    "strategies": ("past", "compare"),
    "tied": ("drafts", "together", "past"),
    "together": ("together",),
}
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "inference/draft.py": ("tests/republishing/test_drafts.py",),
    "inference/increment.py": ("tests/inference/test_increments.py", "tests/republishing/test_drafts.py"),
    "inference/nearness.py": ("tests/policy/test_policy.py", "tests/inference/test_posterior_face.py"),
    "republishing/compare.py": ("tests/republishing/test_compare.py", "tests/cli/test_republish.py"),
    "republishing/located_view.py": ("tests/cli/test_republish.py", "tests/republishing/test_compare.py"),
}


def _files(room: str, themes: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {
        f"{room}/{name}.py": tuple(f"tests/{room}/test_{test}.py" for test in tests) for name, tests in themes.items()
    }


TESTS = {**ROOMS, **_files("inference", INFERENCE), **_files("republishing", REPUBLISHING), **ELSEWHERE}


def fitting_tests(path: str) -> tuple[str, ...]:
    """The tests of a file of the package; its own room's where the table has none."""
    inside = Path(path).relative_to(PACKAGE).as_posix()
    fitting = [entry for entry in TESTS if inside == entry or inside.startswith(f"{entry}/")]
    return TESTS[max(fitting, key=len)] if fitting else (f"tests/{inside.partition('/')[0]}",)
