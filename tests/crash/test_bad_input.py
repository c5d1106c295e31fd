"""Damaged tables and failing storage: one line that says what and where, exit code 1, and nothing changed.

The readers' own tests cut their input at every byte; here the whole command meets a sample of the cuts.
"""

import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from tables import Warehouse, arrow_rows, inspect, write

CUTS = 40


def refused(process, *says):
    """The one line on stderr of a run that failed with exit code 1 and printed no row."""
    lines = process.stderr.strip().splitlines()
    assert process.returncode == 1, (process.returncode, process.stdout, process.stderr)
    assert process.stdout == ""
    assert len(lines) == 1 and lines[0].startswith("calve: error: "), process.stderr
    for text in says:
        assert text in lines[0], lines[0]
    return lines[0]


def cuts(size):
    """Lengths to cut a file of `size` bytes to: the ends, and a spread between."""
    return sorted({*range(0, size, max(1, size // CUTS)), 1, 4, size - 1})


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def table(calve, tmp_path):
    """A filesystem table of two appends, its folder."""
    warehouse = Warehouse(calve, tmp_path, "filesystem")
    name = warehouse.create("t")
    for i in range(2):
        calve.run("append", name, write(tmp_path / f"in{i}.parquet", i * 100, 100))
    return tmp_path / "warehouse/db/t"


def one(folder, pattern):
    return sorted(folder.glob(pattern))[-1]


@pytest.mark.parametrize("what,pattern", [
    ("metadata", "metadata/v3.metadata.json"),
    ("manifest list", "metadata/snap-*.avro"),
    ("manifest", "metadata/*-m0.avro"),
    ("data file", "data/**/*.parquet"),
])
def test_a_file_cut_short_is_an_error_that_names_it(calve, table, what, pattern):
    current = inspect(calve, table, "snapshots")[-1]["manifest_list"]
    path = Path(current.removeprefix("file://")) if what == "manifest list" else one(table, pattern)
    whole = path.read_bytes()
    for size in cuts(len(whole)):
        path.write_bytes(whole[:size])
        before = content(table)
        refused(calve.run("scan", table, check=False), path.name)
        refused(calve.run("rewrite", table, "--rewrite-all", check=False), path.name)
        assert content(table) == before
    path.write_bytes(whole)
    assert len(calve.rows(table)) == 200


@pytest.mark.parametrize("pattern", ["metadata/*-m0.avro", "data/**/*.parquet"])
def test_a_file_longer_than_it_should_be_is_an_error(calve, table, pattern):
    path = one(table, pattern)
    with open(path, "ab") as file:
        file.write(b"\0")
    refused(calve.run("scan", table, check=False), path.name, str(path.stat().st_size - 1), str(path.stat().st_size))


def test_a_data_file_that_is_gone(calve, table):
    path = one(table, "data/**/*.parquet")
    path.unlink()
    refused(calve.run("scan", table, check=False), path.name)
    refused(calve.run("rewrite", table, "--rewrite-all", check=False), path.name)


def test_no_such_table(calve, table, tmp_path):
    refused(calve.run("scan", tmp_path / "nowhere", check=False), "nowhere")
    refused(calve.run("scan", "w.db.nothing", check=False), "db.nothing")
    refused(calve.run("scan", "unknown.db.t", check=False), "unknown")
    (tmp_path / "empty").mkdir()
    refused(calve.run("scan", tmp_path / "empty", check=False), "empty")


def test_filters_that_cannot_be(calve, table):
    refused(calve.run("scan", table, "--where", "id = ", check=False))
    refused(calve.run("scan", table, "--where", "nosuch = 1", check=False), "nosuch")
    refused(calve.run("scan", table, "--where", "id = 'text'", check=False), "id")
    refused(calve.run("scan", table, "--where", "(" * 100_000, check=False))
    refused(calve.run("scan", table, "--columns", "nosuch", check=False), "nosuch")


def test_snapshots_that_are_not_there(calve, table):
    refused(calve.run("scan", table, "--snapshot", 17, check=False), "17")
    refused(calve.run("scan", table, "--ref", "nosuch", check=False), "nosuch")
    refused(calve.run("scan", table, "--as-of", "1999-01-01T00:00:00Z", check=False))


def test_a_configuration_that_cannot_be_read(calve, table, tmp_path):
    config = tmp_path / "config/.pyiceberg.yaml"
    config.write_text("catalog:\n  w: [unclosed\n")
    refused(calve.run("scan", "w.db.t", check=False), ".pyiceberg.yaml:3:")
    config.write_text("catalog:\n  w:\n    type: hive\n    uri: thrift://nowhere\n")
    refused(calve.run("scan", "w.db.t", check=False), "hive")
    (tmp_path / "config/.pyiceberg.yaml").write_text("catalog:\n  w:\n    type: sql\n    uri: sqlite:////nowhere/at/all.db\n")
    refused(calve.run("scan", "w.db.t", check=False), "all.db")


@pytest.mark.parametrize("command", ["append", "rewrite"])
@pytest.mark.parametrize("limit", [0, 100, 3000])
def test_files_that_may_not_grow(calve, table, tmp_path, command, limit):
    """Every write over `limit` bytes fails, as on a full disk, wherever it falls: data, manifest, list or metadata."""
    before, rows = content(table), arrow_rows(calve, tmp_path, table)
    arguments = [write(tmp_path / "more.parquet", 1000, 5000)] if command == "append" else ["--rewrite-all"]

    def confine():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    refused(calve.run(command, table, *arguments, check=False, preexec_fn=confine))
    assert content(table) == before
    assert arrow_rows(calve, tmp_path, table).equals(rows)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]).returncode != 0:
        pytest.skip("mounting a small file system takes root")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk(calve, small_disk, tmp_path):
    warehouse = Warehouse(calve, small_disk, "filesystem")
    table = warehouse.create("t")
    calve.run("append", table, write(tmp_path / "few.parquet", 0, 100))
    folder = small_disk / "warehouse/db/t"
    before = content(folder)
    refused(calve.run("append", table, write(tmp_path / "many.parquet", 0, 2_000_000), check=False), "No space left")
    assert content(folder) == before
    calve.run("append", table, tmp_path / "few.parquet")
    assert arrow_rows(calve, tmp_path, table).num_rows == 200


def test_a_read_only_folder(calve, small_disk, tmp_path):
    warehouse = Warehouse(calve, small_disk, "filesystem")
    table = warehouse.create("t")
    calve.run("append", table, write(tmp_path / "few.parquet", 0, 100))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    refused(calve.run("append", table, tmp_path / "few.parquet", check=False), "Read-only file system")
    refused(calve.run("rewrite", table, "--rewrite-all", check=False), "Read-only file system")
    assert arrow_rows(calve, tmp_path, table).num_rows == 100


def test_interrupted_work_leaves_nothing_half_made(calve, table, tmp_path):
    """Ctrl-C: the process ends with 130 (or had finished, or had not begun), and the folder holds whole files only."""
    not_begun = -signal.SIGINT  # before the handler was installed
    big = write(tmp_path / "big.parquet", 0, 1_000_000)
    before = content(table)
    process = subprocess.Popen([calve.binary, "append", str(table), str(big)], env=calve.environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    try:
        process.wait(timeout=0.15)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    if process.returncode != 0:
        assert process.returncode in (130, not_begun)
        assert content(table) == before
    out = tmp_path / "out.parquet"
    process = subprocess.Popen([calve.binary, "scan", str(big), "--to", str(out)], env=calve.environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        process.wait(timeout=0.05)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert process.returncode in (0, 130, not_begun)
    assert out.exists() == (process.returncode == 0)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
