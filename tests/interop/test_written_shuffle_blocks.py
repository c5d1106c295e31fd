"""Other software reads calve's shuffle blocks: pyarrow and arrow-rs decode each block's IPC stream to the input's rows."""

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "differential"))
import run as differential  # noqa: E402

PARTITIONS = 7


def payloads(folder):
    """The IPC streams of all blocks, decompressed by pyarrow."""
    for data in sorted(folder.glob("*.data")):
        bytes_, at = data.read_bytes(), 0
        while at < len(bytes_):
            length, _, tag = struct.unpack_from("<QQ4s", bytes_, at)
            payload = bytes_[at + 20:at + 8 + length]
            if tag != b"NONE":
                codec = {b"LZ4_": "lz4", b"ZSTD": "zstd"}[tag]
                payload = pa.CompressedInputStream(pa.BufferReader(payload), codec).read()
            yield payload
            at += 8 + length


def by_id(table):
    """The table in the order of `id`, dictionaries as their values."""
    plain = [column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column for column in table.columns]
    table = pa.table(plain, names=table.column_names)
    order = pa.compute.sort_indices(table["id"])
    return [row for batch in table.take(order).to_batches() for row in batch.to_pylist()]


def comparable(value):
    """With NaNs equal to themselves."""
    return "NaN" if value != value else value


def same_rows(got, expected):
    assert len(got) == len(expected)
    for left, right in zip(got, expected):
        assert {k: comparable(v) for k, v in left.items()} == {k: comparable(v) for k, v in right.items()}


@pytest.fixture(params=["input", "input2"])
def source(request, shared_data):
    return sorted((shared_data / "comet" / request.param).glob("*.parquet"))


@pytest.fixture(params=["none", "lz4", "zstd"])
def shuffled(request, calve, tmp_path, source):
    calve.run("shuffle", "write", *source, "--partitions", PARTITIONS, "--by", "id", "--codec", request.param, "--budget", "300KiB",
              "--to", tmp_path / "shuffle")
    return tmp_path / "shuffle"


def expected(source):
    return by_id(pa.concat_tables([pq.read_table(file) for file in source]))


def test_pyarrow_reads_every_block(source, shuffled):
    batches = []
    for payload in payloads(shuffled):
        reader = pa.ipc.open_stream(payload)
        block = list(reader)
        assert len(block) == 1
        block[0].validate(full=True)
        batches += block
    same_rows(by_id(pa.Table.from_batches(batches)), expected(source))


def test_arrow_rs_reads_every_block(tmp_path, source, shuffled):
    if shutil.which("cargo") is None:
        pytest.skip("arrow-rs needs cargo, which is not installed")
    writer, reason = differential.build_rust()
    assert writer is not None, reason
    streams = []
    for payload in payloads(shuffled):
        streams.append(tmp_path / f"{len(streams)}.arrows")
        streams[-1].write_bytes(payload)
    decoded = tmp_path / "decoded.arrow"
    subprocess.run([writer.parent / "decode_streams", decoded, *streams], check=True)
    same_rows(by_id(pa.ipc.open_file(decoded).read_all()), expected(source))
