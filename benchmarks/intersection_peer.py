"""AnonyPyx's attackers, in their own environment: python benchmarks/intersection_peer.py ATTACKER FOLDER

FOLDER holds table1.csv, table2.csv (quasi-identifiers, value, group) and targets.csv (quasi-identifiers); the first
column is a number. ATTACKER is intersection or trajectory. Prints one JSON line: seconds of the attack alone and the
values that are left to each target. Needs nothing of showthrough.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Generalise both tables by their groups, attack, print."""
    import pandas as pd
    from anonypyx.attackers import IntersectionAttacker, TrajectoryAttacker
    from anonypyx.generalisation.machinereadable import MachineReadable

    name, folder = sys.argv[1], Path(sys.argv[2])
    tables = [pd.read_csv(folder / f"table{k}.csv") for k in (1, 2)]
    targets = pd.read_csv(folder / "targets.csv")
    quasi = list(targets.columns)
    every = pd.concat([*tables, targets])
    tables = [table.copy() for table in tables]
    for column in quasi[1:]:
        kinds = pd.CategoricalDtype(sorted(every[column].dropna().unique()))
        for frame in (*tables, targets):
            frame[column] = frame[column].astype(kinds)
    shown = tables[0].drop(columns="group")
    schema = MachineReadable.create_for_data(
        pd.concat([shown, tables[1].drop(columns="group")], ignore_index=True), quasi
    )
    releases = []
    for table in tables:
        parts = [own.index for _, own in table.groupby("group")]
        releases.append(schema.generalise(table.drop(columns="group"), parts))
    known = schema._preprocess(targets.copy())
    known["ID"] = range(len(known))
    people = list(range(len(known)))
    start = time.process_time()
    attacker = (
        IntersectionAttacker(known, quasi, "value", schema)
        if name == "intersection"
        else TrajectoryAttacker(known, quasi, schema)
    )
    for release in releases:
        attacker.observe(release, [*quasi, "value"], people)
    attacker.finalise()
    left = [sorted(map(str, attacker.predict(one, "value"))) for one in people]
    print(json.dumps({"seconds": time.process_time() - start, "left": left}))


if __name__ == "__main__":
    main()
