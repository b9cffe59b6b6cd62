"""Random histories as files: a release folder each, and the register beside them."""

import polars as pl
from benchmarks.version_histories import history
from benchmarks.version_worker import release

from showthrough.errors import ShowthroughError
from showthrough.requests.audit import AuditRequest


def request_of(seed, home, *, only_ids=False, **more):
    """The request to audit the history of a seed from files under a folder; None if it is not told by files alone."""
    data = history(seed)
    ids = all(r["kind"] == "ids" and not r["counterfeits"] for r in data["releases"])
    if data["membership"] or data["domain"] or (only_ids and not ids):
        return None
    entries = []
    for k, told in enumerate(data["releases"]):
        folder = home / told["name"]
        release(told).save(folder, format=("csv", "parquet")[k % 2])
        entries.append({"file": str(folder)})
    asked = {"release": entries, "changed": data["changed"], "engine": "spark", **more}
    if data["register"] is not None:
        own = data["register"]
        presence = {
            f"in_{name}": [{True: "yes", False: "no"}.get(p) for p in here] for name, here in own["presence"].items()
        }
        schema = dict.fromkeys(presence, pl.String)
        frame = pl.DataFrame({c: own[c] for c in ("id", "age", "sex")} | presence, schema_overrides=schema)
        frame.write_csv(home / "people.csv")
        asked["register"] = {"file": str(home / "people.csv"), "id": "id"}
    return AuditRequest.from_dict(asked)


def told(run, request):
    """What a use case says of a request: figures and page without how they were made, or the kind of refusal."""
    try:
        found = run(request).with_page()
    except ShowthroughError as refusal:
        return type(refusal), None
    page = [] if found.page is None else [line for line in found.page.splitlines() if "Inference took" not in line]
    return found.audit, page
