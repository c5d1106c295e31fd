"""Bad input: one line, exit code 1, nothing changed."""

import os
from pathlib import Path

import pytest

from cli_support import refused
from tables import inspect, write


def test_no_such_thing(calve, warehouse, tmp_path):
    refused(calve.run("scan", tmp_path / "gone.parquet", check=False), "gone.parquet")
    refused(calve.run("scan", "w.db.gone", check=False), "db.gone")
    refused(calve.run("scan", tmp_path, check=False), tmp_path)
    refused(calve.run("scan", "justaword", check=False), "justaword")
    refused(calve.run("scan", "nocatalog.db.t", check=False), "nocatalog")


def test_what_is_not_a_regular_file(calve, warehouse, tmp_path):
    for name in ("pipe.parquet", "pipe.metadata.json"):
        os.mkfifo(tmp_path / name)
        for command in ("inspect", "scan"):
            refused(calve.run(command, tmp_path / name, check=False, timeout=20), "not a regular file", name)
    refused(calve.run("scan", tmp_path / "*.parquet", check=False, timeout=20), "not a regular file", "pipe.parquet")
    for path in (tmp_path / "pipe.parquet", tmp_path, "/dev/zero"):
        refused(calve.run("catalog", "create", "w.db.x", "--schema-from", path, check=False, timeout=20), "not a regular file", path)
    refused(calve.run("inspect", "/dev/zero", check=False, timeout=20), "not a regular file")


def test_a_where_that_makes_no_sense(calve, file, table):
    for target in (file, table):
        refused(calve.run("scan", target, "--where", "id >", check=False))
        refused(calve.run("scan", target, "--where", "nope = 1", check=False), "nope", "id")
        refused(calve.run("scan", target, "--columns", "nope", check=False), "nope")
    refused(calve.run("rewrite", table, "--where", "((", check=False))


def every_cut(path, step=1):
    whole = path.read_bytes()
    for length in range(0, len(whole), step):
        path.write_bytes(whole[:length])
        yield length
    path.write_bytes(whole)


def test_a_parquet_file_cut_anywhere(calve, tmp_path):
    path = write(tmp_path / "small.parquet", 0, 3)
    size = path.stat().st_size
    for length in every_cut(path, step=max(1, size // 40)):
        refused(calve.run("scan", path, check=False), "small.parquet")
        assert path.stat().st_size == length


def folder_state(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_metadata_cut_anywhere(calve, table, warehouse):
    folder = warehouse.folder / "warehouse/db/t"
    newest = max((folder / "metadata").glob("*.metadata.json"), key=lambda path: path.stat().st_mtime)
    for _ in every_cut(newest, step=max(1, newest.stat().st_size // 40)):
        before = folder_state(folder)
        refused(calve.run("scan", folder, check=False), newest.name)
        assert folder_state(folder) == before


@pytest.mark.parametrize("pattern", ["snap-*.avro", "*-m*.avro"])
def test_manifests_cut_anywhere(calve, table, warehouse, pattern):
    folder = warehouse.folder / "warehouse/db/t"
    newest = max((folder / "metadata").glob(pattern), key=lambda path: path.stat().st_mtime)
    for _ in every_cut(newest, step=max(1, newest.stat().st_size // 40)):
        refused(calve.run("scan", table, check=False), newest.name)


def test_a_data_file_that_is_gone_or_of_another_size(calve, table, tmp_path):
    path = Path(inspect(calve, table, "files")[0]["file_path"].removeprefix("file://"))
    whole = path.read_bytes()
    path.write_bytes(whole + b"PAR1")
    refused(calve.run("scan", table, check=False), path.name, len(whole), len(whole) + 4)
    before = len(inspect(calve, table, "snapshots"))
    path.unlink()
    refused(calve.run("scan", table, check=False), path.name)
    refused(calve.run("rewrite", table, "--rewrite-all", check=False), path.name)
    assert len(inspect(calve, table, "snapshots")) == before


def test_an_unreadable_catalog_configuration(calve, tmp_path):
    home = tmp_path / "config"
    home.mkdir()
    (home / ".pyiceberg.yaml").write_text("catalog:\n  w: [unclosed\n")
    refused(calve.run("scan", "w.db.t", check=False, env={"PYICEBERG_HOME": str(home)}), ".pyiceberg.yaml")


def test_a_folder_that_refuses_writes(calve, table, warehouse, tmp_path):
    """A file where the data folder should be: nothing can be written there, by root neither."""
    folder = warehouse.folder / "warehouse/db/blocked"
    name = warehouse.create("blocked")
    (folder / "data").write_text("in the way")
    before = folder_state(folder)
    process = calve.run("append", name, write(tmp_path / "more.parquet", 0, 5), check=False)
    refused(process, "data")
    assert folder_state(folder) == before
