"""bench/write.py: what its table says, and that the programs it times write what they were given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("CALVE_BUILD", ROOT / "build/release"))
PROGRAM = BUILD / "bench/calve_peer_write"
sys.path.insert(0, str(ROOT / "bench"))

import write as bench_write  # noqa: E402
import write_table  # noqa: E402

built = pytest.mark.skipif(not PROGRAM.exists(), reason="the benchmark programs are not built")


def row(times, **more):
    return {"case": "x", "option": "default", "threads": 1, "pages": 0, "levels": False, "written": {}, "failures": {}, "times": times, **more}


def test_ratio_is_the_median_of_paired_rounds():
    paired = row({"calve": [1.0, 2.0, 4.0], "Polars": [9.0, 9.0, 9.0], "arrow-rs": [2.0, 6.0, 8.0]})
    assert write_table.fastest_peer(paired) == "arrow-rs"
    assert write_table.ratio_of(paired) == 2.0


def test_zstd_is_held_against_the_codec_and_our_own_uncompressed_time():
    zstd = row({"calve": [12.0], "calve, uncompressed": [2.0], "floor": [8.0], "Polars": [20.0]}, option="zstd")
    assert write_table.over_codec(zstd) == 1.2
    assert "1 above 1.15 (x, zstd 1.20)." in write_table.summary_of([zstd])
    assert write_table.over_codec(row({"calve": [12.0], "floor": [8.0]})) is None


@pytest.mark.parametrize("size, too_large", [(1_010_000 + 24 * 1024 + 640, False), (1_010_000 + 24 * 1024 + 641, True)])
def test_a_file_may_be_a_hundredth_and_something_a_page_larger(size, too_large):
    written = {"calve": size, "Polars": 2_000_000, "DuckDB": 1_000_000}
    assert write_table.is_too_large(row({}, written=written, pages=10)) == too_large


def test_uncompressed_and_zstd_have_means_of_their_own():
    rows = [row({"calve": [1.0], "Polars": [4.0]}), row({"calve": [2.0], "Polars": [1.0]}, option="zstd")]
    summary = write_table.summary_of(rows)
    assert "Uncompressed, fastest peer / calve: geometric mean 4.00 over 1 cases, 0 below 1." in summary
    assert "zstd, fastest peer / calve: geometric mean 0.50 over 1 cases, 1 below 1 (x, zstd 0.50)." in summary


def test_the_table_has_some_options_and_the_summary_all():
    rows = [row({"calve": [1.0], "Polars": [4.0]}), row({"calve": [2.0], "Polars": [1.0]}, option="cdc")]
    assert "| cdc |" not in write_table.table_of(rows, 1) and "| default |" in write_table.table_of(rows, 1)
    assert "| cdc |" in write_table.table_of(rows[1:], 1)
    assert "in what follows: cdc." in write_table.summary_of(rows) and "over 2 cases, 1 below 1 (x, cdc 0.50)" in write_table.summary_of(rows)


def test_what_calve_does_not_write_is_named():
    assert "calve did not write: x, default." in write_table.summary_of([row({"Polars": [1.0]})])


def test_mostly_null_shapes_are_held_against_arrow_rs():
    assert "Mostly null, arrow-rs / calve (20,000 rows a page in both): x, default 6.0." in \
        write_table.summary_of([row({"calve": [1.0], "Polars": [2.0], "arrow-rs": [6.0]}, levels=True)])


def test_readme_is_written_between_the_markers(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"before\n{write_table.BEGIN}\nold\n{write_table.END}\nafter\n")
    write_table.update_readme("new", path)
    assert path.read_text() == f"before\n{write_table.BEGIN}\n\nnew\n\n{write_table.END}\nafter\n"


def test_cases_are_the_shapes_of_arrow_rs_and_more():
    frozen = json.loads((ROOT / "bench/write_cases.json").read_text())
    shapes = [case["shape"] for case in frozen["cases"]]
    assert len(shapes) == len(set(shapes)) and len([case for case in frozen["cases"] if "options" not in case]) == 32
    assert bench_write.rows_of({"shape": "x"}, frozen, 0.5) == 524288
    assert bench_write.rows_of({"shape": "x", "rows": 1, "fixed": True}, frozen, 0.5) == 1


@pytest.fixture
def arrow_file(tmp_path):
    import pyarrow as pa
    table = pa.table({"a": pa.array([None if i % 4 == 1 else i * 7919 for i in range(50000)], pa.int64()),
                      "b": pa.array([[j for j in range(i % 5)] for i in range(50000)], pa.list_(pa.int32())),
                      "c": [f"text {i % 1000}" for i in range(50000)]})
    path = tmp_path / "x.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        for batch in table.to_batches(20000):
            writer.write_batch(batch)
    return path, table


def facts(*words):
    result = subprocess.run([PROGRAM, "--rounds", "2", *map(str, words)], capture_output=True, text=True)
    if result.returncode and "calve has no option" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    return dict(word.split("=") for word in result.stdout.split())


@built
@pytest.mark.parametrize("writer", ["calve", "arrow"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("option", ["default", "bloom_filter", "parquet_2", "zstd", "zstd_parquet_2", "cdc", "plain"])
def test_what_is_timed_is_a_file_with_the_rows_given(tmp_path, arrow_file, writer, threads, option):
    import pyarrow.parquet as pq
    path, table = arrow_file
    out = tmp_path / "out.parquet"
    said = facts("--writer", writer, "--threads", threads, "--option", option, "--out", out, path)
    assert int(said["output_bytes"]) == out.stat().st_size and said["rows"] == "50000" and int(said["input_bytes"]) > 50000 * 8
    assert float(said["median_ms"]) > 0
    file = pq.ParquetFile(out)
    assert file.metadata.num_row_groups == 3  # one a batch
    assert {file.metadata.row_group(0).column(i).compression for i in range(3)} == {"ZSTD" if option.startswith("zstd") else "UNCOMPRESSED"}
    assert file.read().equals(table)


@built
def test_floor_takes_pages_that_are_not_compressed(tmp_path, arrow_file):
    def floor(name, *words):
        facts("--option", name, "--out", tmp_path / f"{name}.parquet", arrow_file[0])
        return subprocess.run([BUILD / "bench/write_floor", "--rounds", "1", *words, tmp_path / f"{name}.parquet"], capture_output=True, text=True)
    said = dict(word.split("=") for word in floor("default", "--level", "1", "--threads", "2").stdout.split())
    assert said["rows"] == "50000" and int(said["pages"]) >= 9 and float(said["median_ms"]) > 0
    assert "compressed already" in floor("zstd").stderr


@built
@pytest.mark.parametrize("words, message", [([], "no file given"), (["--option", "best", "x.arrow"], "x.arrow"), (["--writer", "me", "x"], "--writer"),
                                            (["--rounds", "many", "x"], "--rounds wants a number")])
def test_wrong_arguments_are_named(words, message):
    result = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    assert result.returncode == 1 and message in result.stderr
