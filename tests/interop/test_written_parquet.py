"""Parquet files that calve writes read with the same values, and filter alike, in pyarrow, DuckDB and Polars."""

import datetime
import decimal
import math
import random

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 5000


def table():
    r = random.Random(7)

    def maybe(value):
        return None if r.random() < 0.25 else value

    def column(kind, make):
        return pa.array([maybe(make()) for _ in range(ROWS)], kind)

    def digits(count, scale):
        value = r.randrange(-(10**count) + 1, 10**count)
        return decimal.Decimal(value).scaleb(-scale, decimal.Context(prec=60))

    def integers(length):
        return [maybe(r.randrange(100)) for _ in range(r.randrange(length))]

    def pair():
        return {"a": maybe(r.randrange(10)), "b": maybe({"c": maybe(str(r.randrange(10))), "d": maybe(integers(3))})}

    columns = {
        "i8": column(pa.int8(), lambda: r.randrange(-128, 128)),
        "u8": column(pa.uint8(), lambda: r.randrange(256)),
        "i16": column(pa.int16(), lambda: r.randrange(-(2**15), 2**15)),
        "u32": column(pa.uint32(), lambda: r.randrange(2**32)),
        "i64": column(pa.int64(), lambda: r.randrange(-(2**63), 2**63)),
        "u64": column(pa.uint64(), lambda: r.randrange(2**64)),
        "required": pa.array([r.randrange(50) for _ in range(ROWS)], pa.int32()),
        "b": column(pa.bool_(), lambda: r.random() < 0.7),
        "f": column(pa.float32(), lambda: r.choice([0.0, -0.0, 1.5, math.inf, math.nan])),
        "d": column(pa.float64(), r.random),
        "dec9": column(pa.decimal128(9, 2), lambda: digits(9, 2)),
        "dec18": column(pa.decimal128(18, 6), lambda: digits(18, 6)),
        "dec38": column(pa.decimal128(38, 10), lambda: digits(38, 10)),
        "date": column(pa.date32(), lambda: datetime.date(2000, 1, 1) + datetime.timedelta(days=r.randrange(9000))),
        "time": column(pa.time64("us"), lambda: r.randrange(86400 * 10**6)),
        "ts_ms": column(pa.timestamp("ms"), lambda: r.randrange(2 * 10**12)),
        "ts_us": column(pa.timestamp("us"), lambda: r.randrange(2 * 10**15)),
        "ts_utc": column(pa.timestamp("us", "UTC"), lambda: r.randrange(2 * 10**15)),
        "ts_ns": column(pa.timestamp("ns"), lambda: r.randrange(2 * 10**18)),
        "s": column(pa.string(), lambda: "é" * r.randrange(6) + str(r.randrange(300))),
        "bytes": column(pa.binary(), lambda: r.randbytes(r.randrange(9))),
        "fixed": column(pa.binary(5), lambda: r.randbytes(5)),
        "nulls": pa.array([None] * ROWS, pa.string()),
        "list": column(pa.list_(pa.int32()), lambda: integers(5)),
        "lists": column(pa.list_(pa.list_(pa.int32())), lambda: [maybe(integers(3)) for _ in range(r.randrange(4))]),
        "struct": column(
            pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.string()), ("d", pa.list_(pa.int32()))]))]), pair
        ),
        "map": column(pa.map_(pa.string(), pa.int32()), lambda: [(str(k), maybe(k)) for k in range(r.randrange(4))]),
        "structs": column(
            pa.list_(pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])),
            lambda: [maybe({"x": maybe(1), "y": maybe(["q"] * r.randrange(3))}) for _ in range(r.randrange(4))],
        ),
    }
    made = pa.table(columns)
    return made.cast(pa.schema([f.with_nullable(f.name != "required") for f in made.schema]))


