#!/usr/bin/env python3
"""Random tables written to Parquet and read back: by pyarrow, arrow-rs and DuckDB for calve, and by calve for them.

    tests/differential/run.py [--files 2000] [--seed S] [--writers pyarrow,arrow-rs,duckdb,calve] [--only WRITER:INDEX]

Each case is a table (random columns nested to a depth of four, few or many nulls) and a file that one of the writers made of it with
random properties: page and row group sizes, encodings, codecs, versions, dictionaries, page index, CRCs. calve must read the
writer's own values: whole, in small batches, one column, one row group. A file of calve must break no rule of the format (calve verify)
and be what it was to pyarrow, arrow-rs and calve, and a fourth of them, of types that they have, to DuckDB and Polars. The seed is
printed; --seed and --only repeat a case. Files of failing cases stay in --keep. arrow-rs needs cargo, and is left out with that
reason where it is missing.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import peer_readers
import writers

ROOT = Path(__file__).resolve().parents[2]
BATCH = 50


def build_rust():
    """The program that writes with arrow-rs, or None and why there is none."""
    if shutil.which("cargo") is None:
        return None, "cargo is not installed"
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "build/cargo")
    command = ["cargo", "build", "--release", "--quiet", "--manifest-path", str(ROOT / "tests/differential/rust/Cargo.toml")]
    built = subprocess.run(command, env=dict(os.environ, CARGO_TARGET_DIR=str(target)), capture_output=True, text=True)
    if built.returncode != 0:
        return None, "cargo build failed: " + (built.stderr.strip().splitlines() or ["no output"])[-1]
    return target / "release/differential_writer", None


def run_tool(arguments, lines):
    """What a program answers to `lines`, a line each."""
    process = subprocess.run(list(map(str, arguments)), input="".join(line + "\n" for line in lines), capture_output=True, text=True)
    answers = process.stdout.splitlines()
    if process.returncode != 0 or len(answers) not in (0, len(lines)):
        at = lines[len(answers)] if len(answers) < len(lines) else ""
        raise RuntimeError(f"{Path(arguments[0]).name} ended with {process.returncode} {process.stderr.strip()} at: {at}")
    return answers


def answers_of(arguments, lines):
    """A calve_differential's answers without the index. What kills the program is its own answer, and the rest goes on."""
    answers = []
    while len(answers) < len(lines):
        rest = lines[len(answers):]
        process = subprocess.run(list(map(str, arguments)), input="".join(line + "\n" for line in rest), capture_output=True,
                                 text=True, errors="replace")
        answers += [line.split("\t", 1)[1] for line in process.stdout.splitlines()]
        if process.returncode != 0:
            answers.append(f"the comparison ended with {process.returncode}: {process.stderr[-500:]}")
    return answers[:len(lines)]


class Batch:
    """Some cases of one writer, in a folder of their own."""

    def __init__(self, arguments, rust, writer, indices):
        self.tool = arguments.build / "tests/calve_differential"
        self.arguments, self.rust, self.writer, self.indices = arguments, rust, writer, indices

    def run(self):
        """The failures: pairs of the case and what is wrong."""
        with tempfile.TemporaryDirectory(prefix="calve-differential-") as folder:
            self.folder = Path(folder)
            run_tool([self.tool, "make", self.arguments.seed, self.writer, folder], list(map(str, self.indices)))
            told = self.write()
            lines = ["\t".join([str(i), str(self.table(i)), str(self.file(i)), writers.NULLABILITY[self.writer]]) for i in self.indices]
            failures = []
            for index, answer in zip(self.indices, self.compare(lines)):
                if answer != "ok":
                    failures.append((f"{self.writer}:{index}", answer, told[index]))
                    self.keep(index)
            return failures

    def compare(self, lines):
        return answers_of([self.tool, "compare"], lines)

    def table(self, index):
        return self.folder / f"{index}.arrow"

    def file(self, index):
        return self.folder / f"{index}.parquet"

    def case_seed(self, index):
        return random.Random(f"{self.arguments.seed}/{self.writer}/{index}").getrandbits(63)

    def write(self):
        """Writes the files; the properties of each, by index."""
        if self.writer == "arrow-rs":
            lines = [f"{self.table(i)}\t{self.file(i)}\t{self.case_seed(i)}" for i in self.indices]
            told = dict(zip(self.indices, run_tool([self.rust], lines)))
            for index, answer in told.items():
                if not answer.startswith("ok "):
                    raise RuntimeError(f"arrow-rs:{index} could not be written: {answer}")
            return told
        write = {"pyarrow": writers.write_pyarrow, "duckdb": writers.write_duckdb}[self.writer]
        return {i: write(self.table(i), self.file(i), random.Random(self.case_seed(i))) for i in self.indices}

    def keep(self, index):
        self.arguments.keep.mkdir(parents=True, exist_ok=True)
        for path in filter(Path.exists, (self.table(index), self.file(index))):
            shutil.copy(path, self.arguments.keep / f"{self.writer}-{path.name}")


