"""The options that bench/read.py and bench/write.py share."""

import argparse
import os
from pathlib import Path

from readers import ROOT


def words(text):
    return [word.strip() for word in text.split(",")]


def parser_of(description, peers):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--cargo-target", type=Path, default=Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "build/peers")))
    parser.add_argument("--cases", type=words, default=[""])
    parser.add_argument("--peers", type=words, default=peers)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2])
    parser.add_argument("--cpu-time", action="store_true", help="time by what the CPU did, for a machine that is busy with other work")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--update-readme", action="store_true")
    return parser


def parse(parser):
    options = parser.parse_args()
    if options.cpu_time and options.threads != [1]:
        parser.error("--cpu-time says something of one thread only: add --threads 1")
    return options
