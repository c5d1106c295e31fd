"""calve shuffle write --partition-spec and --spec-of: rows lie where Spark's hash of pyiceberg's partition values puts them."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.transforms import parse_transform
from pyiceberg.types import (BinaryType, DateType, DecimalType, IntegerType, LongType, StringType, TimestampType,
                             TimestamptzType)

from test_shuffle import blocks

PARTITIONS = 13
COUNT = 700
EPOCH = dt.datetime(1970, 1, 1)


def some(values):
    """With nulls among them."""
    return [None if i % 17 == 3 else value for i, value in enumerate(values)]


def table():
    times = some([EPOCH + dt.timedelta(hours=7 * (i - 200), microseconds=i) for i in range(COUNT)])
    return pa.table({
        "row": pa.array(range(COUNT), pa.int64()),
        "id": pa.array(some(range(-300, COUNT - 300)), pa.int64()),
        "small": pa.array(some([i % 90 - 40 for i in range(COUNT)]), pa.int32()),
        "day": pa.array(some([dt.date(1969, 1, 1) + dt.timedelta(days=3 * i) for i in range(COUNT)]), pa.date32()),
        "ts": pa.array(times, pa.timestamp("us")),
        "tz": pa.array(times, pa.timestamp("us", "UTC")),
        "name": pa.array(some([f"näme {i % 50}" for i in range(COUNT)])),
        "coded": pa.array(some([f"code {i % 7}" for i in range(COUNT)])).dictionary_encode(),
        "raw": pa.array(some([bytes([i % 256, 1, 2, 3]) for i in range(COUNT)]), pa.binary()),
        "money": pa.array(some([Decimal(i * 7 - 999).scaleb(-2) for i in range(COUNT)]), pa.decimal128(9, 2)),
        "wide": pa.array(some([Decimal(i * 10 ** 20).scaleb(-4) for i in range(COUNT)]), pa.decimal128(30, 4)),
        "place": pa.StructArray.from_arrays([pa.array(some([f"town {i % 31}" for i in range(COUNT)]))], ["town"]),
        "list": pa.array([[i] for i in range(COUNT)], pa.list_(pa.uint64())),
    })


def epoch_value(value):
    """As pyiceberg's transforms take it."""
    if isinstance(value, dt.datetime):
        return (value.replace(tzinfo=None) - EPOCH) // dt.timedelta(microseconds=1)
    return (value - EPOCH.date()).days if isinstance(value, dt.date) else value


def applied(transform, source_type, column):
    function = parse_transform(transform).transform(source_type)
    return [function(epoch_value(value)) for value in column.to_pylist()]


def partition_of_rows(folder, column="row"):
    found = {}
    for partition in range(PARTITIONS):
        for batch in blocks(folder, partition):
            found |= {row: partition for row in batch.column(batch.schema.get_field_index(column)).to_pylist()}
    return found


CASES = [
    ("bucket[16](id)", [("bucket[16]", LongType(), "id", pa.int32())]),
    ("bucket(16, small), truncate[10](id)", [("bucket[16]", IntegerType(), "small", pa.int32()),
                                             ("truncate[10]", LongType(), "id", pa.int64())]),
    ("day(ts), bucket[7](name)", [("day", TimestampType(), "ts", pa.int32()), ("bucket[7]", StringType(), "name", pa.int32())]),
    ("years(day), month(tz)", [("year", DateType(), "day", pa.int32()), ("month", TimestamptzType(), "tz", pa.int32())]),
    ("hour(ts)", [("hour", TimestampType(), "ts", pa.int32())]),
    ("truncate[6](name)", [("truncate[6]", StringType(), "name", pa.string())]),
    ("coded, bucket[5](raw)", [("identity", StringType(), "coded", pa.string()), ("bucket[5]", BinaryType(), "raw", pa.int32())]),
    ("bucket[9](money), truncate[50](wide)", [("bucket[9]", DecimalType(9, 2), "money", pa.int32()),
                                              ("truncate[50]", DecimalType(30, 4), "wide", pa.decimal128(30, 4))]),
    ("identity(small)", [("identity", IntegerType(), "small", pa.int32())]),
]


@pytest.mark.parametrize("spec, terms", CASES, ids=[spec for spec, _ in CASES])
def test_rows_lie_by_their_partition_values(calve, tmp_path, spec, terms):
    rows = table()
    pq.write_table(rows, tmp_path / "rows.parquet")
    values = {f"v{i}": pa.array(applied(transform, source, rows[column]), result)
              for i, (transform, source, column, result) in enumerate(terms)}
    pq.write_table(pa.table({"row": rows["row"], **values}), tmp_path / "values.parquet")
    same = ["--partitions", PARTITIONS, "--codec", "none"]
    calve.run("shuffle", "write", tmp_path / "rows.parquet", "--partition-spec", spec, *same, "--to", tmp_path / "by-spec")
    calve.run("shuffle", "write", tmp_path / "values.parquet", "--by", ",".join(values), *same, "--to", tmp_path / "by-hash")
    found = partition_of_rows(tmp_path / "by-spec")
    assert len(found) == COUNT
    assert found == partition_of_rows(tmp_path / "by-hash")
    assert len(set(found.values())) > 4