class WrittenBatch(Batch):
    """Some files of calve, and what others read of them."""

    def run(self):
        with tempfile.TemporaryDirectory(prefix="calve-differential-") as folder:
            self.folder = Path(folder)
            cases = [self.case(index, answer) for index, answer in zip(self.indices, self.write())]
            wrong = {index: answer for index, answer, _, _ in cases if answer != "ok"}
            for index, reason in self.differences([(index, read_by.split()) for index, answer, read_by, _ in cases if answer == "ok"]):
                wrong.setdefault(index, reason)
            for index in wrong:
                self.keep(index)
            return [(f"calve:{index}", wrong[index], told) for index, _, _, told in cases if index in wrong]

    @staticmethod
    def case(index, answer):
        """(index, what is wrong, who reads it, the options)"""
        words = answer.split("\t")
        return (index, *words) if len(words) == 3 else (index, answer, "", "")

    def write(self):
        return answers_of([self.tool, "write", self.arguments.seed, self.folder], list(map(str, self.indices)))

    def differences(self, cases):
        """(index, what is wrong) of what each reader makes of each file."""
        jobs = [(index, reader) for index, read_by in cases for reader in read_by if self.rust or reader != "arrow-rs"]
        failed = self.read(jobs)
        read = [job for job in jobs if job not in failed]
        lines = ["\t".join([str(index), str(self.got(index, reader)), str(self.table(index)), peer_readers.FORM[reader]]) for index, reader in read]
        failed.update((job, answer) for job, answer in zip(read, answers_of([self.tool, "same"], lines)) if answer != "ok")
        return [(index, f"{reader}: {reason}") for (index, reader), reason in failed.items()]

    def read(self, jobs):
        """Leaves what is read in files; why what is not, by job."""
        rust = [job for job in jobs if job[1] == "arrow-rs"]
        lines = [f"read\t{self.file(index)}\t{self.got(index, reader)}" for index, reader in rust]
        answers = run_tool([self.rust], lines) if lines else []
        failed = {job: answer for job, answer in zip(rust, answers) if not answer.startswith("ok")}
        for index, reader in jobs:
            if reader in peer_readers.READ:
                reason = peer_readers.read(reader, self.file(index), self.got(index, reader))
                if reason is not None:
                    failed[index, reader] = reason
        return failed

    def got(self, index, reader):
        return self.folder / f"{index}-{reader}.arrow"


def run_batch(job):
    """A process of its own for each batch: the writers' libraries have threads and memory of their own."""
    return (WrittenBatch if job[2] == "calve" else Batch)(*job).run()


def batches_of(arguments, chosen):
    """(writer, indices) for `files` cases dealt out to the chosen writers."""
    if arguments.only:
        writer, index = arguments.only.split(":")
        return [(writer, [int(index)])]
    batches = []
    for number, writer in enumerate(chosen):
        count = arguments.files // len(chosen) + (number < arguments.files % len(chosen))
        batches += [(writer, list(range(first, min(first + BATCH, count)))) for first in range(0, count, BATCH)]
    return batches


def run(arguments):
    """(number of cases, failures); prints the seed and which writers there are."""
    chosen = arguments.only.split(":")[:1] if arguments.only else arguments.writers.split(",")
    rust = None
    if "arrow-rs" in chosen or "calve" in chosen:
        rust, reason = build_rust()
        if rust is None:
            print(f"without arrow-rs: {reason}")
            chosen = [writer for writer in chosen if writer != "arrow-rs"]
    print(f"seed {arguments.seed}, {arguments.files} files by {', '.join(chosen)}", flush=True)
    batches = batches_of(arguments, chosen)
    failures = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(lambda batch: run_apart(arguments, rust, *batch), batches):
            failures += found
    return sum(len(indices) for _, indices in batches), failures


def run_apart(arguments, rust, writer, indices):
    """Runs a batch in another Python, so that batches do not share one interpreter."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(run_batch, ((arguments, rust, writer, indices),))


def described(arguments, failure):
    """A failure for people: what differs, how the file was written, how to repeat it."""
    case, reason, told = failure
    return (f"FAILED {case}: {reason[:2000]}\n  written with {told}\n"
            f"  repeat: tests/differential/run.py --seed {arguments.seed} --only {case}   files in {arguments.keep}")


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--writers", default="pyarrow,arrow-rs,duckdb,calve")
    parser.add_argument("--only", metavar="WRITER:INDEX", help="this case alone")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "calve-differential-failures")
    return parser.parse_args(arguments)


def main():
    arguments = parse()
    cases, failures = run(arguments)
    for failure in failures:
        print(described(arguments, failure))
    print(f"{cases - len(failures)} of {cases} files read as they were written")
    return 1 if failures or cases == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
