"""Times writing a shuffle: calve against plain Arrow C++ (take and one IPC stream a partition) and Polars's partitioned IPC write.

    bench/shuffle_write.py [--build build/release] [--rows 5000000] [--partitions 200] [--rounds 3] [--codecs none,lz4,zstd]
                           [--budgets 48,512] [--folder /tmp/calve-shuffle]

One thread. The figures are CPU seconds, without what making the input takes, medians of the rounds; the arms alternate. Polars has no
budget, its rows are in memory before. `codec` is the codec alone over calve's uncompressed blocks. What is written is synced by
calve and Polars. ARROW_DEFAULT_MEMORY_POOL=system, so that memory is what the budget says and not what an allocator keeps.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build/release", type=Path)
    parser.add_argument("--rows", default=5_000_000, type=int)
    parser.add_argument("--partitions", default=200, type=int)
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--codecs", default="none,lz4,zstd")
    parser.add_argument("--budgets", default="48,512", help="in MB")
    parser.add_argument("--folder", default="/tmp/calve-shuffle", type=Path)
    return parser.parse_args()


def run(command):
    environment = dict(os.environ, ARROW_DEFAULT_MEMORY_POOL="system", POLARS_MAX_THREADS="1")
    finished = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {finished.stderr}")
    return json.loads(finished.stdout) if finished.stdout else None


def native(options, arm, codec="none", budget=512):
    return run([options.build / "bench/calve_peer_shuffle_write", "--arm", arm, "--codec", codec, "--budget", budget * 1_000_000,
                "--rows", options.rows, "--partitions", options.partitions, "--rounds", options.rounds if arm != "input" else 1,
                "--to", options.folder / ("input" if arm == "input" else "out")])


def cpu(result):
    return result["cpu_seconds"] - (result["input_cpu_seconds"] if result["arm"] in ("calve", "arrow") else 0)


def main():
    options = parse()
    native(options, "input")
    print("| codec | budget | calve, s | arrow, s | polars, s | codec alone, s | fastest peer / calve | calve grew by | bytes: calve, arrow, polars |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for codec in options.codecs.split(","):
        polars = run([sys.executable, ROOT / "bench/peers/polars_shuffle_write.py", options.folder / "input/input.arrow", codec,
                      options.partitions, options.rounds, options.folder / "out"])
        alone = f"{cpu(native(options, 'codec', codec)):.2f}" if codec != "none" else "-"
        for budget in map(int, options.budgets.split(",")):
            calve, arrow = native(options, "calve", codec, budget), native(options, "arrow", codec, budget)
            fastest = min(cpu(arrow), cpu(polars))
            print(f"| {codec} | {budget} MB | {cpu(calve):.2f} | {cpu(arrow):.2f} | {cpu(polars):.2f} | {alone} | {fastest / cpu(calve):.2f} | "
                  f"{calve['grown_bytes'] / 1e6:.0f} MB | {calve['bytes'] / 1e6:.0f}, {arrow['bytes'] / 1e6:.0f}, {polars['bytes'] / 1e6:.0f} MB |",
                  flush=True)
    shutil.rmtree(options.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
