"""Tables on the command line: views, catalogs, appending, rewriting."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cli_support import refused
from tables import inspect


def test_the_views_of_a_table(calve, table, warehouse):
    summary = json.loads(calve.run("inspect", table, "--json").stdout)
    assert (summary["rows"], summary["data_files"], summary["snapshots"]) == (30, 3, 3)
    assert [field["name"] for field in summary["schema"]["fields"]] == ["id", "cat", "v", "s"]
    assert len(inspect(calve, table, "snapshots")) == 3
    assert [ref["name"] for ref in inspect(calve, table, "refs")] == ["main"]
    files = inspect(calve, table, "files")
    assert sum(file["record_count"] for file in files) == 30
    first = inspect(calve, table, "snapshots")[0]["snapshot_id"]
    assert len(inspect(calve, table, "files", "--snapshot", str(first))) == 1
    assert len(inspect(calve, table, "manifests")) >= 1
    metadata = json.loads(calve.run("inspect", table, "metadata").stdout)
    assert metadata["current-snapshot-id"] == summary["current_snapshot_id"]
    assert "1: id: long" in calve.run("inspect", table, "schema").stdout
    text = calve.run("inspect", table).stdout
    assert "30 rows in 3 data files" in text
    assert calve.run("catalog", "load", table).stdout == text


def test_a_table_by_its_folder_and_its_past(calve, table, warehouse):
    folder = warehouse.folder / "warehouse/db/t"
    assert len(calve.rows(folder)) == 30
    first = inspect(calve, table, "snapshots")[0]
    assert len(calve.rows(folder, "--snapshot", first["snapshot_id"])) == 10
    assert len(calve.rows(folder, "--as-of", first["committed_at"])) == 10
    assert len(calve.rows(table, "--ref", "main")) == 30
    refused(calve.run("scan", table, "--ref", "nope", check=False), "nope")
    refused(calve.run("scan", table, "--snapshot", "12345", check=False), "12345")
    refused(calve.run("scan", table, "--as-of", "yesterday", check=False), "yesterday")


def test_catalog_create_list_drop(calve, warehouse, file, tmp_path):
    calve.run("catalog", "create", "w.db.made", "--schema-from", file, "--partition-by", "bucket(4, id), cat", "--property", "a=b=c")
    summary = json.loads(calve.run("catalog", "load", "w.db.made", "--json").stdout)
    assert summary["partition_by"] == ["bucket[4](id)", "cat"] and summary["properties"]["a"] == "b=c"
    schema = {"type": "struct", "fields": [{"id": 7, "name": "x", "required": True, "type": "decimal(9, 2)"}]}
    calve.run("catalog", "create", "w.db.other", "--schema", json.dumps(schema), "--format-version", "1")
    other = json.loads(calve.run("catalog", "load", "w.db.other", "--json").stdout)
    assert other["format_version"] == 1
    assert other["schema"]["fields"] == [{"id": 1, "name": "x", "required": True, "type": "decimal(9, 2)"}]
    assert calve.run("catalog", "list", "--catalog", "w").stdout.split() == ["db.made", "db.other"]
    refused(calve.run("catalog", "create", "w.db.made", "--schema-from", file, check=False), "db.made exists already")
    refused(calve.run("catalog", "drop", "w.db.other", check=False), "purge")
    calve.run("catalog", "drop", "w.db.other", "--purge")
    assert json.loads(calve.run("catalog", "list", "--catalog", "w", "--json").stdout)[0]["tables"] == ["db.made"]
    refused(calve.run("catalog", "drop", "w.db.other", check=False), "db.other")


def test_a_catalog_by_flags_alone(calve, file, tmp_path):
    flags = ["--catalog-type", "filesystem", "--warehouse", str(tmp_path / "lake")]
    calve.run("catalog", "create", "ns.t", "--schema-from", file, *flags)
    result = json.loads(calve.run("append", "ns.t", file, "--json", *flags).stdout)
    assert (result["rows"], result["files"]) == (100, 1)
    assert calve.run("scan", "ns.t", "--count", *flags).stdout == "100\n"


def test_appending_no_rows_makes_no_snapshot(calve, table, tmp_path):
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    before = calve.run("inspect", table, "snapshots", "--json").stdout
    result = json.loads(calve.run("append", table, tmp_path / "none.parquet", "--json").stdout)
    assert (result["snapshot_id"], result["files"], result["rows"]) == (None, 0, 0)
    assert "nothing to append" in calve.run("append", table, tmp_path / "none.parquet").stderr
    assert calve.run("inspect", table, "snapshots", "--json").stdout == before


def test_rewrite_says_why_groups_failed(calve, table):
    files = json.loads(calve.run("inspect", table, "files", "--json").stdout)
    data = [Path(file["file_path"].removeprefix("file://")) for file in files]
    data[0].write_bytes(b"PAR1" + b"U" * (data[0].stat().st_size - 4))
    run = calve.run("rewrite", table, "--rewrite-all", "--partial-progress-enabled", "--json", "--max-file-group-size-bytes", "1", check=False)
    assert run.returncode == 1 and "1 group could not be rewritten: " in run.stderr and data[0].name in run.stderr
    result = json.loads(run.stdout)
    assert result["failed_groups"] == 1 and len(result["failures"]) == 1 and data[0].name in result["failures"][0]


def test_rewrite_prints_its_plan_and_its_result(calve, table):
    plan = json.loads(calve.run("rewrite", table, "--dry-run", "--json", "--min-input-files", "2").stdout)
    assert plan["files_total"] == 3 and len(plan["groups"]) == 1 and plan["groups"][0]["rows"] == 30
    assert calve.run("rewrite", table, "--dry-run").stdout == "nothing to rewrite\n"
    result = json.loads(calve.run("rewrite", table, "--json", "--min-input-files", "2", "--target-file-size-bytes", "64MiB").stdout)
    assert (result["rewritten_files"], result["added_files"], result["rows"]) == (3, 1, 30)
    assert "nothing to rewrite" in calve.run("rewrite", table).stderr
    assert sorted(row["id"] for row in calve.rows(table)) == list(range(30))


def test_inspect_of_a_parquet_file(calve, file):
    json_form = json.loads(calve.run("inspect", file, "--json").stdout)
    assert json_form["rows"] == 100 and len(json_form["row_groups"]) == 1
    by_name = {column["column"]: column for column in json_form["columns"]}
    assert list(by_name) == ["id", "cat", "v", "s"]
    assert (by_name["id"]["min"], by_name["id"]["max"], by_name["v"]["nulls"]) == ("0", "99", 15)
    assert by_name["cat"]["codec"] == "SNAPPY" and "RLE_DICTIONARY" in by_name["cat"]["encodings"]
    text = calve.run("inspect", file).stdout
    assert "100 rows in 1 row group" in text and "optional INT64 id" in text
    assert len(calve.run("inspect", file, "columns", "--format", "csv").stdout.splitlines()) == 5
