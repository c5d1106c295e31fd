"""bench/read.py: what its table says, and that all readers read the same."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("CALVE_BUILD", ROOT / "build/release"))
sys.path.insert(0, str(ROOT / "bench"))

import read_data  # noqa: E402
import read_table  # noqa: E402


def row(times, **more):
    return {"case": "x", "form": "any", "way": "", "threads": 1, "footer": False, "checksums": {}, "times": times, **more}


def test_ratio_is_the_median_of_paired_rounds():
    paired = row({"calve": [1.0, 2.0, 4.0], "pyarrow": [9.0, 9.0, 9.0], "arrow-rs": [2.0, 6.0, 8.0]})
    assert read_table.fastest_peer(paired) == "arrow-rs"
    assert read_table.ratio_of(paired) == 2.0


def test_a_case_is_codec_bound_when_the_floor_is_over_half_of_the_fastest_peer():
    assert read_table.is_codec_bound(row({"calve": [5.0], "pyarrow": [10.0], "floor": [5.1]}))
    assert not read_table.is_codec_bound(row({"calve": [5.0], "pyarrow": [10.0], "floor": [5.0]}))
    assert not read_table.is_codec_bound(row({"calve": [5.0], "pyarrow": [10.0]}))


def test_scaling_is_a_part_of_the_controls():
    times = {"calve": [6.0], "calve, one thread": [9.0], "floor": [1.0], "floor, one thread": [2.0], "pyarrow": [9.0]}
    assert read_table.scaling_of(row(times, threads=2)) == 0.75
    assert "below: x 0.75" in read_table.summary_of([row(times, threads=2)])


def test_mean_leaves_out_codec_bound_cases_dictionaries_kept_batches_and_footers():
    fast = {"calve": [1.0], "pyarrow": [4.0], "floor": [0.1]}
    slow = {"calve": [4.0], "pyarrow": [1.0], "floor": [0.1]}
    rows = [row(fast), row({"calve": [1.0], "pyarrow": [1.0], "floor": [0.9]}), row(slow, form="dictionary"), row(slow, way="keep"),
            row(slow, footer=True)]
    summary = read_table.summary_of(rows)
    assert "geometric mean 4.00 over 1 cases, 0 below 1." in summary
    assert "Codec-bound: 1 cases, at most 1.11 times the floor, 0 above 1.2." in summary


def test_a_case_that_calve_does_not_read_is_named():
    assert "calve did not read: x." in read_table.summary_of([row({"pyarrow": [1.0]})])


def test_footers_are_compared_with_pyarrow():
    summary = read_table.summary_of([row({"calve": [1.0], "pyarrow": [30.0], "arrow-rs": [3.0]}, footer=True, way="cached")])
    assert "pyarrow / calve: x, footer cached by calve 30.0." in summary


def test_readme_is_written_between_the_markers(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"before\n{read_table.BEGIN}\nold\n{read_table.END}\nafter\n")
    read_table.update_readme("new", path)
    assert path.read_text() == f"before\n{read_table.BEGIN}\n\nnew\n\n{read_table.END}\nafter\n"


def test_cases_name_files_that_have_recipes():
    frozen = json.loads((ROOT / "bench/cases.json").read_text())
    assert {case["file"] for case in frozen["cases"]} <= set(frozen["files"])
    names = [case["name"] for case in frozen["cases"]]
    assert len(names) == len(set(names))
    assert read_data.recipe_of(frozen["files"], "flat_snappy", 0.5)["rows"] == 500000


def run(*arguments):
    return subprocess.run([sys.executable, ROOT / "bench/read.py", "--build", BUILD, "--scale", "0.002", "--rounds", "1", *arguments],
                          capture_output=True, text=True)


@pytest.mark.skipif(not (BUILD / "bench/calve_peer_read").exists(), reason="the benchmark programs are not built")
@pytest.mark.parametrize("peer", ["pyarrow", "DuckDB", "Polars"])
def test_peers_read_what_calve_reads(tmp_path, peer):
    if importlib.util.find_spec(peer.lower()) is None:
        pytest.skip(f"{peer} is not installed")
    out = tmp_path / "out.json"
    cases = "flat all,plain longCol,decimal,strings opt,nested,footer of 10"
    result = run("--threads", "1", "--peers", peer, "--cases", cases, "--forms", "utf8,keep", "--json", out)
    assert result.returncode == 0, result.stderr
    rows = [row for row in json.loads(out.read_text())["rows"] if peer in row["checksums"]]
    assert len(rows) >= 6
    for row in rows:
        assert row["checksums"]["calve"] == row["checksums"][peer], row["case"]


@pytest.mark.skipif(not (BUILD / "bench/calve_peer_read").exists(), reason="the benchmark programs are not built")
@pytest.mark.parametrize("arguments", [["--threads", "2"], ["--keep"], ["--batch-rows", "777"], ["--reader", "arrow"], ["--columns", "a,b"]])
def test_one_line_says_rows_bytes_median_and_checksum(tmp_path, arguments):
    import pyarrow as pa
    import pyarrow.parquet as pq
    pq.write_table(pa.table({"a": list(range(3000)), "b": [f"{i}" for i in range(3000)]}), tmp_path / "x.parquet")
    program = BUILD / "bench/calve_peer_read"

    def facts(*more):
        result = subprocess.run([program, "--rounds", "2", *more, tmp_path / "x.parquet"], capture_output=True, text=True, check=True)
        assert result.stdout.count("\n") == 1
        return dict(word.split("=") for word in result.stdout.split())
    plain, other = facts(), facts(*arguments)
    assert plain["rows"] == "3000"
    assert int(plain["bytes"]) == 3000 * 8 + 3000 * 4 + sum(len(str(i)) for i in range(3000))
    assert {key: other[key] for key in ["rows", "bytes", "checksum"]} == {key: plain[key] for key in ["rows", "bytes", "checksum"]}
    assert float(other["median_ms"]) > 0
