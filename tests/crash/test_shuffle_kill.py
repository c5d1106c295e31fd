"""`kill -9` at twenty moments of a shuffle's writing: every task is committed whole or not at all, and a run after it completes."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
from test_kill import Moments

KILLS = 20
ROWS = 60_000
PARTITIONS = 50


def rows(first):
    ids = range(first, first + ROWS)
    return pa.table({"id": pa.array(ids, pa.int64()), "text": [f"row {i} of the shuffle" for i in ids]})


def committed_rows(calve, folder, to):
    """The ids of what is committed, in order: a repartition to one partition reads and checks every block."""
    shutil.rmtree(to, ignore_errors=True)
    if not list(folder.glob("*.index")):
        return 0
    calve.run("shuffle", "repartition", folder, "--mode", "single", "--codec", "none", "--to", to, "--threads", 1)
    ids = []
    for data in sorted(to.glob("*.data")):
        bytes_, at = data.read_bytes(), 0
        while at < len(bytes_):
            length = int.from_bytes(bytes_[at:at + 8], "little")
            for batch in pa.ipc.open_stream(bytes_[at + 20:at + 8 + length]):
                ids += batch["id"].to_pylist()
            at += 8 + length
    tasks = len(list(folder.glob("*.index")))
    assert len(ids) == tasks * ROWS and len(set(ids)) == len(ids)
    return tasks


def test_tasks_are_whole_or_absent(calve, tmp_path):
    inputs = []
    for task in range(3):
        inputs.append(tmp_path / f"in{task}.parquet")
        pq.write_table(rows(task * ROWS), inputs[-1])
    out = tmp_path / "out"
    command = ["shuffle", "write", *inputs, "--partitions", PARTITIONS, "--by", "id", "--budget", "2MiB", "--codec", "none",
               "--checksums", "--threads", 1, "--to", out]
    moments = Moments(calve, *command)
    moments.moments = KILLS
    assert committed_rows(calve, out, tmp_path / "read") == 3
    shutil.rmtree(out)
    seen = set()
    for was_killed in moments:
        tasks = committed_rows(calve, out, tmp_path / "read")
        assert was_killed or tasks == 3
        seen.add(tasks)
        # What was not committed leaves temporary names, or data without an index, which the next run replaces.
        for index in out.glob("*.index"):
            index.unlink()
        calve.run(*command)
        assert committed_rows(calve, out, tmp_path / "read") == 3
        shutil.rmtree(out)
    assert moments.killed == KILLS and len(seen) > 1
