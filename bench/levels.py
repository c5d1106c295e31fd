#!/usr/bin/env python3
"""Times definition levels alone, calve's against arrow-rs's, and prints a table. Fails when a stream of calve's is larger.

    bench/levels.py [--rounds 101] [--runs 3] [--build build/release] [--cargo-target build/peers]

A flat nullable column of 2^20 rows in one page, nulls scattered alike in both programs, which take turns. `asked` is the most that calve
may take: four times a memcpy of the bitmap without nulls or without values, eight times from 10 to 90 % of nulls, and 120 microseconds
at 1 and 99 %.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

from readers import ROOT, build_arrow_rs
from table_parts import markdown


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--cargo-target", type=Path, default=Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "build/peers")))
    return parser.parse_args()


def densities(command):
    """What a program says of each density: {null percent: {name: number}}."""
    lines = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout.splitlines()
    facts = [{name: float(value) for name, value in (word.split("=") for word in line.split())} for line in lines]
    return {int(fact.pop("null_percent")): fact for fact in facts}


def medians(runs):
    return {percent: {name: statistics.median(run[percent][name] for run in runs) for name in runs[0][percent]} for percent in runs[0]}


def asked(percent, copy_us):
    return 120 if percent in (1, 99) else copy_us * (4 if percent in (0, 100) else 8)


def row(percent, ours, theirs):
    limit = asked(percent, ours["copy_us"])
    slow, large = ours["levels_us"] > limit, ours["bytes"] > theirs["bytes"]
    cells = [f"{ours['copy_us']:.1f}", f"{ours['levels_us']:.1f}", f"{limit:.0f}", f"{theirs['materialize_us']:.1f}", f"{theirs['encode_us']:.1f}",
             f"{ours['bytes']:.0f}", f"{theirs['bytes']:.0f}"]
    cells[1] = f"**{cells[1]}**" if slow else cells[1]
    cells[5] = f"**{cells[5]}**" if large else cells[5]
    return [f"{percent} %", *cells], large


def main():
    options = parse()
    failure = build_arrow_rs(options.cargo_target)
    if failure:
        sys.exit(failure)
    ours, theirs = [], []
    for _ in range(options.runs):
        ours.append(densities([options.build / "bench/calve_bench_levels", "--rounds", options.rounds]))
        theirs.append(densities([options.cargo_target / "release/arrow_rs_peer_write", "--levels", "--rounds", max(3, options.rounds // 10)]))
    ours, theirs = medians(ours), medians(theirs)
    rows = [row(percent, ours[percent], theirs[percent]) for percent in ours]
    head = ["nulls", "memcpy", "calve", "asked", "arrow-rs: levels", "arrow-rs: encoding", "calve, bytes", "arrow-rs, bytes"]
    print(markdown(head, [cells for cells, _ in rows]))
    return 1 if any(large for _, large in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
