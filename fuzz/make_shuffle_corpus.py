#!/usr/bin/env python3
"""Makes inputs for the targets of shuffle blocks to begin with: genuine blocks of Comet's, and streams of types that those lack.

    fuzz/make_shuffle_corpus.py FOLDER [COMET]      FOLDER/{shuffle_block_validated,shuffle_block_trusted,ipc_stream,ipc_file}_fuzz/...

COMET: the folder `comet` of the shared test data; without it only pyarrow's streams are made.
"""

import struct
import sys
from pathlib import Path

import pyarrow as pa

HEAD = 20


def add(folder, target, name, data):
    path = folder / target
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_bytes(data)


def blocks_of(data):
    at = 0
    while at < len(data):
        size = 8 + struct.unpack_from("<Q", data, at)[0]
        yield data[at:at + size]
        at += size


def stream(batch, new=pa.ipc.new_stream):
    sink = pa.BufferOutputStream()
    with new(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def arrays():
    text, numbers = pa.array(["a", None, "ccc", "dä"]), pa.array([1, 2, None, 4])
    yield "flat", [text, numbers, pa.array([True, None, False, True]), pa.array([1.5, 2, None, 4], pa.float32())]
    yield "dictionary", [text.dictionary_encode(), numbers.dictionary_encode()]
    yield "views", [text.cast(pa.string_view()), pa.array(["a long text that is not inline", "b", None, ""], pa.string_view())]
    yield "lists", [pa.array([[1, 2], None, [], [3]]), pa.array([["a"], ["b", None], None, []], pa.large_list(pa.string()))]
    yield "map", [pa.array([[("a", 1)], None, [], [("b", None)]], pa.map_(pa.string(), pa.int64()))]
    yield "struct", [pa.array([{"x": 1, "y": "b"}, None, {"x": None, "y": None}, {"x": 4, "y": ""}])]
    yield "union", [pa.UnionArray.from_dense(pa.array([0, 1, 0, 1], pa.int8()), pa.array([0, 0, 1, 1], pa.int32()), [numbers, text]),
                    pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1], pa.int8()), [numbers, text])]
    yield "runs", [pa.RunEndEncodedArray.from_arrays(pa.array([1, 4], pa.int32()), pa.array(["x", "y"]))]
    yield "list views", [pa.array([[1, 2], None, [], [3]], pa.list_view(pa.int32()))]
    yield "fixed", [pa.array([[1, 2], None, [3, 4], [5, 6]], pa.list_(pa.int16(), 2)), pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2))]


def main():
    folder = Path(sys.argv[1])
    for name, columns in arrays():
        batch = pa.record_batch(columns, [f"c{i}" for i in range(len(columns))])
        data = stream(batch)
        add(folder, "ipc_stream_fuzz", name, data)
        add(folder, "ipc_file_fuzz", name, data)
        add(folder, "ipc_file_fuzz", f"{name} file", stream(batch, pa.ipc.new_file))
        block = struct.pack("<QQ4s", 12 + len(data), len(columns), b"NONE") + data
        for target in ["shuffle_block_validated_fuzz", "shuffle_block_trusted_fuzz"]:
            add(folder, target, name, block)
    for variant in sorted(Path(sys.argv[2]).iterdir()) if len(sys.argv) > 2 else []:
        for data in sorted(variant.glob("*.data"))[:1]:
            smallest = min(blocks_of(data.read_bytes()), key=len, default=b"")
            for target in ["shuffle_block_validated_fuzz", "shuffle_block_trusted_fuzz"]:
                add(folder, target, variant.name, smallest)
            if smallest[16:HEAD] == b"NONE":
                add(folder, "ipc_stream_fuzz", variant.name, smallest[HEAD:])


if __name__ == "__main__":
    main()
