#!/usr/bin/env python3
"""Times decoding shuffle blocks: calve against arrow-rs, Comet's method and Arrow C++, alternating, and prints a table.

    bench/shuffle.py [--shapes 5x64,50x8192-dict] [--codecs none,lz4,zstd] [--modes validated,trusted] [--rounds 9]
                     [--blocks-bytes 8000000] [--json out.json] [--update-readme]

Shapes are columns x rows, Int64 and Utf8 alternating, without nulls; -dict: the strings are dictionaries of 64. Figures are microseconds of CPU
time of one thread a block, medians of alternating rounds; every reader is a process that does a round when told to, over the same file, which is
mapped or in memory. All must find the same checksum over all values.

stream: arrow-rs's StreamReader a block. cached: Comet's method (schemas by the bytes of their message, one exactly sized copy of the body,
RecordBatchDecoder) on arrow-rs. Arrow: Arrow C++'s RecordBatchStreamReader, and ValidateFull in validated mode; it copies no body, and hands
out buffers that are less aligned than their types want, so it is compared with calve where that does the same (as they lie; else calve copies
those buffers, as the others do). codec: decompression alone. pass: one pass over the decoded offsets and strings.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import table_parts as tables
from readers import ROOT, build_arrow_rs

SHAPES = ["5x64", "5x512", "5x8192", "50x64", "50x512", "50x8192", "5x64-dict", "5x8192-dict"]
PEERS = ["stream", "cached", "Arrow"]
BEGIN, END = "<!-- make bench-shuffle: begin -->", "<!-- make bench-shuffle: end -->"


def parse():
    words = lambda text: text.split(",")  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--cargo-target", type=Path, default=Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "build/peers")))
    parser.add_argument("--shapes", type=words, default=SHAPES)
    parser.add_argument("--codecs", type=words, default=["none", "lz4", "zstd"])
    parser.add_argument("--modes", type=words, default=["validated", "trusted"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--blocks-bytes", type=int, default=8_000_000, help="of the values of a file, about")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--update-readme", action="store_true")
    options = parser.parse_args()
    options.cpu_time = True
    return options


class Process:
    """A program with its arguments, waiting for rounds."""

    def __init__(self, command):
        self.times = []
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.facts = dict(word.split("=") for word in self.line().split())

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args}: exit code {self.process.wait()}")
        return line

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.times.append(float(self.line().split("=")[1]))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def make(options, shape, codec):
    """The data file and its index, made once."""
    folder = ROOT / "build/bench/shuffle"
    folder.mkdir(parents=True, exist_ok=True)
    columns, rows = map(int, shape.removesuffix("-dict").split("x"))
    blocks = max(4, min(2000, options.blocks_bytes // (columns * rows * 10)))
    data = folder / f"{shape}-{codec}-{blocks}.data"
    index = data.with_suffix(".index")
    if not index.exists():
        program = options.build / "bench/calve_peer_shuffle"
        subprocess.run([program, "--make", shape, "--codec", codec, "--blocks", str(blocks), data, index], check=True)
    return [data, index]


def arms_of(codec, mode):
    calve = {"calve": [], "kept": ["--keep"], "C data": ["--reader", "c-data"], "Arrow": ["--reader", "arrow"], "pass": ["--reader", "pass"]}
    if codec != "none":
        calve["codec"] = ["--reader", "codec"]
    else:
        calve |= {"as they lie": ["--as-they-lie"], "cold": ["--cold"], "schema": ["--reader", "schema"]}
    trusted = ["--trusted"] if mode == "trusted" else []
    arms = {name: ("calve_peer_shuffle", words + trusted) for name, words in calve.items()}
    arms |= {name: ("arrow_rs_peer_shuffle", ["--reader", name, *trusted]) for name in ["stream", "cached"]}
    return arms


def row(options, shape, codec, mode):
    files = make(options, shape, codec)
    programs = {"calve_peer_shuffle": options.build / "bench/calve_peer_shuffle",
                "arrow_rs_peer_shuffle": options.cargo_target / "release/arrow_rs_peer_shuffle"}
    arms = {name: Process([programs[program], "--serve", *words, *files]) for name, (program, words) in arms_of(codec, mode).items()}
    order = list(arms.values())
    for number in range(options.rounds):
        for arm in order[number % len(order):] + order[:number % len(order)]:
            arm.round()
    for arm in order:
        arm.close()
    sums = {arms[name].facts["checksum"] for name in ["calve", *PEERS]}
    return {"shape": shape, "codec": codec, "mode": mode, "differs": len(sums) > 1, "times": {name: arm.times for name, arm in arms.items()},
            "allocations": {name: float(arm.facts["allocations"]) for name, arm in arms.items()}}


def compared(row):
    """The peer that comes closest to calve at the same service, and its time to calve's."""
    ours = lambda peer: "as they lie" if peer == "Arrow" and "as they lie" in row["times"] else "calve"  # noqa: E731
    return min((tables.paired(row, peer, ours(peer)), peer) for peer in PEERS)


def cells(row):
    def time(name):
        value = tables.median(row, name)
        return "-" if value is None else f"{value:.2f}" if value < 100 else f"{value:.0f}"

    ratio, peer = compared(row)
    counted = lambda name: f"{time(name)} / {row['allocations'][name]:.0f}"  # noqa: E731
    return [row["shape"], row["codec"], row["mode"], f"**{time('calve')}** / {row['allocations']['calve']:.1f}", time("as they lie"), counted("kept"),
            counted("C data"), *[counted(name) for name in PEERS], f"{tables.times(tables.paired(row, 'cached', 'calve'))}",
            f"{tables.times(ratio)} ({peer})", time("codec"), time("pass"), time("cold"), time("schema")]


def table_of(rows):
    head = ["shape", "codec", "mode", "calve", "as they lie", "all kept", "C data", *PEERS, "cached / calve", "fastest peer / calve", "codec",
            "pass", "calve, cold", "schema parse"]
    return tables.markdown(head, [cells(row) for row in rows])


def summary_of(rows):
    slower = [f"{row['shape']} {row['codec']} {row['mode']}" for row in rows if compared(row)[0] < 1]
    mean = tables.geometric_mean([compared(row)[0] for row in rows])
    return (f"Fastest peer / calve: geometric mean {mean:.2f} over {len(rows)} cases; slower than a peer in {len(slower)}"
            + (f" ({'; '.join(slower)})." if slower else "."))


def about(options):
    text = tables.about(options, "bench/shuffle.py")
    return text.replace("Milliseconds of CPU time", "Microseconds of CPU time and allocations a block")


def main():
    options = parse()
    failure = build_arrow_rs(options.cargo_target)
    if failure:
        sys.exit(failure)
    rows = []
    for codec in options.codecs:
        for shape in options.shapes:
            for mode in options.modes:
                rows.append(row(options, shape, codec, mode))
                print("  ".join(cells(rows[-1])), file=sys.stderr)
    head = about(options)
    tables.publish(options, head, f"{head}\n\n{table_of(rows)}\n\n- {summary_of(rows)}", rows, BEGIN, END)
    return 1 if any(row["differs"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
