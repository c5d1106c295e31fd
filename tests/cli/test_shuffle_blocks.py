"""calve shuffle inspect, verify and read: blocks of Comet's and of calve's, both byte orders of the index, wrong input."""

import json
import shutil
import struct

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest


def block(batch):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    payload = sink.getvalue().to_pybytes()
    return struct.pack("<QQ4s", 12 + len(payload), batch.num_columns, b"NONE") + payload


@pytest.fixture(params=[">", "<"], ids=["big-endian", "little-endian"])
def shuffle(request, tmp_path):
    """A data file of three partitions: two blocks (a column once plain, once a dictionary), none, and one."""
    plain = pa.record_batch({"id": pa.array([1, 2, 3], pa.int64()), "text": ["a", None, "c"]})
    encoded = pa.record_batch({"id": pa.array([4, 5], pa.int64()), "text": pa.array(["x", "x"]).dictionary_encode()})
    first, last = block(plain) + block(encoded), block(plain)
    data = tmp_path / "shuffle_0_0_0.data"
    data.write_bytes(first + last)
    offsets = [0, len(first), len(first), len(first + last)]
    data.with_suffix(".index").write_bytes(struct.pack(f"{request.param}4q", *offsets))
    return data


def test_inspect_tells_blocks_schemas_and_ratios(calve, shuffle):
    told = json.loads(calve.run("shuffle", "inspect", shuffle, "--json").stdout)
    assert (told["blocks"], told["rows"], told["bytes"]) == (3, 8, shuffle.stat().st_size)
    assert told["files"][0]["partitions"] == 3
    assert told["codecs"] == {"none": {key: told[key] for key in ["blocks", "rows", "bytes", "decoded_bytes", "ratio"]}}
    assert [schema["blocks"] for schema in told["schemas"]] == [2, 1]
    rows = json.loads(calve.run("shuffle", "inspect", shuffle, "--json", "--view", "blocks").stdout)
    assert [(row["partition"], row["rows"], row["schema"]) for row in rows] == [(0, 3, 0), (0, 2, 1), (2, 3, 0)]
    assert [row["offset"] for row in rows][0] == 0
    text = calve.run("shuffle", "inspect", shuffle).stdout
    assert "3 blocks, 8 rows" in text and "schema 1, of 1 block" in text


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_read_writes_the_rows(calve, shuffle, tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    calve.run("shuffle", "read", shuffle, "--to", out)
    table = pq.read_table(out) if ending == "parquet" else pa.ipc.open_file(out).read_all()
    assert table.to_pydict() == {"id": [1, 2, 3, 4, 5, 1, 2, 3], "text": ["a", None, "c", "x", "x", "a", None, "c"]}
    told = calve.run("shuffle", "read", shuffle, "--index", shuffle.with_suffix(".index"), "--partition", 0, "--to", out, "--force", "--json")
    assert json.loads(told.stdout)["rows"] == 5
    assert calve.run("shuffle", "read", shuffle, "--to", out, check=False).returncode == 1
    assert calve.run("shuffle", "read", shuffle, "--to", tmp_path / "out.xyz", check=False).returncode == 2
    assert calve.run("shuffle", "read", shuffle, "--partition", 3, "--to", out, "--force", check=False).returncode == 2


def test_verify_finds_damage(calve, shuffle):
    assert json.loads(calve.run("shuffle", "verify", shuffle, "--json").stdout)["blocks"] == 3
    good = shuffle.read_bytes()
    shuffle.write_bytes(good[:60] + bytes([good[60] ^ 0xFF]) + good[61:])
    calve.run("shuffle", "inspect", shuffle, check=False)
    shuffle.write_bytes(good[:16] + b"WHAT" + good[20:])
    failed = calve.run("shuffle", "verify", shuffle, check=False)
    assert failed.returncode == 1
    assert "byte 16: unknown tag 57484154" in failed.stderr and str(shuffle) in failed.stderr
    shuffle.write_bytes(good[:-5])
    assert calve.run("shuffle", "verify", shuffle, check=False).returncode == 1


def test_without_an_index_a_file_is_one_partition(calve, shuffle, tmp_path):
    alone = tmp_path / "alone.data"
    shutil.copy(shuffle, alone)
    told = json.loads(calve.run("shuffle", "inspect", alone, "--json").stdout)
    assert (told["files"][0]["partitions"], told["blocks"]) == (1, 3)


def test_comets_shuffles(calve, shared_data, tmp_path):
    folder = shared_data / "comet/native_zstd_hash_k"
    told = json.loads(calve.run("shuffle", "verify", folder, "--json").stdout)
    assert (told["files"], told["blocks"], told["rows"]) == (2, 14, 5000)
    codecs = json.loads(calve.run("shuffle", "inspect", folder, "--json").stdout)["codecs"]
    assert list(codecs) == ["zstd, offsets as lengths"]
    out = tmp_path / "rows.parquet"
    calve.run("shuffle", "read", folder, "--to", out)
    ids = pq.read_table(out).column("id").to_pylist()
    assert sorted(ids) == list(range(5000))


def test_wrong_input(calve, tmp_path):
    assert calve.run("shuffle", "inspect", tmp_path / "nothing.data", check=False).returncode == 1
    assert calve.run("shuffle", "verify", tmp_path, check=False).returncode == 1
    assert "Example" in calve.run("shuffle", "read", "--help").stdout
