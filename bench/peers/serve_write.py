"""What the Python peers of bench/write.py share: the arguments of calve_peer_write, an untimed round into a file, timed rounds.

A peer calls main(prepare, write). prepare(batches, options) gives what it writes from, in its own memory; write(input, path, options)
writes it to a file.
"""

import argparse
import os
import statistics
import sys
import time

import pyarrow as pa


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--option", default="default")
    parser.add_argument("--out", required=True, help="every round writes here")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("file")
    return parser.parse_args()


def refuse(option, known):
    if option not in known:
        sys.exit(f"no option {option} here")


def timed_round(source, write, options):
    started = time.perf_counter()
    write(source, options.out, options)
    return (time.perf_counter() - started) * 1e3


def main(prepare, write):
    options = parse()
    table = pa.ipc.open_file(options.file).read_all()
    source = prepare(table, options)
    timed_round(source, write, options)
    line = f"rows={table.num_rows} input_bytes={table.nbytes} output_bytes={os.path.getsize(options.out)}"
    if not options.serve:
        times = [timed_round(source, write, options) for _ in range(options.rounds)]
        print(f"{line} median_ms={statistics.median(times):.3f}")
        return
    print(line, flush=True)
    for _ in sys.stdin:
        print(f"ms={timed_round(source, write, options):.4f}", flush=True)
