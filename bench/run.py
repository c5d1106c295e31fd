#!/usr/bin/env python3
"""Times calve against its peers on whole commands, alternating, and prints the median ratio of paired runs.

    bench/run.py [--calve build/release/calve] [--rows 1000000] [--rounds 5]

Every case runs in a process of its own: open, read, write, exit. One table a run names the machine, the commit and the command. Peers:
pyarrow (libparquet) and DuckDB, from the .venv, with as many threads as calve. Data is generated under build/bench, once.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/bench"

GENERATE = """
import random, sys, pyarrow as pa, pyarrow.parquet as pq
rows = int(sys.argv[1]); out = sys.argv[2]
random.seed(42)
ids = range(rows)
pq.write_table(pa.table({
    "id": pa.array(ids, pa.int64()), "key": [random.randrange(1 << 40) for _ in ids], "price": [random.random() for _ in ids],
    "flag": [f"flag {i % 9}" for i in ids], "text": [f"text number {i}" for i in ids],
    "day": pa.array([i % 4000 for i in ids], pa.int32()).cast(pa.date32()), "some": [None if i % 10 == 0 else i for i in ids],
}), out, compression="zstd", row_group_size=rows // 4)
"""
PYARROW_SCAN = """
import sys, pyarrow as pa, pyarrow.parquet as pq
pa.set_cpu_count(int(sys.argv[3]))
file = pq.ParquetFile(sys.argv[1])
with pa.OSFile(sys.argv[2], "wb") as out, pa.ipc.new_file(out, file.schema_arrow) as writer:
    for batch in file.iter_batches(65536): writer.write_batch(batch)
"""
PYARROW_COPY = """
import sys, pyarrow as pa, pyarrow.parquet as pq
pa.set_cpu_count(int(sys.argv[3]))
file = pq.ParquetFile(sys.argv[1])
with pq.ParquetWriter(sys.argv[2], file.schema_arrow, compression="zstd") as writer:
    for batch in file.iter_batches(1 << 20): writer.write_batch(batch)
"""
DUCKDB_COPY = """
import sys, duckdb
duckdb.execute(f"SET threads = {sys.argv[3]}")
duckdb.execute(f"COPY (FROM '{sys.argv[1]}') TO '{sys.argv[2]}' (FORMAT parquet, COMPRESSION zstd)")
"""


def seconds(command):
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calve", default=str(ROOT / "build/release/calve"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    source = FOLDER / f"rows-{arguments.rows}.parquet"
    if not source.exists():
        subprocess.run([sys.executable, "-c", GENERATE, str(arguments.rows), str(source)], check=True)

    def python(code, out):
        return [sys.executable, "-c", code, str(source), str(out), str(arguments.threads)]

    def calve(out):
        return [arguments.calve, "scan", str(source), "--to", str(out), "--force", "--quiet", "--threads", str(arguments.threads)]

    cases = {
        "Parquet to an Arrow file": (calve(FOLDER / "out.arrow"), {"pyarrow": python(PYARROW_SCAN, FOLDER / "peer.arrow")}),
        "Parquet to Parquet, zstd": (calve(FOLDER / "out.parquet"), {"pyarrow": python(PYARROW_COPY, FOLDER / "peer.parquet"),
                                                                     "DuckDB": python(DUCKDB_COPY, FOLDER / "peer.parquet")}),
    }
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    print(f"bench/run.py --rows {arguments.rows} --threads {arguments.threads}, commit {commit}, {os.cpu_count()} cores, "
          f"{platform.machine()}; whole processes, {arguments.rounds} alternating rounds")
    print("| case | peer | calve, s | peer, s | peer / calve, median of pairs |\n|---|---|---|---|---|")
    for case, (ours, peers) in cases.items():
        for peer, theirs in peers.items():
            seconds(ours), seconds(theirs)
            pairs = [(seconds(ours), seconds(theirs)) for _ in range(arguments.rounds)]
            ratio = statistics.median(b / a for a, b in pairs)
            print(f"| {case} | {peer} | {statistics.median(a for a, _ in pairs):.3f} | {statistics.median(b for _, b in pairs):.3f} "
                  f"| {ratio:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
