"""Eight processes append to one table at once, 25 commits each: 200 snapshots, and every row is there."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tables import Warehouse, arrow_rows, inspect, write

PROCESSES, COMMITS, ROWS = 8, 25, 10

RETRIES = {
    "commit.retry.num-retries": 1000,
    "commit.retry.min-wait-ms": 5,
    "commit.retry.max-wait-ms": 200,
    "commit.retry.total-timeout-ms": 300_000,
}


@pytest.mark.parametrize("kind", ["filesystem", "sql"])
def test_eight_processes_lose_no_commit(calve, tmp_path, kind):
    warehouse = Warehouse(calve, tmp_path, kind)
    table = warehouse.create("busy", properties=RETRIES)

    def writer(number):
        for commit in range(COMMITS):
            first = (number * COMMITS + commit) * ROWS
            path = write(tmp_path / f"in-{number}-{commit}.parquet", first, ROWS)
            calve.run("append", table, path)

    with ThreadPoolExecutor(PROCESSES) as pool:
        for done in [pool.submit(writer, number) for number in range(PROCESSES)]:
            done.result()

    snapshots = inspect(calve, table, "snapshots")
    assert len(snapshots) == PROCESSES * COMMITS
    assert arrow_rows(calve, tmp_path, table)["id"].to_pylist() == list(range(PROCESSES * COMMITS * ROWS))
    parents = {snapshot["parent_id"] for snapshot in snapshots}
    assert len(parents) == len(snapshots), "two snapshots have the same parent: one of them is lost"