def test_dictionaries_of_types_that_iceberg_has_not(calve, tmp_path):
    rows = table().select(["row", "ts", "small"])
    rows = rows.set_column(1, "ts", rows["ts"].cast(pa.timestamp("ms"), safe=False)).set_column(2, "small", rows["small"].cast(pa.int8()))
    same = ["--partition-spec", "day(ts), small", "--partitions", PARTITIONS, "--codec", "none"]
    found = {}
    for name, some_rows in [("plain", rows), ("coded", rows.set_column(1, "ts", rows["ts"].dictionary_encode())
                                              .set_column(2, "small", rows["small"].dictionary_encode()))]:
        with pa.ipc.new_file(tmp_path / f"{name}.arrow", some_rows.schema) as writer:
            writer.write_table(some_rows)
        calve.run("shuffle", "write", tmp_path / f"{name}.arrow", *same, "--to", tmp_path / name)
        found[name] = partition_of_rows(tmp_path / name)
    values = {"v0": pa.array(applied("day", TimestampType(), rows["ts"]), pa.int32()),
              "v1": pa.array(applied("identity", IntegerType(), rows["small"]), pa.int32())}
    pq.write_table(pa.table({"row": rows["row"], **values}), tmp_path / "values.parquet")
    calve.run("shuffle", "write", tmp_path / "values.parquet", "--by", "v0,v1", *same[2:], "--to", tmp_path / "by-hash")
    assert found["coded"] == found["plain"] == partition_of_rows(tmp_path / "by-hash")


def test_fields_of_structs(calve, tmp_path):
    pq.write_table(table(), tmp_path / "rows.parquet")
    calve.run("shuffle", "write", tmp_path / "rows.parquet", "--partition-spec", "place.town", "--partitions", PARTITIONS, "--codec", "none",
              "--to", tmp_path / "out")
    towns = {}
    for row, partition in partition_of_rows(tmp_path / "out").items():
        towns.setdefault(table()["place"][row].as_py()["town"], set()).add(partition)
    assert len(towns) == 32 and all(len(partitions) == 1 for partitions in towns.values())


def test_as_a_table_does(calve, tmp_path):
    rows = table().select(["row", "id", "ts", "name"])
    pq.write_table(rows, tmp_path / "rows.parquet")
    catalog = ["--catalog-type", "sql", "--catalog-uri", f"sqlite:///{tmp_path}/c.db", "--warehouse", tmp_path / "w"]
    calve.run("catalog", "create", "db.t", "--schema-from", tmp_path / "rows.parquet", "--partition-by", "day(ts), bucket(16, id)", *catalog)
    same = ["--partitions", PARTITIONS, "--codec", "none"]
    calve.run("shuffle", "write", tmp_path / "rows.parquet", "--spec-of", "db.t", *same, *catalog, "--to", tmp_path / "by-table")
    calve.run("shuffle", "write", tmp_path / "rows.parquet", "--partition-spec", "day(ts), bucket(16, id)", *same, "--to", tmp_path / "by-spec")
    assert partition_of_rows(tmp_path / "by-table") == partition_of_rows(tmp_path / "by-spec")


@pytest.mark.parametrize("arguments, message", [
    (["--partition-spec", "day(name)", "--partitions", 3], "day"),
    (["--partition-spec", "bucket[0](id)", "--partitions", 3], "bucket"),
    (["--partition-spec", "bucket[x](id)", "--partitions", 3], "bucket"),
    (["--partition-spec", "day[3](ts)", "--partitions", 3], "day"),
    (["--partition-spec", "nothing", "--partitions", 3], "nothing"),
    (["--partition-spec", "list", "--partitions", 3], "list"),
    (["--partition-spec", "id"], "--partitions"),
    (["--partition-spec", "id", "--by", "id", "--partitions", 3], "--partition-spec"),
])
def test_wrong_specs(calve, tmp_path, arguments, message):
    pq.write_table(table(), tmp_path / "rows.parquet")
    failed = calve.run("shuffle", "write", tmp_path / "rows.parquet", *arguments, "--to", tmp_path / "out", check=False)
    assert failed.returncode in (1, 2) and message in failed.stderr
