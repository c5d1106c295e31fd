"""Tables that Spark, pyiceberg, BigQuery, Flink and others wrote: equal to what pyiceberg reads, or to the rows known of them."""

import json
import warnings
from collections import Counter
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

warnings.filterwarnings("ignore", module="pyiceberg")

#: (metadata file under data/persistent, snapshot id): every snapshot of these tables that pyiceberg reads: 14.
AS_PYICEBERG = [
    ("iceberg/lineitem_iceberg/metadata/v1.metadata.json", 7817332053627255703),
    ("iceberg/lineitem_iceberg/metadata/v2.metadata.json", 7817332053627255703),
    ("iceberg/lineitem_iceberg/metadata/v2.metadata.json", 2354745328521181395),
    ("partition_integer/metadata/v2.metadata.json", 5470601323427916272),
    ("partition_decimal_hugeint/metadata/v2.metadata.json", 1741222731966192430),
    ("partition_binary/metadata/v2.metadata.json", 7057859339050714145),
    ("hive_partitioned_table/metadata/v4.metadata.json", 2541674261311761067),
    ("hive_partitioned_table/metadata/v4.metadata.json", 5128628767169163501),
    ("null_stats/default/test_nulls/metadata/00003-9d6a621e-8a72-4190-a880-f6ca02e32b86.metadata.json", 250057325269371674),
    ("null_stats/default/test_nulls/metadata/00003-9d6a621e-8a72-4190-a880-f6ca02e32b86.metadata.json", 9136741709133330043),
    ("null_stats/default/test_nulls/metadata/00003-9d6a621e-8a72-4190-a880-f6ca02e32b86.metadata.json", 4694394728259848547),
    ("uuid/metadata/00001-43fda1f4-1c96-4376-ad16-91beb71d0759.metadata.json", 3974286791591741252),
    ("column_mapping/warehouse/default.db/my_table/metadata/00001-75643dae-a7a7-46ae-ab30-ea80d3793f3f.metadata.json",
     6154553663017965981),
    ("add_columns_with_defaults/default.db/add_columns_with_defaults/metadata/"
     "00003-3f1801a5-7dfb-4072-b14a-39cd12f9279b.metadata.json", 8904642012249016277),
]

#: The mapped column's non-null values by metadata version of the name-mapping table, whose files carry no field ids.
NAME_MAPPING = {
    "v3": {"a": 10000, "b": 10000},
    "v3.1": {"a": 10000, "b": 0},
    "v3.2": {"a": 0, "b": 0},
    "v4": {"a": 10000},
    "v5": {"a": 10000, "b": 10000},
    "v6": {"a": 10000, "b": 10000},
    "v7": {"a": 10000, "b": 0},
}


@pytest.fixture
def persistent(shared_data):
    return shared_data / "duckdb-iceberg/data/persistent"


def moved(persistent):
    """The writers' relative locations, mapped to where the files lie now."""
    return ["--moved", f"data/persistent={persistent}", "--moved", f"lineitem_iceberg={persistent / 'iceberg/lineitem_iceberg'}",
            "--moved", f"./lineitem_iceberg={persistent / 'iceberg/lineitem_iceberg'}"]


def rows(table):
    """A multiset of rows, whatever width of string or unit of time the two systems chose."""
    def plain(value):
        if isinstance(value, bytes):
            return value.hex()
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, dict):
            return {name: plain(item) for name, item in value.items()}
        return value
    return Counter(json.dumps(plain(row), sort_keys=True, default=str) for row in table.to_pylist())


def scan(calve, tmp_path, *arguments):
    out = tmp_path / "out.arrow"
    calve.run("scan", *arguments, "--to", out, "--force")
    with pa.ipc.open_file(out) as reader:
        return reader.read_all()


@pytest.mark.parametrize("metadata,snapshot", AS_PYICEBERG)
def test_rows_equal_pyiceberg(calve, persistent, tmp_path, monkeypatch, metadata, snapshot):
    from pyiceberg.table import StaticTable

    base = persistent / "iceberg" if metadata.startswith("iceberg/") else persistent.parents[1]
    monkeypatch.chdir(base)
    expected = StaticTable.from_metadata(str((persistent / metadata).relative_to(base))).scan(snapshot_id=snapshot).to_arrow()
    actual = scan(calve, tmp_path, persistent / metadata, "--snapshot", snapshot, *moved(persistent))
    assert actual.schema.names == expected.schema.names
    assert rows(actual) == rows(expected)


@pytest.mark.parametrize("version", NAME_MAPPING)
def test_name_mapping_gives_ids_to_files_without(calve, persistent, tmp_path, version):
    path = persistent / f"name_mapping/warehouse_1/mydb/t1/metadata/{version}.metadata.json"
    table = scan(calve, tmp_path, path, *moved(persistent))
    assert {name: table.num_rows - table[name].null_count for name in table.schema.names} == NAME_MAPPING[version]
    assert table.num_rows == 10000


