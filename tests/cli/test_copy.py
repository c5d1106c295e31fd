"""calve copy: what comes out of each kind of input, read by pyarrow; and files that appear whole or not at all."""

import json
import os
import random
import resource
import signal
import subprocess
import time

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cli_support import BINARY, refused


def copy(*arguments, **more):
    return subprocess.run([BINARY, "copy", *map(str, arguments)], capture_output=True, text=True, **more)


def done(*arguments):
    result = copy(*arguments)
    assert result.returncode == 0, result.stderr
    return result


def clean(*paths):
    result = subprocess.run([BINARY, "verify", *map(str, paths)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


@pytest.fixture
def table():
    return pa.table({"a": [None if i % 7 == 2 else i * 7919 for i in range(20000)],
                     "s": pa.array([f"text {i % 700}" for i in range(20000)]).dictionary_encode(),
                     "l": [None if i % 5 == 1 else list(range(i % 4)) for i in range(20000)],
                     "d": pa.array([i * 0.25 for i in range(20000)], pa.float32())})


@pytest.fixture
def inputs(tmp_path, table):
    pq.write_table(table, tmp_path / "in.parquet")
    with pa.ipc.new_file(tmp_path / "in.arrow", table.schema) as writer:
        writer.write_table(table, 3000)
    with pa.ipc.new_stream(tmp_path / "in.arrows", table.schema) as writer:
        writer.write_table(table, 3000)
    return tmp_path


@pytest.mark.parametrize("kind", ["in.parquet", "in.arrow", "in.arrows"])
@pytest.mark.parametrize("options", [[], ["--compression", "snappy", "--data-page-version", "2"], ["--no-dictionary", "--page-rows", "100"],
                                     ["--row-group-rows", "777", "--compression", "none"], ["--threads", "1", "--level", "9"]])
def test_pyarrow_reads_what_was_copied(inputs, table, kind, options):
    out = inputs / "out.parquet"
    done(inputs / kind, "--to", out, *options)
    got = pq.read_table(out)
    assert got.num_rows == table.num_rows
    for name in table.column_names:
        assert got[name].to_pylist() == table[name].to_pylist(), name
    clean(out)
    assert sorted(path.name for path in inputs.iterdir()) == ["in.arrow", "in.arrows", "in.parquet", "out.parquet"]


def test_csv(tmp_path):
    table = pa.table({"n": [1, 2, 3], "t": ["a", "b\nc", "d,e"], "x": [0.5, None, 1.5]})
    pa.csv.write_csv(table, tmp_path / "in.csv")
    done(tmp_path / "in.csv", "--to", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == table.to_pydict()


def test_where_of_csv(tmp_path):
    (tmp_path / "in.csv").write_text("n,t,d\n1,a,2024-01-01\n2,b,2024-06-01\n,c,\n4,d,2025-01-01\n")
    done(tmp_path / "in.csv", "--to", tmp_path / "out.parquet", "--where", "n > 1 AND d < DATE '2025-01-01'", "--columns", "t")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"t": ["b"]}
    done(tmp_path / "in.csv", "--to", tmp_path / "none.parquet", "--where", "t = 'nowhere'")
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0
    refused(copy(tmp_path / "in.csv", "--to", tmp_path / "o.parquet", "--where", "x = 1"), "in.csv", "x")
    assert not (tmp_path / "o.parquet").exists()


def test_errors_name_the_file_once(inputs):
    (inputs / "in.csv").write_text("n\n1\n")
    for name in ["in.parquet", "in.arrow", "in.arrows", "in.csv"]:
        line = refused(copy(inputs / name, "--to", inputs / "o.parquet", "--where", "nowhere = 1"), "no column 'nowhere'")
        assert line.startswith(f"calve: error: {inputs / name}: filter: "), line


def test_inputs_that_differ_become_one_by_name(tmp_path):
    pq.write_table(pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["x", "y"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"c": [1.5], "a": pa.array([3], pa.int64())}), tmp_path / "2.parquet")
    done(tmp_path / "1.parquet", tmp_path / "2.parquet", "--to", tmp_path / "out.parquet")
    got = pq.read_table(tmp_path / "out.parquet")
    assert got.to_pydict() == {"a": [1, 2, 3], "b": ["x", "y", None], "c": [None, None, 1.5]}
    assert got.schema.field("a").type == pa.int64()


def test_inputs_that_do_not_fit_are_named(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [[1]]}), tmp_path / "2.parquet")
    refused(copy(tmp_path / "1.parquet", tmp_path / "2.parquet", "--to", tmp_path / "out.parquet"), "2.parquet", "a")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("name", ["in.parquet", "in.arrow", "in.arrows"])
def test_columns_and_where(inputs, table, name):
    done(inputs / name, "--to", inputs / "out.parquet", "--columns", "d,a", "--where", "a < 79190")
    got = pq.read_table(inputs / "out.parquet")
    assert got.column_names == ["d", "a"]
    assert got["a"].to_pylist() == [value for value in table["a"].to_pylist() if value is not None and value < 79190]


def test_rolling_by_size(tmp_path):
    numbers = random.Random(7)
    table = pa.table({"a": [numbers.randrange(2**62) for _ in range(400000)]})
    pq.write_table(table, tmp_path / "in.parquet", compression="none", row_group_size=50000)
    result = done(tmp_path / "in.parquet", "--to", tmp_path / "out", "--target-file-size", "1MiB", "--json", "--compression", "none")
    said = json.loads(result.stdout)
    parts = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in parts] == [f"part-{i:05}.parquet" for i in range(len(parts))] and len(parts) >= 3
    assert [(file["path"], file["bytes"]) for file in said["files"]] == [(str(path), path.stat().st_size) for path in parts]
    assert pa.concat_tables(pq.read_table(path) for path in parts).equals(table)
    clean(*parts)


