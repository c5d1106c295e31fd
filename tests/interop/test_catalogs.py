"""pyiceberg and calve share a SQLite catalog, and DuckDB and pyiceberg read what calve commits to either kind of catalog."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from engines import duckdb_rows, pyiceberg_rows
from tables import Warehouse, batch, inspect, write


def pyiceberg_catalog(folder, name="w"):
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog(name, uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder / "warehouse"))


def ids(rows):
    return sorted(row["id"] for row in rows)


def expect_totals(table):
    """The totals in every summary are what the snapshot's files add up to."""
    for snapshot in table.metadata.snapshots:
        files = table.inspect.files(snapshot.snapshot_id).to_pylist()
        summary = snapshot.summary.additional_properties
        assert int(summary["total-data-files"]) == len(files)
        assert int(summary["total-records"]) == sum(file["record_count"] for file in files)
        assert int(summary["total-files-size"]) == sum(file["file_size_in_bytes"] for file in files)


def test_calve_writes_to_a_table_of_pyiceberg(calve, tmp_path):
    warehouse = Warehouse(calve, tmp_path, "sql")
    catalog = pyiceberg_catalog(tmp_path)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", schema=batch(0, 1).schema)
    for part in range(3):
        table.append(batch(part * 10, 10))

    assert "db.t" in calve.run("catalog", "list", "--catalog", "w").stdout
    calve.run("append", "w.db.t", write(tmp_path / "more.parquet", 30, 10))
    calve.run("rewrite", "w.db.t", "--rewrite-all")
    table = catalog.load_table("db.t")
    assert ids(table.scan().to_arrow().to_pylist()) == list(range(40))
    assert [s.summary.operation.value for s in table.metadata.snapshots] == ["append"] * 4 + ["replace"]
    expect_totals(table)

    table.append(batch(40, 10))
    table.delete("id < 5")
    assert ids(calve.rows("w.db.t")) == list(range(5, 50))
    assert len(inspect(calve, "w.db.t", "snapshots")) == len(table.metadata.snapshots)
    for entry in table.metadata.metadata_log:
        assert entry.metadata_file.endswith(".metadata.json")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_pyiceberg_writes_to_a_table_of_calve(calve, tmp_path, version):
    warehouse = Warehouse(calve, tmp_path, "sql")
    warehouse.create("t", "--format-version", version)
    calve.run("append", "w.db.t", write(tmp_path / "a.parquet", 0, 10))
    catalog = pyiceberg_catalog(tmp_path)
    assert catalog.list_namespaces() == [("db",)]
    assert catalog.list_tables("db") == [("db", "t")]
    table = catalog.load_table("db.t")
    assert table.metadata.format_version == version
    assert ids(table.scan().to_arrow().to_pylist()) == list(range(10))
    if version < 3:  # pyiceberg does not write v3
        table.append(batch(10, 10))
    calve.run("append", "w.db.t", write(tmp_path / "b.parquet", 20, 10))
    expected = list(range(0, 30)) if version < 3 else [*range(0, 10), *range(20, 30)]
    table = catalog.load_table("db.t")
    assert ids(table.scan().to_arrow().to_pylist()) == expected
    assert ids(calve.rows("w.db.t")) == expected
    expect_totals(table)
    catalog.drop_table("db.t")
    assert calve.run("catalog", "load", "w.db.t", check=False).returncode == 1


def test_both_commit_at_once(calve, tmp_path):
    warehouse = Warehouse(calve, tmp_path, "sql")
    warehouse.create("t", properties={"commit.retry.num-retries": 100, "commit.retry.min-wait-ms": 5,
                                      "commit.retry.max-wait-ms": 100})

    def by_calve():
        for part in range(8):
            calve.run("append", "w.db.t", write(tmp_path / f"c{part}.parquet", part * 10, 10))

    def by_pyiceberg():
        from pyiceberg.exceptions import CommitFailedException

        catalog = pyiceberg_catalog(tmp_path)
        for part in range(8, 16):
            while True:
                try:
                    catalog.load_table("db.t").append(batch(part * 10, 10))
                    break
                except CommitFailedException:
                    continue

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(by_calve), pool.submit(by_pyiceberg)]:
            done.result()
    table = pyiceberg_catalog(tmp_path).load_table("db.t")
    assert len(table.metadata.snapshots) == 16
    assert ids(table.scan().to_arrow().to_pylist()) == list(range(160))


@pytest.mark.parametrize("kind", ["filesystem", "sql"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_many_commits_and_a_rewrite(calve, tmp_path, kind, version):
    """Manifests are merged and rewritten on the way; every snapshot still reads, with the engines agreeing."""
    warehouse = Warehouse(calve, tmp_path, kind)
    table = warehouse.create("t", "--format-version", version, "--partition-by", "cat",
                             properties={"commit.manifest.min-count-to-merge": 3})
    for part in range(7):
        calve.run("append", table, write(tmp_path / f"{part}.parquet", part * 10, 10))
    calve.run("rewrite", table, "--rewrite-all")
    calve.run("append", table, write(tmp_path / "last.parquet", 70, 10))
    assert len(inspect(calve, table, "manifests")) < 5

    if kind == "sql":
        metadata = pyiceberg_catalog(tmp_path).load_table("db.t").metadata_location
    else:
        folder = tmp_path / "warehouse/db/t/metadata"
        version_number = (folder / "version-hint.text").read_text()
        metadata = folder / f"v{version_number}.metadata.json"
    snapshots = inspect(calve, table, "snapshots")
    assert len(snapshots) == 9
    for number, snapshot in enumerate(snapshots):
        expected = list(range(10 * [1, 2, 3, 4, 5, 6, 7, 7, 8][number]))
        assert ids(calve.rows(table, "--snapshot", snapshot["snapshot_id"])) == expected
        assert ids(pyiceberg_rows(metadata, snapshot["snapshot_id"])) == expected
        assert ids(duckdb_rows(metadata, snapshot["snapshot_id"])) == expected
