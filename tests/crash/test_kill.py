"""`kill -9` at fifty moments spread over appends and rewrites: the table reads as before or as after, never between."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tables import Warehouse, arrow_rows, batch, inspect, write

MOMENTS = 13  # of an append and of a rewrite, on each of two catalogs
ROWS_A_FILE = 20_000


def start(calve, *arguments):
    return subprocess.Popen([calve.binary, *map(str, arguments)], env=calve.environment, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def kill_after(process, seconds):
    """True when the process was still running, and so was killed."""
    try:
        process.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True


class Moments:
    """Runs a command again and again and kills it, each time a little later, until `moments` runs were killed.

    A run that ends before its moment shows how long the command takes now; the moments are spread over the shortest seen.
    """

    def __init__(self, calve, *arguments):
        self.calve, self.arguments, self.killed, self.moments = calve, arguments, 0, MOMENTS
        self.seconds = float("inf")
        self.run_whole()

    def run_whole(self):
        started = time.monotonic()
        assert start(self.calve, *self.arguments).wait() == 0
        self.seconds = min(self.seconds, time.monotonic() - started)

    def __iter__(self):
        """Yields after each run whether it was killed."""
        for attempt in range(20 * self.moments):
            if self.killed == self.moments:
                return
            started = time.monotonic()
            moment = self.seconds * (self.killed + 0.5 * (attempt % 2)) / self.moments
            was_killed = kill_after(start(self.calve, *self.arguments), moment)
            self.killed += was_killed
            if not was_killed:
                self.seconds = min(self.seconds, time.monotonic() - started)
            yield was_killed
        pytest.fail(f"only {self.killed} of {self.moments} moments fell into the command")


def files_are_whole(calve, table):
    """Every file that the current snapshot names is there and of the size it is said to have."""
    for file in inspect(calve, table, "files"):
        path = Path(file["file_path"].removeprefix("file://"))
        assert path.stat().st_size == file["file_size_in_bytes"], path


@pytest.mark.parametrize("kind", ["filesystem", "sql"])
def test_append_is_whole_or_absent(calve, tmp_path, kind):
    warehouse = Warehouse(calve, tmp_path, kind)
    table = warehouse.create("killed")
    inputs = [write(tmp_path / f"in{i}.parquet", i * ROWS_A_FILE, ROWS_A_FILE) for i in range(4)]
    moments = Moments(calve, "append", table, *inputs)
    one = sum(batch(i * ROWS_A_FILE, ROWS_A_FILE).num_rows for i in range(4))
    commits = 1
    for was_killed in moments:
        rows = arrow_rows(calve, tmp_path, table)
        now = rows.num_rows // one
        assert rows.num_rows == now * one and now - commits in (0, 1), "part of an append is in the table"
        assert was_killed or now == commits + 1
        commits = now
        ids = rows["id"].to_pylist()
        assert ids == [i for i in range(one) for _ in range(commits)]
        files_are_whole(calve, table)


@pytest.mark.parametrize("kind", ["filesystem", "sql"])
def test_rewrite_is_whole_or_absent(calve, tmp_path, kind):
    warehouse = Warehouse(calve, tmp_path, kind)
    table = warehouse.create("killed")
    for i in range(8):
        calve.run("append", table, write(tmp_path / f"in{i}.parquet", i * ROWS_A_FILE, ROWS_A_FILE))
    before = arrow_rows(calve, tmp_path, table)
    moments = Moments(calve, "rewrite", table, "--rewrite-all", "--target-file-size-bytes", "300000")
    snapshots = len(inspect(calve, table, "snapshots"))
    for was_killed in moments:
        now = len(inspect(calve, table, "snapshots"))
        assert now - snapshots in (0, 1)
        assert was_killed or now == snapshots + 1
        snapshots = now
        assert arrow_rows(calve, tmp_path, table).equals(before)
        files_are_whole(calve, table)
