"""pyarrow and DuckDB as writers of random files."""

import duckdb
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

#: DuckDB writes every column optional.
NULLABILITY = {"pyarrow": "exact", "arrow-rs": "exact", "duckdb": "loose"}

ENCODINGS = {
    "BOOLEAN": ["PLAIN", "RLE"],
    "INT32": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "INT64": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "INT96": ["PLAIN"],
    "FLOAT": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "DOUBLE": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "BYTE_ARRAY": ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
    "FIXED_LEN_BYTE_ARRAY": ["PLAIN", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"],
}


def read_table(path):
    with pa.ipc.open_file(path) as reader:
        return reader.read_all()


def leaves(schema, options):
    """(path, physical type) of the columns that pyarrow makes of `schema`."""
    sink = pa.BufferOutputStream()
    pq.ParquetWriter(sink, schema, **options).close()
    columns = pq.read_metadata(pa.BufferReader(sink.getvalue())).schema
    return [(columns.column(i).path, columns.column(i).physical_type) for i in range(len(columns))]


def types_in(data_type):
    """All types in a type."""
    yield data_type
    for i in range(data_type.num_fields):
        yield from types_in(data_type.field(i).type)


def versions(schema):
    """The format versions that hold the types of `schema` without loss."""
    types = [t for field in schema for t in types_in(field.type)]
    nanoseconds = any((pa.types.is_timestamp(t) or pa.types.is_time64(t)) and t.unit == "ns" for t in types)
    if nanoseconds:
        return ["2.6"]
    return ["2.4", "2.6"] if pa.uint32() in types else ["1.0", "2.4", "2.6"]


def pyarrow_options(schema, random):
    options = dict(
        version=random.choice(versions(schema)),
        data_page_version=random.choice(["1.0", "2.0"]),
        data_page_size=random.choice([1, 64, 1000, 1 << 20]),
        dictionary_pagesize_limit=random.choice([16, 200, 1 << 20]),
        write_batch_size=random.choice([1, 13, 1024]),
        write_page_index=random.random() < 0.5,
        write_page_checksum=random.random() < 0.5,
        write_statistics=random.random() < 0.7,
        compression=random.choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"]),
        store_schema=random.random() < 0.5,
        store_decimal_as_integer=random.random() < 0.3,
        use_compliant_nested_type=random.random() < 0.7,
    )
    structure = {key: options[key] for key in ("version", "store_decimal_as_integer", "use_compliant_nested_type")}
    columns = leaves(schema, structure)
    options["use_dictionary"] = [path for path, _ in columns if random.random() < 0.5]
    options["column_encoding"] = {path: random.choice(ENCODINGS[physical]) for path, physical in columns
                                  if path not in options["use_dictionary"]} or None
    return options


def write_pyarrow(source, target, random):
    """Writes the IPC file `source` as Parquet; the options, as text."""
    table = read_table(source)
    options = pyarrow_options(table.schema, random)
    rows = random.choice([7, 100, 1000, 1 << 20])
    pq.write_table(table, target, row_group_size=rows, **options)
    return f"row_group_size={rows} {options}"


def write_duckdb(source, target, random):
    """The same with DuckDB."""
    table = read_table(source)  # noqa: F841 (DuckDB finds it by its name)
    options = dict(
        COMPRESSION=random.choice(["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"]),
        ROW_GROUP_SIZE=random.choice([2048, 4096, 122880]),
        PARQUET_VERSION=random.choice(["V1", "V2"]),
        DICTIONARY_SIZE_LIMIT=random.choice([1, 20, 100000]),
    )
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET enable_progress_bar = false")
    connection.register("source", table)
    connection.execute(f"COPY source TO '{target}' (FORMAT parquet, {', '.join(f'{k} {v}' for k, v in options.items())})")
    return str(options)
