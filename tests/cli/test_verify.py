"""calve verify: what it prints, and its exit codes."""

import json
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_support import BINARY, refused


def verify(*arguments):
    return subprocess.run([BINARY, "verify", *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture
def right(tmp_path):
    path = tmp_path / "right.parquet"
    table = pa.table({"a": list(range(1000)), "s": [None if i % 3 == 0 else f"text {i}" for i in range(1000)]})
    pq.write_table(table, path, write_page_index=True, write_page_checksum=True, compression="none", use_dictionary=False)
    return path


@pytest.fixture
def wrong(tmp_path, right):
    """A byte of the first column's values is another one."""
    path = tmp_path / "wrong.parquet"
    offset = pq.ParquetFile(right).metadata.row_group(0).column(0).data_page_offset
    content = bytearray(right.read_bytes())
    content[offset + 4000] ^= 1
    path.write_bytes(content)
    return path


def test_a_right_file(right):
    result = verify(right)
    assert result.returncode == 0 and result.stderr == ""
    assert result.stdout.startswith(f"{right}: right (1,000 rows, 2 columns, 2 pages")


def test_a_wrong_file_ends_with_1_and_each_violation_is_a_line(right, wrong):
    result = verify(right, wrong)
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert len(lines) >= 3 and ": right" in lines[0] and lines[1].startswith(f"{wrong}: ")
    assert any("row group 0, column 'a', page 0 at byte 4: page.crc: said " in line for line in lines[2:])
    assert result.stderr.startswith("calve: error: ") and "in 1 of 2 files" in result.stderr


def test_json_is_an_object_a_file(right, wrong):
    result = verify(right, wrong, "--json")
    assert result.returncode == 1
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {"file": str(right), "ok": True, "bytes": right.stat().st_size, "rows": 1000, "row_groups": 1, "columns": 2, "pages": 2,
                     "values": 2000, "violation_count": 0, "violations": [], "not_checked": []}
    assert second["ok"] is False and second["violation_count"] == len(second["violations"])
    crc = next(violation for violation in second["violations"] if violation["rule"] == "page.crc")
    assert (crc["row_group"], crc["column"], crc["page"], crc["offset"]) == (0, "a", 0, 4) and crc["said"] != crc["is"]


def test_what_is_no_parquet_file_is_a_violation(tmp_path):
    (tmp_path / "x.parquet").write_text("no Parquet at all, but long enough")
    result = verify(tmp_path / "x.parquet")
    assert result.returncode == 1 and "file.footer" in result.stdout and "file.magic" in result.stdout


def test_a_missing_file_and_a_wrong_key_are_named(tmp_path, right):
    refused(verify(tmp_path / "nowhere.parquet"), "nowhere.parquet")
    refused(verify(right, "--footer-key", "xyz"), "hexadecimal", code=2)
    refused(verify(right, "--column-key", "abcd"), "COLUMN=KEY", code=2)


def test_help_has_an_example():
    result = verify("--help")
    assert result.returncode == 0 and "calve verify part-0.parquet" in result.stdout
