#!/usr/bin/env python3
"""Times writing a shuffle: calve against plain Arrow C++ (take and one IPC stream a partition) and Polars's partitioned IPC write.

    bench/shuffle_write.py [--rows 5000000] [--partitions 200] [--rounds 3] [--codecs none,lz4,zstd] [--budgets 48,512]
                           [--folder /tmp/calve-shuffle] [--json out.json] [--update-readme]

One thread. The figures are seconds of CPU time, without what making the input takes; the arms alternate, each round a process of its
own, and a ratio is the median of the ratios of paired rounds. Polars has no budget, its rows are in memory before. `codec` is the
codec alone over calve's uncompressed blocks. What is written is synced by calve and Polars. "calve grew by" is the peak of the
process's memory over what it held before. ARROW_DEFAULT_MEMORY_POOL=system, so that memory is what the budget says and not what an
allocator keeps.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import table_parts as tables
from readers import ROOT

PEERS = ["Arrow C++", "Polars"]
BEGIN, END = "<!-- make bench-shuffle-write: begin -->", "<!-- make bench-shuffle-write: end -->"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build/release", type=Path)
    parser.add_argument("--rows", default=5_000_000, type=int)
    parser.add_argument("--partitions", default=200, type=int)
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--codecs", default=["none", "lz4", "zstd"], type=lambda text: text.split(","))
    parser.add_argument("--budgets", default=[48, 512], type=lambda text: [int(word) for word in text.split(",")], help="in MB")
    parser.add_argument("--folder", default="/tmp/calve-shuffle", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--update-readme", action="store_true")
    options = parser.parse_args()
    options.cpu_time = True
    return options


def run(command):
    environment = dict(os.environ, ARROW_DEFAULT_MEMORY_POOL="system", POLARS_MAX_THREADS="1")
    finished = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {finished.stderr}")
    return json.loads(finished.stdout) if finished.stdout else None


def command_of(options, arm, codec, budget):
    if arm == "Polars":
        return [sys.executable, ROOT / "bench/peers/polars_shuffle_write.py", options.folder / "input/input.arrow", codec, options.partitions,
                1, options.folder / "out"]
    arms = {"calve": "calve", "calve, uncompressed": "calve", "Arrow C++": "arrow", "codec": "codec", "input": "input"}
    return [options.build / "bench/calve_peer_shuffle_write", "--arm", arms[arm], "--codec", "none" if arm == "calve, uncompressed" else codec,
            "--budget", budget * 1_000_000, "--rows", options.rows, "--partitions", options.partitions, "--rounds", 1, "--to",
            options.folder / ("input" if arm == "input" else "out")]


def seconds_of(arm, said):
    """Without making the input, which Polars and the codec have before."""
    return said["cpu_seconds"] - (said["input_cpu_seconds"] if arm not in ("Polars", "codec") else 0)


def row(options, codec, budget):
    arms = ["calve", *PEERS] + (["calve, uncompressed", "codec"] if codec != "none" else [])
    times, said = {arm: [] for arm in arms}, {}
    for number in range(options.rounds):
        for arm in arms[number % len(arms):] + arms[:number % len(arms)]:
            said[arm] = run(command_of(options, arm, codec, budget))
            times[arm].append(seconds_of(arm, said[arm]))
    return {"codec": codec, "budget": budget, "times": times, "grown_bytes": said["calve"]["grown_bytes"],
            "bytes": {arm: said[arm]["bytes"] for arm in ["calve", *PEERS]}}


def ratio_of(some):
    """The fastest peer's time to calve's."""
    return tables.paired(some, tables.fastest(some, PEERS), "calve")


def over_codec(some):
    """calve's time to the codec's alone and calve's own without codec."""
    if "codec" not in some["times"]:
        return None
    both = [codec + plain for codec, plain in zip(some["times"]["codec"], some["times"]["calve, uncompressed"])]
    return tables.paired({"times": {"calve": some["times"]["calve"], "both": both}}, "calve", "both")


def cells(some):
    fastest = tables.fastest(some, PEERS)
    peers = [f"**{tables.median(some, peer):.2f}**" if peer == fastest else f"{tables.median(some, peer):.2f}" for peer in PEERS]
    codec = tables.median(some, "codec")
    return [some["codec"], f"{some['budget']} MB", f"{tables.median(some, 'calve'):.2f}", *peers, tables.times(ratio_of(some)),
            "-" if codec is None else f"{codec:.2f}", tables.times(over_codec(some)), f"{some['grown_bytes'] / 1e6:.0f} MB",
            ", ".join(f"{size / 1e6:.0f}" for size in some["bytes"].values()) + " MB"]


def table_of(rows):
    head = ["codec", "budget", "calve", *PEERS, "fastest peer / calve", "codec alone", "calve / (codec + uncompressed)", "calve grew by",
            "bytes: calve, Arrow C++, Polars"]
    return tables.markdown(head, [cells(some) for some in rows])


def about(options):
    return tables.about(options, "bench/shuffle_write.py").replace("Milliseconds of CPU time", (
        f"{options.rows:,} rows of 10 columns, {options.partitions} partitions. Seconds of CPU time"))


def main():
    options = parse()
    run(command_of(options, "input", "none", 512))
    rows = []
    for codec in options.codecs:
        for budget in options.budgets:
            rows.append(row(options, codec, budget))
            print("  ".join(cells(rows[-1])), file=sys.stderr)
    head = about(options)
    tables.publish(options, head, f"{head}\n\n{table_of(rows)}", rows, BEGIN, END)
    shutil.rmtree(options.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
