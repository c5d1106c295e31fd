#!/usr/bin/env python3
"""Makes inputs for the Parquet fuzz targets to begin with: small files, and what they are made of.

    fuzz/make_corpus.py FOLDER      FOLDER/<target>/... for each parquet*_fuzz target
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

#: What stands before the values in an input of a decoder (fuzz/decoder_fuzz.h): type, width, count, step.
PHYSICAL = ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"]
DECODERS = {
    "PLAIN": "parquet_plain_fuzz",
    "RLE": "parquet_rle_boolean_fuzz",
    "DELTA_BINARY_PACKED": "parquet_delta_binary_packed_fuzz",
    "DELTA_LENGTH_BYTE_ARRAY": "parquet_delta_length_byte_array_fuzz",
    "DELTA_BYTE_ARRAY": "parquet_delta_byte_array_fuzz",
    "BYTE_STREAM_SPLIT": "parquet_byte_stream_split_fuzz",
    "RLE_DICTIONARY": "parquet_dictionary_fuzz",
}
COLUMNS = {
    "BOOLEAN": pa.array([True, False, True, True, False] * 8),
    "INT32": pa.array([7, 5, 3, -1, 2000000000] * 8, pa.int32()),
    "INT64": pa.array([1, 2, 3, 4, 1 << 60] * 8),
    "FLOAT": pa.array([1.5, -2.25, 0, 3e30, 4] * 8, pa.float32()),
    "DOUBLE": pa.array([1.5, -2.25, 0, 3e300, 4] * 8),
    "BYTE_ARRAY": pa.array(["axis", "axle", "babble", "babyhood", ""] * 8),
}
COLUMNS["FIXED_LEN_BYTE_ARRAY"] = pa.array([b"abcde", b"abcxy", b"bbbbb", b"zzzzz"] * 10, pa.binary(5))
ENCODINGS = {
    "PLAIN": list(COLUMNS),
    "RLE": ["BOOLEAN"],
    "DELTA_BINARY_PACKED": ["INT32", "INT64"],
    "DELTA_LENGTH_BYTE_ARRAY": ["BYTE_ARRAY"],
    "DELTA_BYTE_ARRAY": ["BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"],
    "BYTE_STREAM_SPLIT": ["INT32", "INT64", "FLOAT", "DOUBLE", "FIXED_LEN_BYTE_ARRAY"],
    "RLE_DICTIONARY": [name for name in COLUMNS if name != "BOOLEAN"],
}


class Thrift:
    """Just enough of the compact protocol to find where a page header ends."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def skip(self, kind):
        if kind in (3,):
            self.at += 1
        elif kind in (4, 5, 6):
            self.varint()
        elif kind == 7:
            self.at += 8
        elif kind == 8:
            size = self.varint()
            self.at += size
        elif kind in (9, 10):
            head = self.byte()
            for _ in range(head >> 4 if head >> 4 < 15 else self.varint()):
                self.skip(head & 15)
        elif kind == 12:
            self.struct()

    def struct(self):
        while True:
            head = self.byte()
            if head == 0:
                return
            if head >> 4 == 0:
                self.varint()
            self.skip(head & 15)


def written(table, **options):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


class Corpus:
    def __init__(self, folder):
        self.folder = folder

    def add(self, target, name, data):
        path = self.folder / target
        path.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)

    def add_file(self, name, data):
        self.add("parquet_fuzz", name, data)
        size = int.from_bytes(data[-8:-4], "little")
        self.add("parquet_footer_fuzz", name, data[-8 - size:-8])
        metadata = pq.read_metadata(pa.BufferReader(data))
        for index in range(metadata.num_columns):
            chunk = metadata.row_group(0).column(index)
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            self.add("parquet_page_header_fuzz", f"{name}-{index}", data[start:start + 200])
            # Page indexes stand between the last chunk and the footer.
            if chunk.has_offset_index:
                self.add("parquet_page_index_fuzz", name, data[-8 - size - 40:-8 - size])

    def add_values(self, encoding, physical):
        """The values of the one data page of a required column."""
        column = COLUMNS[physical]
        dictionary = encoding == "RLE_DICTIONARY"
        table = pa.table([column], pa.schema([pa.field("x", column.type, nullable=False)]))
        data = written(table, compression="none", use_dictionary=dictionary, write_statistics=False,
                       column_encoding=None if dictionary else {"x": encoding})
        chunk = pq.read_metadata(pa.BufferReader(data)).row_group(0).column(0)
        end = (chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size
        page = Thrift(data[chunk.data_page_offset:end])
        page.struct()
        head = bytes([PHYSICAL.index(physical), 5, len(column), 0, 6])
        self.add(DECODERS[encoding], physical.lower(), head + page.data[page.at:])

    def add_levels(self):
        """Runs of both kinds, with a length before them, without, and as the deprecated encoding."""
        runs = bytes([0x0A, 0x01, 0x03, 0x55])
        self.add("parquet_levels_fuzz", "v1", bytes([0, 1, 13, 0, 4, 4, 0, 0, 0]) + runs)
        self.add("parquet_levels_fuzz", "v2", bytes([2, 1, 13, 0, 4]) + runs)
        self.add("parquet_levels_fuzz", "wide", bytes([2, 5, 16, 0, 4, 0x10, 0x05, 0x03, 0x88, 0xC6, 0x12]))
        self.add("parquet_levels_fuzz", "bit_packed", bytes([1, 3, 8, 0, 2, 0x1B, 0x1B]))


def nested_table():
    rows = [{"l": [[1, None], None, []], "m": [("a", 1)], "s": {"x": 1.5, "y": "text"}, "d": None}, {}, None]
    kind = pa.struct([("l", pa.list_(pa.list_(pa.int32()))), ("m", pa.map_(pa.string(), pa.int64())),
                      ("s", pa.struct([("x", pa.float64()), ("y", pa.string())])), ("d", pa.date32())])
    return pa.table({"n": pa.array(rows, kind)})


def main():
    corpus = Corpus(Path(sys.argv[1]))
    for encoding, kinds in ENCODINGS.items():
        for physical in kinds:
            corpus.add_values(encoding, physical)
    corpus.add_levels()
    flat = pa.table({name.lower(): column for name, column in COLUMNS.items()})
    for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4"):
        for version in ("1.0", "2.0"):
            options = dict(compression=codec, data_page_version=version, store_schema=False, write_page_checksum=codec == "none",
                           write_page_index=codec == "none")
            corpus.add_file(f"nested-{codec}-{version}", written(nested_table(), **options))
            corpus.add_file(f"flat-{codec}-{version}", written(flat, use_dictionary=version == "1.0", data_page_size=64, **options))


if __name__ == "__main__":
    main()
