"""Spark with Comet reads the shuffle files that calve wrote, in the place of its own."""

import datetime as dt
import os
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
SPARK = ROOT / "build/spark"
PARTITIONS = 7
COUNT = 16000


def table(mark):
    """Rows of equal keys have other values for another mark, so that nobody can take Spark's own file for calve's."""
    ids = range(COUNT)
    nulls = lambda values: [None if i % 11 == 4 else value for i, value in enumerate(values)]  # noqa: E731
    return pa.table({
        "id": pa.array(ids, pa.int64()),
        "text": nulls(f"{mark} {i % 100}" for i in ids),
        "code": pa.array(nulls(f"{mark} code {i % 3}" for i in ids)).dictionary_encode(),
        "number": pa.array(nulls(i + len(mark) for i in ids), pa.int32()),
        "real": [i / 8 + len(mark) for i in ids],
        "flag": nulls(i % 3 == len(mark) % 3 for i in ids),
        "raw": pa.array(nulls(mark.encode() + bytes([i % 256]) for i in ids), pa.binary()),
        "day": pa.array(nulls(dt.date(2000, 1, 1) + dt.timedelta(days=i) for i in ids), pa.date32()),
        "at": pa.array(nulls(dt.datetime(2020, 1, 1) + dt.timedelta(seconds=i) for i in ids), pa.timestamp("us", "UTC")),
        "money": pa.array(nulls(Decimal(i * len(mark)).scaleb(-2) for i in ids), pa.decimal128(20, 2)),
        "list": pa.array(nulls([mark] * (i % 4) for i in ids), pa.list_(pa.string())),
        "place": pa.array(nulls({"x": i, "name": mark} for i in ids), pa.struct([("x", pa.int32()), ("name", pa.string())])),
        "tags": pa.array(nulls([(f"k{j}", i + j) for j in range(i % 3)] for i in ids), pa.map_(pa.string(), pa.int64())),
    })


class Comet:
    def __init__(self, folder):
        jars = sorted(SPARK.glob("comet-spark-*.jar"))
        if not jars:
            pytest.fail("CALVE_SPARK_TESTS=1 needs tools/setup_spark to have run")
        self.local = folder / "local"
        pq.write_table(table("spark"), folder / "spark.parquet")
        command = [SPARK / "venv/bin/python", ROOT / "tests/comet_reader.py", jars[-1], folder / "spark.parquet", "id", PARTITIONS, self.local]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def read(self, shuffle, out):
        """The rows that Comet finds when the files of `shuffle` stand where its own were."""
        for suffix in ("data", "index"):
            theirs, = self.local.rglob(f"shuffle_*.{suffix}")
            ours, = shuffle.glob(f"shuffle_*.{suffix}")
            shutil.copyfile(ours, theirs)
        self.process.stdin.write(f"{out}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ok\n"
        return pa.ipc.open_file(out).read_all().sort_by("id")

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


@pytest.fixture(scope="module")
def comet(tmp_path_factory):
    if os.environ.get("CALVE_SPARK_TESTS") != "1":
        pytest.skip("Comet is asked only with CALVE_SPARK_TESTS=1, after tools/setup_spark")
    reader = Comet(tmp_path_factory.mktemp("comet"))
    yield reader
    reader.close()


@pytest.mark.parametrize("name, options", [
    ("none", ["--codec", "none"]), ("lz4", ["--codec", "lz4"]), ("zstd", ["--codec", "zstd"]), ("snappy", ["--codec", "snappy"]),
    ("lengths", ["--codec", "zstd", "--offsets-as-lengths"]), ("spills", ["--codec", "lz4", "--budget", "128KiB", "--block-size", "8KiB"]),
])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_comet_reads_what_calve_wrote(calve, comet, tmp_path, name, options, form):
    rows = table(name + form)
    source = tmp_path / f"rows.{form}"
    if form == "parquet":
        pq.write_table(rows, source, store_schema=False)
    else:  # with its dictionaries
        with pa.ipc.new_file(source, rows.schema) as file:
            file.write_table(rows, max_chunksize=1000)
    calve.run("shuffle", "write", source, "--partitions", PARTITIONS, "--by", "id", *options, "--to", tmp_path / "out")
    found = comet.read(tmp_path / "out", tmp_path / "found.arrow")
    assert found.to_pylist() == rows.to_pylist()