def plain(value):
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    if isinstance(value, dict):
        return tuple((key, plain(inner)) for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(plain(inner) for inner in value)
    return value


def values(column):
    """What a column holds, apart from the width of its type: timestamps as nanoseconds."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ns", column.type.tz)).cast(pa.int64())
    return [plain(value) for value in column.to_pylist()]


@pytest.fixture(scope="module")
def expected():
    return table()


@pytest.fixture
def written(calve, expected, tmp_path):
    """A file that calve wrote, of rows that pyarrow wrote in several row groups."""
    source, target = tmp_path / "source.parquet", tmp_path / "written.parquet"
    pq.write_table(expected, source, row_group_size=1300)
    calve.run("scan", source, "--to", target)
    assert pq.read_metadata(target).created_by.startswith("calve version ")
    return target


def read_pyarrow(path):
    return pq.read_table(path, page_checksum_verification=True)


def read_duckdb(path):
    return duckdb.sql(f"SELECT * FROM '{path}'").to_arrow_table()


def read_polars(path):
    return polars.read_parquet(path).to_arrow()


@pytest.mark.parametrize("read", [read_pyarrow, read_duckdb, read_polars])
def test_values_are_the_same(read, expected, written):
    got = read(written)
    assert got.column_names == expected.column_names
    for name in expected.column_names:
        assert values(got[name]) == values(expected[name]), name


def test_required_fields_and_types_stay(expected, written):
    got = pq.read_schema(written)
    assert not got.field("required").nullable
    for name in expected.column_names:
        if not pa.types.is_nested(expected.field(name).type):
            assert got.field(name).type == expected.field(name).type, name


@pytest.mark.parametrize(
    "condition",
    [
        "i64 > 0",
        "u32 > 3000000000",
        "u64 > 9300000000000000000",
        "required = 49",
        "s = '17'",
        "s > 'éé'",
        "dec9 < 0",
        "dec38 < 0",
        "d <= 0.5",
        "f > 1",
        "f = 0",
        "isnan(f)",
        "date < DATE '2005-01-01'",
        "ts_us > TIMESTAMP '2001-01-01'",
        "b",
        "nulls IS NULL",
    ],
)
def test_filters_by_statistics_lose_nothing(condition, expected, written):
    connection = duckdb.connect()
    # DuckDB's own table: pushed down into an Arrow table, comparisons have other rules for NaN.
    connection.register("arrow_rows", expected)
    connection.execute("CREATE TABLE rows AS SELECT * FROM arrow_rows")
    want = connection.sql(f"SELECT count(*) FROM rows WHERE {condition}").fetchone()
    assert connection.sql(f"SELECT count(*) FROM '{written}' WHERE {condition}").fetchone() == want


def test_page_indexes_and_size_statistics_are_there(expected, written):
    metadata = pq.read_metadata(written)
    for i in range(metadata.num_columns):
        column = metadata.row_group(0).column(i)
        assert column.has_offset_index, column.path_in_schema
        assert column.has_column_index or column.path_in_schema == "f", column.path_in_schema
    # DuckDB and Polars skip by statistics and indexes; what they find is what is there.
    want = sum(1 for v in expected["i64"].to_pylist() if v is not None and v > 2**62)
    assert polars.scan_parquet(written).filter(polars.col("i64") > 2**62).collect().height == want


def test_encodings_of_sorted_and_textual_columns_read_everywhere(calve, tmp_path):
    rows = 30_000
    table = pa.table(
        {
            "t": pa.array(range(10**15, 10**15 + rows * 1000, 1000), pa.int64()),
            "i": pa.array([i * 3 for i in range(rows)], pa.int32()),
            "url": pa.array([f"https://example.org/{i:08d}" for i in range(rows)]),
            "text": pa.array([str(i * 7919 % 10**9) for i in range(rows)]),
            "price": pa.array([20 + i * 7919 % 10007 / 1000 for i in range(rows)]),
            "d": pa.array([decimal.Decimal(i * 7919 % 10**7).scaleb(-2) for i in range(rows)], pa.decimal128(30, 2)),
        }
    )
    source, target = tmp_path / "source.parquet", tmp_path / "written.parquet"
    pq.write_table(table, source)
    calve.run("scan", source, "--to", target)
    group = pq.read_metadata(target).row_group(0)
    encodings = {group.column(i).path_in_schema: group.column(i).encodings for i in range(len(table.column_names))}
    assert "DELTA_BINARY_PACKED" in encodings["t"]
    assert "DELTA_BYTE_ARRAY" in encodings["url"]
    for read in (read_pyarrow, read_duckdb, read_polars):
        got = read(target)
        for name in table.column_names:
            assert values(got[name]) == values(table[name]), (read.__name__, name, encodings[name])
