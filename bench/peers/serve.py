"""What the Python peers share: the arguments of calve_peer_read, the untimed round with its checksum, the timed rounds.

A peer calls main(read, to_arrow). read(options) yields the peer's own batches; to_arrow(batch) gives pyarrow record batches of one.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent.parent


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--columns", type=lambda text: text.split(","))
    parser.add_argument("--batch-rows", default="65536")
    parser.add_argument("--strings", choices=["utf8", "view", "dictionary"], default="utf8")
    parser.add_argument("--filter", help="COLUMN<INTEGER: only rows for which it holds")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bench", help="where batch_checksum is")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    if options.filter:
        column, _, bound = options.filter.partition("<")
        options.filter = (column, int(bound))
    return options


def checksum_of(options, read, to_arrow):
    """The line of batch_checksum over the peer's own output."""
    with subprocess.Popen([options.programs / "batch_checksum"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False) as program:
        writer = None
        for batch in read(options):
            for part in to_arrow(batch):
                writer = writer or pa.ipc.new_stream(program.stdin, part.schema)
                writer.write_batch(part)
        writer.close()
        program.stdin.close()
        return program.stdout.read().decode().strip()


def timed_round(options, read):
    kept = []
    started = time.perf_counter()
    for batch in read(options):
        if options.keep:
            kept.append(batch)
    batch = None
    return (time.perf_counter() - started) * 1e3


def main(read, to_arrow):
    options = parse()
    line = checksum_of(options, read, to_arrow)
    if not options.serve:
        times = [timed_round(options, read) for _ in range(options.rounds)]
        print(f"{line} median_ms={statistics.median(times):.3f}")
        return
    print(line, flush=True)
    for _ in sys.stdin:
        print(f"ms={timed_round(options, read):.4f}", flush=True)
