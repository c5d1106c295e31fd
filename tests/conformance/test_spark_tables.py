"""Every snapshot of the tables that Spark and Iceberg's Java API wrote: equal to the rows they read, or refused by name."""

import json
import re
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from rows import assert_same_rows, read_jsonl  # noqa: E402
from spark_snapshots import READ, REFUSED  # noqa: E402
from variant_value import variant_as_python  # noqa: E402

WRITTEN_UNDER = "/tmp/calve-warehouse"
READ_CASES = [(table, snapshot) for table, snapshots in READ.items() for snapshot in snapshots]
REFUSED_CASES = [(table, snapshot) for table, snapshots in REFUSED.items() for snapshot in snapshots]


class SparkTables:
    def __init__(self, folder):
        self.folder = folder / "spark-iceberg"
        self.tables = {entry["table"].split(".")[1]: entry for entry in json.loads((self.folder / "tables.json").read_text())}
        self.moved = f"{WRITTEN_UNDER}={self.folder / 'warehouse'}"

    def metadata(self, table):
        return self.folder / "warehouse" / self.tables[table]["current_metadata"]

    def expected(self, table, snapshot):
        entry = next(s for s in self.tables[table]["snapshots"] if s["snapshot_id"] == snapshot)
        return read_jsonl(self.folder / entry["expected"]) if "expected" in entry else None

    def single_precision(self, table):
        return set(re.findall(r"(\w+):float\b", self.tables[table]["schema"]))


@pytest.fixture
def spark(shared_data):
    return SparkTables(shared_data)


def test_the_two_lists_hold_every_snapshot_once(spark):
    listed = sorted(READ_CASES + REFUSED_CASES)
    there = sorted((table, s["snapshot_id"]) for table, entry in spark.tables.items() for s in entry["snapshots"])
    assert listed == there
    assert (len(READ_CASES), len(REFUSED_CASES)) == (123, 29)


def with_geometry_as_text(rows):
    """The expected rows have geometries as upper-case hexadecimal WKB in columns of their own."""
    return [{"id": row["id"], "g_wkb": row["g"].upper() if row["g"] else None, "h_wkb": row["h"].upper() if row["h"] else None}
            for row in rows]


def with_variants_as_json(rows, expected):
    """The expected rows have variants as the JSON that Spark makes of them, in columns named after theirs."""
    columns = [name for name in expected[0] if name.endswith("_json")]
    for row in rows:
        for name in columns:
            variant = row.pop(name.removesuffix("_json"))
            row[name] = None if variant is None else variant_as_python(bytes.fromhex(variant["metadata"]), bytes.fromhex(variant["value"]))
    for row in expected:
        row.pop("v_schema", None)
        for name in columns:
            row[name] = None if row[name] is None else json.loads(row[name])
    return rows


@pytest.mark.parametrize("table,snapshot", READ_CASES)
def test_rows_equal_what_the_writer_reads(calve, spark, table, snapshot):
    expected = spark.expected(table, snapshot)
    columns = []
    if expected and "_row_id" in expected[0]:
        columns = ["--columns", ",".join(expected[0])]
    actual = calve.rows(spark.metadata(table), "--snapshot", snapshot, "--moved", spark.moved, *columns)
    if table == "geometry_v3":
        actual = with_geometry_as_text(actual)
    if table.startswith("variant_"):
        actual = with_variants_as_json(actual, expected)
    if expected is None:
        files = spark.tables[table]["live_files"]
        assert len(actual) == sum(file["records"] for file in files if file["content"] == "data")
        return
    assert_same_rows(actual, expected, spark.single_precision(table))


@pytest.mark.parametrize("table,snapshot", REFUSED_CASES)
def test_what_cannot_be_read_is_refused_by_name(calve, spark, table, snapshot):
    process = calve.run("scan", spark.metadata(table), "--snapshot", snapshot, "--moved", spark.moved, check=False)
    assert process.returncode == 1
    assert process.stdout == ""
    assert re.search(REFUSED[table][snapshot], process.stderr, re.IGNORECASE), process.stderr
    assert len(process.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("table", sorted(set(READ) | set(REFUSED)) + ["empty"])
def test_the_current_snapshot_is_the_default(calve, spark, table):
    """Without options a scan reads the current snapshot, of which the last one listed is the same or an ancestor."""
    entry = spark.tables[table]
    current = json.loads(calve.run("inspect", spark.metadata(table), "--moved", spark.moved, "--json").stdout)["current_snapshot_id"]
    process = calve.run("scan", spark.metadata(table), "--moved", spark.moved, "--format", "jsonl", check=False)
    if current in REFUSED.get(table, {}):
        assert process.returncode == 1
        return
    assert process.returncode == 0, process.stderr
    if entry["select"] == "*":
        actual = [json.loads(line) for line in process.stdout.splitlines()]
        assert_same_rows(actual, read_jsonl(spark.folder / entry["expected"]), spark.single_precision(table))
