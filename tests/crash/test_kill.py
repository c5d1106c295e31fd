"""`kill -9` at fifty moments spread over appends and rewrites: the table reads as before or as after, never between."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tables import Warehouse, arrow_rows, batch, inspect, write

MOMENTS = 25  # of an append, and as many of a rewrite
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


def duration_of(calve, *arguments):
    started = time.monotonic()
    assert start(calve, *arguments).wait() == 0
    return time.monotonic() - started


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
    seconds = duration_of(calve, "append", table, *inputs)
    one = sum(batch(i * ROWS_A_FILE, ROWS_A_FILE).num_rows for i in range(4))
    commits, killed = 1, 0
    for moment in range(MOMENTS // 2 + 1):
        was_killed = kill_after(start(calve, "append", table, *inputs), seconds * 1.1 * moment / (MOMENTS // 2))
        killed += was_killed
        rows = arrow_rows(calve, tmp_path, table)
        now = rows.num_rows // one
        assert rows.num_rows == now * one and now - commits in (0, 1), "part of an append is in the table"
        assert was_killed or now == commits + 1
        commits = now
        ids = rows["id"].to_pylist()
        assert ids == [i for i in range(one) for _ in range(commits)]
        files_are_whole(calve, table)
    assert killed >= MOMENTS // 4, "too few moments fell into the append"


@pytest.mark.parametrize("kind", ["filesystem", "sql"])
def test_rewrite_is_whole_or_absent(calve, tmp_path, kind):
    warehouse = Warehouse(calve, tmp_path, kind)
    table = warehouse.create("killed")
    for i in range(8):
        calve.run("append", table, write(tmp_path / f"in{i}.parquet", i * ROWS_A_FILE, ROWS_A_FILE))
    before = arrow_rows(calve, tmp_path, table)
    rewrite = ["rewrite", table, "--rewrite-all", "--target-file-size-bytes", "300000"]
    seconds = duration_of(calve, *rewrite)
    snapshots, killed = len(inspect(calve, table, "snapshots")), 0
    for moment in range(MOMENTS // 2 + 1):
        was_killed = kill_after(start(calve, *rewrite), seconds * 1.1 * moment / (MOMENTS // 2))
        killed += was_killed
        now = len(inspect(calve, table, "snapshots"))
        assert now - snapshots in (0, 1)
        assert was_killed or now == snapshots + 1
        snapshots = now
        assert arrow_rows(calve, tmp_path, table).equals(before)
        files_are_whole(calve, table)
    assert killed >= MOMENTS // 4, "too few moments fell into the rewrite"