def test_json_says_rows_bytes_ratio_encodings_and_times(inputs):
    said = json.loads(done(inputs / "in.parquet", "--to", inputs / "out.parquet", "--json").stdout)
    assert said["rows"] == 20000 and said["input_bytes"] == (inputs / "in.parquet").stat().st_size
    assert said["output_bytes"] == (inputs / "out.parquet").stat().st_size
    chunk = pq.ParquetFile(inputs / "out.parquet").metadata.row_group(0).column(1)
    column = next(column for column in said["columns"] if column["name"] == "s")
    assert column["compressed_bytes"] == chunk.total_compressed_size and "RLE_DICTIONARY" in column["encodings"]
    assert said["compression_ratio"] > 1
    assert all(said[f"{stage}seconds"] >= 0 for stage in ["read_", "write_", "publish_", ""])


def test_a_file_that_is_there_stays_unless_forced(inputs):
    out = inputs / "out.parquet"
    out.write_text("mine")
    refused(copy(inputs / "in.parquet", "--to", out), "out.parquet", "there already")
    assert out.read_text() == "mine"
    done(inputs / "in.parquet", "--to", out, "--force")
    assert pq.read_table(out).num_rows == 20000


def test_what_cannot_be_read_is_named(tmp_path, inputs):
    (tmp_path / "x.txt").write_text("hello there")
    refused(copy(tmp_path / "x.txt", "--to", tmp_path / "o.parquet"), "x.txt", "neither Parquet")
    content = bytearray((inputs / "in.parquet").read_bytes())
    content[200:260] = bytes(60)
    (tmp_path / "damaged.parquet").write_bytes(content)
    refused(copy(tmp_path / "damaged.parquet", "--to", tmp_path / "o.parquet"), "damaged.parquet")
    assert not (tmp_path / "o.parquet").exists()


# ---- Nothing that looks whole.

def leftovers(folder):
    """What a reader of the folder would take for data."""
    return [path.name for path in folder.iterdir() if not path.name.startswith(".")] if folder.exists() else []


@pytest.fixture
def large(tmp_path):
    numbers = random.Random(3)
    table = pa.table({"a": [numbers.randrange(2**62) for _ in range(300000)], "s": [f"row {numbers.randrange(10**9)}" for _ in range(300000)]})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=20000)
    return tmp_path / "in.parquet"


def test_a_full_disk(tmp_path, large):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # noqa: E731
    for arguments in [["--to", tmp_path / "out/o.parquet"], ["--to", tmp_path / "out", "--target-file-size", "3MiB"]]:
        result = copy(large, *arguments, preexec_fn=limit)
        line = refused(result, "parquet", "rows")
        assert "out/" in line
        assert leftovers(tmp_path / "out") == []
        assert not list((tmp_path / "out").glob(".*")) if (tmp_path / "out").exists() else True


@pytest.mark.parametrize("to", [["out/o.parquet"], ["out", "--target-file-size", "1MiB"]])
def test_killed_at_any_moment(tmp_path, large, to):
    for moment in [0.0, 0.02, 0.05, 0.1, 0.2, 0.4]:
        process = subprocess.Popen([BINARY, "copy", large, "--to", tmp_path / to[0], *to[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        ended = process.wait()
        names = leftovers(tmp_path / "out")
        for name in names:
            pq.ParquetFile(tmp_path / "out" / name)  # what has a name is whole
        if ended == 0:
            assert names
        subprocess.run(["rm", "-rf", tmp_path / "out"], check=True)


def test_interrupted(tmp_path, large):
    process = subprocess.Popen([BINARY, "copy", large, large, large, large, "--to", tmp_path / "out/o.parquet", "--threads", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out").exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    process.communicate()
    if process.returncode == 0:
        pytest.skip("it was done before the signal came")
    assert process.returncode == 130 and not (tmp_path / "out").exists()


def test_help_has_an_example():
    result = copy("--help")
    assert result.returncode == 0 and "calve copy rows.csv --to rows.parquet" in result.stdout


def test_a_folder_that_cannot_be_written(tmp_path, large):
    if os.geteuid() == 0:
        (tmp_path / "file").write_text("no folder")
        refused(copy(large, "--to", tmp_path / "file/o.parquet"), "file")
        return
    (tmp_path / "locked").mkdir(mode=0o500)
    refused(copy(large, "--to", tmp_path / "locked/o.parquet"), "locked")


@pytest.mark.parametrize("name", ["in.arrow", "in.arrows"])
def test_arrow_files_are_scanned_as_parquet_files_are(inputs, name):
    def scan(source, *more):
        result = subprocess.run([BINARY, "scan", str(inputs / source), *more], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout
    for more in [["--limit", "50"], ["--columns", "d,s", "--where", "a < 79190 AND s = 'text 3'"], ["--count"], ["--where", "a IS NULL", "--count"]]:
        assert scan(name, *more) == scan("in.parquet", *more), more
    assert json.loads(scan(name, "--explain", "--json"))["rows"] == 20000


def test_an_arrow_file_and_a_parquet_file_are_not_one(inputs):
    result = subprocess.run([BINARY, "scan", str(inputs / "in.arrow"), str(inputs / "in.parquet")], capture_output=True, text=True)
    assert result.returncode == 1 and "in.parquet' is not: files of one kind" in result.stderr