def test_an_invalid_name_mapping_that_is_needed_is_refused(calve, persistent):
    path = persistent / "name_mapping/warehouse_1/mydb/t1/metadata/v2.metadata.json"
    process = calve.run("scan", path, *moved(persistent), check=False)
    assert process.returncode == 1 and process.stdout == ""
    assert "schema.name-mapping.default" in process.stderr


def test_a_v1_snapshot_that_lists_its_manifests_inline(calve, persistent):
    path = persistent / "iceberg_v1_deprecated/default/legacy_v1/metadata/v2.metadata.json"
    actual = calve.rows(path, *moved(persistent))
    assert sorted([list(row.values()) for row in actual]) == [[1, "alpha", 10], [2, "beta", 20], [3, "alpha", None]]


def test_a_timestamp_partition_column_that_files_lack(calve, persistent, tmp_path):
    """pyiceberg cannot read this table: the partition column is required and in no file. Its values are in the manifest."""
    path = persistent / "partition_timestamp/default.db/partition_timestamp"
    table = scan(calve, tmp_path, path, *moved(persistent))
    assert table.num_rows == 2
    values = set(table["partition_col"].to_pylist())
    assert len(values) == 2 and all(isinstance(value, datetime) for value in values)


def test_a_fixed_partition_column_that_files_lack(calve, persistent, tmp_path):
    path = persistent / "partition_fixed_length_binary/default.db/partition_fixed_length_binary"
    table = scan(calve, tmp_path, path, *moved(persistent))
    assert table.num_rows == 2
    assert all(len(value) == 11 for value in table["partition_col"].to_pylist())


def test_facts_known_of_the_tables(calve, persistent, tmp_path):
    decimals = scan(calve, tmp_path, persistent / "partition_decimal_hugeint", *moved(persistent),
                    "--where", "partition_col = 3.14159265358979323846264")
    assert decimals["user_id"].to_pylist() == [314159]
    events = scan(calve, tmp_path, persistent / "hive_partitioned_table", *moved(persistent))
    assert min(events["event_date"].to_pylist()) == date(2024, 1, 1) and max(events["event_date"].to_pylist()) == date(2024, 1, 4)
    nulls = scan(calve, tmp_path, persistent / "null_stats/default/test_nulls", *moved(persistent), "--where", "flag IS NULL")
    assert nulls.num_rows == 5
    people = scan(calve, tmp_path, persistent / "column_mapping/warehouse/default.db/my_table", *moved(persistent))
    assert [people[name].to_pylist() for name in ("id", "name", "age")] == [[1, 2, 3], ["Alice", "Bob", "Charlie"], [25, 30, 35]]


def test_tpch_query_6_on_both_versions_of_lineitem(calve, persistent, tmp_path):
    """The sums that are known of this table, with the filter pushed down."""
    where = ("l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 "
             "AND l_quantity < 24")
    table = persistent / "iceberg/lineitem_iceberg"
    for snapshot, matches, revenue in [(2354745328521181395, 823, "1077536.9101"), (7817332053627255703, 1191, "1193053.2253")]:
        out = scan(calve, tmp_path, table, "--snapshot", snapshot, "--where", where, "--columns", "l_extendedprice,l_discount",
                   *moved(persistent))
        assert out.num_rows == matches
        total = sum(price * discount for price, discount in zip(out["l_extendedprice"].to_pylist(), out["l_discount"].to_pylist()))
        assert f"{total:.4f}" == revenue


def test_initial_defaults_fill_old_files(calve, persistent, tmp_path):
    path = persistent / ("add_columns_with_defaults/default.db/add_columns_with_defaults/metadata/"
                         "00003-3f1801a5-7dfb-4072-b14a-39cd12f9279b.metadata.json")
    fields = json.loads(path.read_text())["schemas"][-1]["fields"]
    table = scan(calve, tmp_path, path, *moved(persistent))
    assert table.num_rows == 3
    defaults = [field["name"] for field in fields if "initial-default" in field]
    assert len(defaults) == 14
    full = Counter(sum(row[name] is not None for name in defaults) for row in table.to_pylist())
    assert full[14] >= 2, "the rows of the file that is older than the columns have every default"


def test_gzipped_metadata_of_a_v1_table(calve, persistent, tmp_path):
    table = persistent / "iceberg/lineitem_iceberg_gz"
    out = scan(calve, tmp_path, table, "--columns", "l_orderkey",
               "--moved", f"data/persistent={persistent}", "--moved", f"lineitem_iceberg_gz={table}")
    assert out.num_rows == 111968
