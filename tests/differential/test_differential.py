"""Random files of other writers, as calve reads them, and of calve, as others do: tests/differential/run.py under pytest.

CALVE_DIFFERENTIAL_FILES (2,000) and CALVE_DIFFERENTIAL_SEED (any) choose what is run.
"""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import peer_readers  # noqa: E402
import run  # noqa: E402
import writers  # noqa: E402

FILES = int(os.environ.get("CALVE_DIFFERENTIAL_FILES", 2000))
SEED = os.environ.get("CALVE_DIFFERENTIAL_SEED") or str(random.SystemRandom().getrandbits(32))
HAVE_CARGO = shutil.which("cargo") is not None


def build_folder():
    return os.environ.get("CALVE_BUILD") or str(run.ROOT / "build/release")


@pytest.mark.parametrize("writer", ["pyarrow", "arrow-rs", "duckdb"])
def test_random_files_read_as_they_were_written(writer):
    if writer == "arrow-rs" and not HAVE_CARGO:
        pytest.skip("arrow-rs needs cargo, which is not installed")
    files = -(-FILES // (3 if HAVE_CARGO else 2))
    arguments = run.parse(["--files", str(files), "--seed", SEED, "--writers", writer, "--build", build_folder()])
    cases, failures = run.run(arguments)
    assert cases == files
    assert not failures, "\n".join(run.described(arguments, failure) for failure in failures)


def test_random_files_of_calve_are_read_as_they_were_written():
    arguments = run.parse(["--files", str(FILES), "--seed", SEED, "--writers", "calve", "--build", build_folder()])
    cases, failures = run.run(arguments)
    assert cases == FILES
    assert not failures, "\n".join(run.described(arguments, failure) for failure in failures)


def same(folder, got, expected, form):
    for name, table in (("got", got), ("expected", expected)):
        peer_readers.write_ipc(table, folder / f"{name}.arrow")
    line = "\t".join(["0", str(folder / "got.arrow"), str(folder / "expected.arrow"), form])
    return run.run_tool([Path(build_folder()) / "tests/calve_differential", "same"], [line])[0]


def test_a_difference_of_what_was_read_is_found(tmp_path):
    def tables(rows):
        pairs = pa.array(rows, pa.list_(pa.int32(), 2))
        views = pa.array(rows, pa.list_view(pa.int32()))
        lists = pa.array(rows, pa.list_(pa.int32()))
        return [pa.table({"c": column}) for column in (pairs, views, lists)]

    rows = [[1, 2], None, [3, None], [4, 5]]
    for left in tables(rows):
        for right in tables(rows):
            assert same(tmp_path, left, right, "exact") == "0\tok"
        for right in tables([[1, 2], None, [3, 0], [4, 5]]) + tables([[1, 2], [0, 0], [3, None], [4, 5]]):
            assert "differs" in same(tmp_path, left, right, "exact")
    texts = ["a", "a", None, "b"]
    plain = pa.table({"c": texts})
    coded = pa.table({"c": pa.array(texts).dictionary_encode()})
    runs = pa.table({"c": pa.RunEndEncodedArray.from_arrays([2, 3, 4], ["a", None, "b"])})
    for other in (coded, runs):
        assert same(tmp_path, other, plain, "exact") == "0\tok"
        assert "differs" in same(tmp_path, other, pa.table({"c": ["a", "b", None, "b"]}), "exact")
    maps = pa.table({"c": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int32()))})
    entries = pa.table({"c": pa.array([[{"key": "k", "value": 1}], None])})
    assert "schema" in same(tmp_path, entries, maps, "loose")
    entries = entries.cast(pa.schema({"c": pa.list_(pa.struct({"key": pa.string(), "value": pa.int32()}))}))
    assert same(tmp_path, entries, maps, "lists") == "0\tok"


def compare(folder, table, written):
    """What calve_differential says of a file of `written` that should hold `table`."""
    with pa.ipc.new_file(folder / "0.arrow", table.schema) as sink:
        sink.write_table(table)
    pq.write_table(written, folder / "0.parquet")
    line = "\t".join(["0", str(folder / "0.arrow"), str(folder / "0.parquet"), writers.NULLABILITY["pyarrow"]])
    tool = Path(build_folder()) / "tests/calve_differential"
    return subprocess.run([str(tool), "compare"], input=line + "\n", capture_output=True, text=True, check=True).stdout.strip()


def test_a_difference_is_found(tmp_path):
    rows = [{"a": [1, None], "b": "x"}, None, {"a": None, "b": ""}]
    table = pa.table({"s": pa.array(rows, pa.struct({"a": pa.list_(pa.int64()), "b": pa.string()}))})
    assert compare(tmp_path, table, table) == "0\tok"
    for other in ({"a": [1, 0], "b": "x"}, {"a": [1], "b": "x"}, {"a": [1, None], "b": None}, None):
        changed = pa.table({"s": pa.array([other, *rows[1:]], table.schema.field("s").type)})
        assert "differs" in compare(tmp_path, table, changed), other
    assert "rows, expected 3" in compare(tmp_path, table, table.slice(1))
    required = pa.table({"x": pa.array([1])}, pa.schema([pa.field("x", pa.int64(), nullable=False)]))
    assert "schema" in compare(tmp_path, required, pa.table({"x": [1]}))
