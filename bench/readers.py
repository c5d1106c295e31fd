"""The programs that bench/read.py and bench/write.py time: how a reader is called, and a process of one that does a round when told to."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ["pyarrow", "DuckDB", "Polars", "arrow-rs"]


def command_of(reader, build, cargo_target):
    """The program of a reader, without its arguments."""
    if reader == "calve":
        return [build / "bench/calve_peer_read"]
    if reader == "floor":
        return [build / "bench/codec_floor"]
    if reader == "arrow-rs":
        return [cargo_target / "release/arrow_rs_peer_read"]
    return [sys.executable, ROOT / f"bench/peers/{reader.lower()}_read.py", "--programs", build / "bench"]


def build_arrow_rs(cargo_target):
    """Builds bench/peers for this very CPU, the best that arrow-rs can have, unless it was built from the same sources. Says why
    not when it cannot."""
    if shutil.which("cargo") is None:
        return "no cargo: arrow-rs is left out"
    folder = ROOT / "bench/peers"
    sources = [folder / "Cargo.toml", folder / "Cargo.lock", *sorted(path for path in (folder / "src").rglob("*") if path.is_file())]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp = cargo_target / "release/arrow_rs_peer_read.sources"
    if stamp.exists() and stamp.read_text() == digest:
        return None
    print("building bench/peers (a minute or two)", file=sys.stderr)
    environment = dict(os.environ, CARGO_TARGET_DIR=str(cargo_target), RUSTFLAGS="-C target-cpu=native")
    result = subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=folder, env=environment)
    if result.returncode:
        return "cargo build of bench/peers failed"
    stamp.write_text(digest)
    return None


class Reader:
    """A process of one program, with its arguments. One that cannot do the case has `failure`, and no times."""

    def __init__(self, command, arguments, threads, by_cpu_time=False):
        self.times = []
        self.by_cpu_time = by_cpu_time
        self.failure = None
        # One thread means one core, whatever threads a reader starts beside the one that decodes.
        cores = sorted(os.sched_getaffinity(0))[-threads:]
        self.process = subprocess.Popen([str(word) for word in [*command, "--serve", *arguments]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.facts = dict(word.split("=") for word in self._line().split())

    def _line(self):
        line = self.process.stdout.readline()
        if not line and self.failure is None:
            self.failure = (self.process.communicate()[1].strip().splitlines() or ["it ended without a word"])[-1]
        return line

    def round(self, timed):
        """One round; its time is kept when it counts."""
        if self.failure:
            return
        before = self.cpu_milliseconds() if self.by_cpu_time else 0
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self._line()
        if line and timed:
            self.times.append(self.cpu_milliseconds() - before if self.by_cpu_time else float(line.split("=")[1]))

    def cpu_milliseconds(self):
        """What the process's threads have run so far. Threads that have ended do not count."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()


def alternate(readers, rounds):
    """Rounds of all in turns, each beginning with another; the first warms up. Then they end."""
    for number in range(rounds + 1):
        for reader in readers[number % len(readers):] + readers[:number % len(readers)]:
            reader.round(timed=number > 0)
    for reader in readers:
        reader.close()
