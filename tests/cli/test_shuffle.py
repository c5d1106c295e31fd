"""calve shuffle write and repartition: what they write, exit codes, wrong input."""

import json
import struct

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest


def rows(first, count):
    ids = list(range(first, first + count))
    return pa.table({"id": pa.array(ids, pa.int64()), "key": pa.array([i % 97 for i in ids], pa.int32()),
                     "text": [None if i % 5 == 0 else f"row {i}" for i in ids]})


def blocks(folder, partition, task=0):
    """The rows of a partition of one task, by pyarrow's IPC reader; uncompressed blocks."""
    data = (folder / f"shuffle_0_{task}_0.data").read_bytes()
    index = (folder / f"shuffle_0_{task}_0.index").read_bytes()
    offsets = struct.unpack(f">{len(index) // 8}q", index)
    assert offsets[0] == 0 and offsets[-1] == len(data)
    at, end, batches = offsets[partition], offsets[partition + 1], []
    while at < end:
        length, _, tag = struct.unpack_from("<QQ4s", data, at)
        assert tag == b"NONE"
        batches += list(pa.ipc.open_stream(data[at + 20:at + 8 + length]))
        at += 8 + length
    assert at == end
    return batches


def all_rows(folder, partitions, tasks=1):
    batches = [b for task in range(tasks) for p in range(partitions) for b in blocks(folder, p, task)]
    return pa.Table.from_batches(batches).sort_by("id")


@pytest.fixture
def parquet(tmp_path):
    pq.write_table(rows(0, 5000), tmp_path / "a.parquet")
    pq.write_table(rows(5000, 3000), tmp_path / "b.parquet")
    return [tmp_path / "a.parquet", tmp_path / "b.parquet"]


def test_parquet_and_arrow_files_are_tasks(calve, tmp_path, parquet):
    with pa.ipc.new_file(tmp_path / "c.arrow", rows(1, 1).schema) as file:
        file.write_table(rows(8000, 2000), max_chunksize=300)
    with pa.ipc.new_stream(tmp_path / "d.arrows", rows(1, 1).schema) as stream:
        stream.write_table(rows(10000, 1000), max_chunksize=300)
    to = tmp_path / "out"
    said = json.loads(calve.run("shuffle", "write", *parquet, tmp_path / "c.arrow", tmp_path / "d.arrows", "--partitions", 11,
                                "--by", "key", "--codec", "none", "--to", to, "--json").stdout)
    assert said["rows"] == 11000 and [task["task"] for task in said["tasks"]] == [0, 1, 2, 3]
    assert said["bytes"] == sum(file.stat().st_size for file in to.glob("*.data"))
    assert all_rows(to, 11, 4).equals(rows(0, 11000))
    for p in range(11):  # a key lies in one partition
        keys = {k for task in range(4) for b in blocks(to, p, task) for k in b["key"].to_pylist()}
        assert all(k not in keys for q in range(p) for b in blocks(to, q) for k in b["key"].to_pylist())


def test_ranges_are_ordered_and_even(calve, tmp_path, parquet):
    to = tmp_path / "out"
    calve.run("shuffle", "write", *parquet, "--partitions", 8, "--by", "id desc", "--mode", "range", "--codec", "none", "--to", to)
    parts = [[i for task in (0, 1) for b in blocks(to, p, task) for i in b["id"].to_pylist()] for p in range(8)]
    assert all(min(parts[p]) > max(parts[p + 1]) for p in range(7))
    assert all(700 <= len(part) <= 1300 for part in parts), [len(part) for part in parts]


def test_repartition_keeps_rows(calve, tmp_path, parquet):
    first, second = tmp_path / "first", tmp_path / "second"
    calve.run("shuffle", "write", *parquet, "--partitions", 7, "--mode", "round-robin", "--codec", "zstd",
              "--offsets-as-lengths", "--checksums", "--budget", "300KiB", "--to", first)
    assert (first / "shuffle_0_1_0.checksum.CRC32C").stat().st_size == 7 * 8
    calve.run("shuffle", "repartition", first, "--partitions", 3, "--by", "text", "--codec", "none", "--to", second)
    assert all_rows(second, 3, 2).equals(rows(0, 8000))


@pytest.mark.parametrize("arguments, code, words", [
    (["--by", "key"], 2, "--partitions"),
    (["--partitions", "4"], 2, "--by"),
    (["--partitions", "4", "--by", "key", "--mode", "single"], 2, "--by"),
    (["--partitions", "0", "--by", "key"], 2, "partitions"),
    (["--partitions", "4", "--by", "key,,id"], 2, "commas"),
    (["--partitions", "4", "--by", "key", "--codec", "brotli"], 2, "codec"),
    (["--partitions", "4", "--by", "key", "--level", "3"], 2, "--level"),
    (["--partitions", "4", "--by", "absent"], 1, "absent"),
])
def test_wrong_command_lines(calve, tmp_path, parquet, arguments, code, words):
    process = calve.run("shuffle", "write", parquet[0], "--to", tmp_path / "out", *arguments, check=False)
    assert process.returncode == code and words in process.stderr, process.stderr
    assert not list(tmp_path.glob("out/*.index"))


def test_files_of_other_columns_and_committed_tasks(calve, tmp_path, parquet):
    pq.write_table(pa.table({"id": [1]}), tmp_path / "other.parquet")
    process = calve.run("shuffle", "write", parquet[0], tmp_path / "other.parquet", "--mode", "single", "--to", tmp_path / "out",
                        check=False)
    assert process.returncode == 1 and "other.parquet has other columns" in process.stderr
    calve.run("shuffle", "write", parquet[0], "--mode", "single", "--to", tmp_path / "out")
    process = calve.run("shuffle", "write", parquet[0], "--mode", "single", "--to", tmp_path / "out", check=False)
    assert process.returncode == 1 and "committed before" in process.stderr


def test_help_has_an_example(calve):
    for command in ([], ["write"], ["repartition"]):
        assert "calve shuffle" in calve.run("shuffle", *command, "--help").stdout.split("Example")[1]
