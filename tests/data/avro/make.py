"""Makes the Avro files of this folder with fastavro (zstandard needs the package backports.zstd). Record i is row(i)."""

import pathlib

import fastavro

FOLDER = pathlib.Path(__file__).parent

SCHEMA = {
    "type": "record",
    "name": "row",
    "namespace": "test",
    "fields": [
        {"name": "flag", "type": "boolean", "field-id": 1},
        {"name": "small", "type": "int", "field-id": 2},
        {"name": "large", "type": "long", "field-id": 3},
        {"name": "single", "type": "float", "field-id": 4},
        {"name": "twice", "type": "double", "field-id": 5},
        {"name": "text", "type": ["null", "string"], "default": None, "field-id": 6},
        {"name": "raw", "type": "bytes", "field-id": 7},
        {"name": "four", "type": {"type": "fixed", "name": "four", "size": 4}, "field-id": 8},
        {"name": "color", "type": {"type": "enum", "name": "color", "symbols": ["RED", "GREEN"]}, "field-id": 9},
        {"name": "longs", "type": {"type": "array", "items": ["null", "long"], "element-id": 11}, "field-id": 10},
        {
            "name": "sizes",
            "type": {
                "type": "array",
                "logicalType": "map",
                "items": {
                    "type": "record",
                    "name": "k13_v14",
                    "fields": [
                        {"name": "key", "type": "int", "field-id": 13},
                        {"name": "value", "type": "long", "field-id": 14},
                    ],
                },
            },
            "field-id": 12,
        },
        {"name": "names", "type": {"type": "map", "values": "string", "key-id": 16, "value-id": 17}, "field-id": 15},
        {"name": "again", "type": "four", "field-id": 18},
        {"name": "nothing", "type": "null", "field-id": 19},
        {
            "name": "inner",
            "type": {"type": "record", "name": "inner", "fields": [{"name": "deep", "type": ["string", "null"]}]},
            "field-id": 20,
        },
    ],
}


def row(i):
    return {
        "flag": i % 2 == 1,
        "small": i * 1000003 % 4294967296 - 2147483648,
        "large": (i - 50) * 123456789012345,
        "single": i * 0.5,
        "twice": i * -0.25,
        "text": None if i % 3 == 0 else "t\u00e9xt %d" % i,
        "raw": bytes([i % 256] * (i % 5)),
        "four": bytes([0, 1, 2, i % 256]),
        "color": "GREEN" if i % 2 else "RED",
        "longs": [None if j == 1 else i * j for j in range(i % 4)],
        "sizes": [{"key": j, "value": i + j} for j in range(i % 3)],
        "names": {"k%d" % j: "v%d" % i for j in range(i % 2)},
        "again": b"abcd",
        "nothing": None,
        "inner": {"deep": None if i % 2 else "d%d" % i},
    }


def write(name, codec, count=100, **options):
    with open(FOLDER / name, "wb") as out:
        fastavro.writer(out, SCHEMA, [row(i) for i in range(count)], codec, metadata={"content": "rows"},
                        sync_marker=bytes(range(16)), sync_interval=2000, **options)


if __name__ == "__main__":
    for codec in ("null", "deflate", "snappy", "zstandard", "bzip2", "xz"):
        write(codec + ".avro", codec)
    write("small.avro", "null", count=5)
    write("empty.avro", "deflate", count=0)
