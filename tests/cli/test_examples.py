"""The example programs, one after another: each public header in use."""

import os
import re
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = Path(os.environ.get("CALVE_BUILD", ROOT / "build/release")) / "examples"


def run(name, *arguments):
    process = subprocess.run([EXAMPLES / f"example_{name}", *map(str, arguments)], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_every_example_does_what_it_says(tmp_path):
    file, warehouse, table = tmp_path / "three.parquet", tmp_path / "warehouse", tmp_path / "warehouse/db/t"
    assert run("write_parquet", file) == "3 rows\n"
    assert "two" in run("read_parquet", file)
    assert run("copy_files", tmp_path / "copy.parquet", file, file) == "6 rows copied\n"
    assert run("verify_parquet", file) == "0 violations in 2 pages\n"
    assert run("keep_footers", file) == "3 rows, 0 footers found again\n3 rows, 1 footers found again\n"
    assert run("exchange_blocks", tmp_path / "blocks.data") == "3 rows, lz4\n3 rows, lz4\n"
    assert run("create_table", warehouse, "db.t") == "created db.t\n"
    for _ in range(3):
        assert run("append_files", table, file, file) == "6 rows appended\n"
    assert run("scan_table", table, "id = 2").startswith("6 rows match")
    assert re.match(r"format v2, 3 snapshots, \d+ files\n", run("inspect_table", table))
    assert re.search(r"\d+ files became \d+\n", run("compact_table", table))
    assert run("scan_table", table, "id >= 1").startswith("18 rows match")


def test_the_example_of_a_shuffle(tmp_path):
    file = tmp_path / "ids.parquet"
    pq.write_table(pa.table({"id": pa.array([1, 0, -1, 2**63 - 1, -(2**63)])}), file)
    # Spark: the ids are in partitions 69, 5, 193, 171 and 115 of 200.
    output = run("shuffle_rows", file, "id", 200, tmp_path / "shuffle").splitlines()
    assert [line for line in output if line.endswith(" 1 rows")] == [f"partition {p}: 1 rows" for p in (5, 69, 115, 171, 193)]


def test_the_example_of_an_arrow_file(tmp_path):
    rows = pa.table({"id": [1, 2, 3], "t": ["a", None, "c"]})
    with pa.ipc.new_file(tmp_path / "rows.arrow", rows.schema) as file:
        file.write_table(rows, max_chunksize=2)
    assert run("read_arrow_file", tmp_path / "rows.arrow") == "3 rows of 2 columns\n"


def test_the_example_of_a_partition_spec(tmp_path):
    file = tmp_path / "ids.parquet"
    pq.write_table(pa.table({"id": pa.array([7, 7, 7, 8], pa.int64())}), file)
    output = run("partition_rows", file, "bucket[16](id)", 3).splitlines()
    assert len(output) == 3 and sorted(line.split(": ")[1] for line in output) in (["0 rows", "0 rows", "4 rows"], ["0 rows", "1 rows", "3 rows"])


def test_the_example_of_an_encrypted_file(tmp_path):
    file, key = tmp_path / "secret.parquet", tmp_path / "key"
    key.write_bytes(b"0123456789012345")
    encryption = pe.create_encryption_properties(footer_key=key.read_bytes(), encryption_algorithm="AES_GCM_CTR_V1")
    pq.write_table(pa.table({"name": ["one", "two"]}), file, encryption_properties=encryption)
    output = run("read_encrypted", file, key)
    assert output.startswith("the footer is encrypted\n") and "two" in output


def test_every_public_header_has_an_example():
    sources = "".join(path.read_text() for path in (ROOT / "examples").glob("*.cc"))
    headers = {path.name for path in (ROOT / "include/calve").glob("*.h")}
    assert headers == set(re.findall(r"#include <calve/(\w+\.h)>", sources))
