"""calve scan: formats, columns and filters; files appear whole or not at all."""

import csv
import io
import json
import resource
import signal
import subprocess
import time

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from cli_support import BINARY, refused
from tables import write

# ---- Formats.

def test_every_format_holds_the_same_rows(calve, file, tmp_path):
    expected = pq.read_table(file)
    rows = expected.to_pylist()
    assert calve.rows(file) == rows

    calve.run("scan", file, "--to", tmp_path / "out.arrow")
    with pa.ipc.open_file(tmp_path / "out.arrow") as reader:
        assert reader.read_all().to_pylist() == rows
    calve.run("scan", file, "--to", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == rows
    calve.run("scan", file, "--to", tmp_path / "out.jsonl")
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == rows
    calve.run("scan", file, "--to", tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as lines:
        cells = list(csv.reader(lines))
    assert cells[0] == expected.column_names
    assert cells[1:] == [["" if value is None else str(value) for value in row.values()] for row in rows]


def test_csv_quotes_what_must_be(calve, tmp_path):
    path = tmp_path / "odd.parquet"
    texts = ['a,b', 'say "no"', "two\nlines", "", None, "plain"]
    pq.write_table(pa.table({'na,me': texts, "l": [[1, None]] * 6}), path)
    text = calve.run("scan", path, "--format", "csv").stdout
    cells = list(csv.reader(io.StringIO(text)))
    assert cells[0] == ["na,me", "l"]
    assert [row[0] for row in cells[1:]] == ['a,b', 'say "no"', "two\nlines", "", "", "plain"]
    assert cells[1][1] == "[1,null]"
    assert '\n"",' in text, "an empty text is not a null"


def test_columns_limit_and_where(calve, file):
    assert calve.rows(file, "--columns", "s,id", "--limit", "2") == [{"s": "text number 0", "id": 0}, {"s": "text number 1", "id": 1}]
    assert [row["id"] for row in calve.rows(file, "--where", "id BETWEEN 5 AND 7")] == [5, 6, 7]
    assert calve.rows(file, "--limit", "0") == []
    assert calve.run("scan", file, "--count").stdout == "100\n"
    assert calve.run("scan", file, "--count", "--where", "v IS NULL").stdout == "15\n"


def test_where_by_file_and_position(calve, tmp_path):
    for number in range(3):
        pq.write_table(pa.table({"id": range(number * 10, number * 10 + 10)}), tmp_path / f"part-{number}.parquet", row_group_size=4)
    files, second = tmp_path / "part-*.parquet", tmp_path / "part-1.parquet"
    assert [row["id"] for row in calve.rows(files, "--where", f"_file = '{second}' AND _pos >= 8")] == [18, 19]
    assert [row["id"] for row in calve.rows(files, "--where", "_pos = 5 OR id = 21")] == [5, 15, 21, 25]
    assert [row["id"] for row in calve.rows(files, "--where", f"NOT _file IN ('{second}') AND _pos < 1")] == [0, 20]
    counted = json.loads(calve.run("scan", files, "--where", "_pos BETWEEN 4 AND 6", "--count", "--json").stdout)
    assert (counted["rows"], counted["row_groups_total"], counted["row_groups_skipped"]) == (9, 9, 6)
    pq.write_table(pa.table({"_pos": [7, 8], "id": [1, 2]}), tmp_path / "own.parquet")  # a column of that name is meant
    assert calve.rows(tmp_path / "own.parquet", "--where", "_pos = 8") == [{"_pos": 8, "id": 2}]
    refused(calve.run("scan", files, "--where", "_row_id = 1", check=False), "_row_id")


def test_where_by_file_and_position_in_a_table(calve, table):
    rows = calve.rows(table, "--columns", "id,_file,_pos")
    wanted = next(row for row in rows if row["id"] == 17)
    condition = f"_file = '{wanted['_file']}'"
    same_file = [row["id"] for row in rows if row["_file"] == wanted["_file"]]
    assert sorted(row["id"] for row in calve.rows(table, "--where", condition)) == sorted(same_file) and len(same_file) == 10
    assert [row["id"] for row in calve.rows(table, "--where", f"{condition} AND _pos = {wanted['_pos']}")] == [17]
    plan = json.loads(calve.run("scan", table, "--explain", "--json", "--where", condition).stdout)
    assert (plan["data_files_total"], plan["data_files_skipped"]) == (3, 2) and plan["files"][0]["residual"] == "TRUE"
    assert json.loads(calve.run("scan", table, "--explain", "--json", "--where", "_pos > 9").stdout)["data_files_skipped"] == 3
    refused(calve.run("scan", table, "--where", "_row_id = 1", check=False), "format version 3")


def test_globs_are_one_scan(calve, tmp_path):
    for number in range(3):
        write(tmp_path / f"part-{number}.parquet", number * 10, 10)
    assert [row["id"] for row in calve.rows(tmp_path / "part-*.parquet")] == list(range(30))
    assert calve.run("scan", tmp_path / "part-{0,2}.parquet", "--count").stdout == "20\n"
    refused(calve.run("scan", tmp_path / "nothing-*.parquet", check=False), "nothing-*.parquet")


def test_names_without_a_slash_are_files(calve, tmp_path):
    for number in range(2):
        write(tmp_path / f"part-{number}.parquet", number * 10, 10)
    for targets, rows in ((["part-*.parquet"], 20), (["part-{0,1}.parquet"], 20), (["file:part-0.parquet"], 10),
                          (["part-0.parquet", "part-?.parquet"], 30)):
        assert calve.run("scan", *targets, "--count", cwd=tmp_path).stdout == f"{rows}\n"
    refused(calve.run("scan", "gone.parquet", check=False, cwd=tmp_path), "no such file", "gone.parquet")
    refused(calve.run("scan", "gone-*.parquet", check=False, cwd=tmp_path), "no file matches", "gone-*.parquet")
    refused(calve.run("inspect", "file:gone", check=False, cwd=tmp_path), "no such file", "gone")


def test_json_summary_goes_where_the_rows_do_not(calve, file, tmp_path):
    process = calve.run("scan", file, "--to", tmp_path / "out.csv", "--json")
    assert json.loads(process.stdout)["rows"] == 100 and process.stderr == ""
    process = calve.run("scan", file, "--json", "--limit", "3")
    assert len(process.stdout.splitlines()) == 3
    assert json.loads(process.stderr)["rows"] == 3
    counted = json.loads(calve.run("scan", file, "--count", "--json").stdout)
    assert counted["rows"] == 100 and counted["data_files_total"] == 1


def test_a_table_for_people(calve, file):
    text = calve.run("scan", file, "--format", "table", "--limit", "2").stdout.splitlines()
    assert text[0].split() == ["id", "cat", "v", "s"]
    assert text[1].split() == ["long", "string", "int", "string"]
    assert text[3].split() == ["0", "c0", "∅", "text", "number", "0"]
    assert text[-1].startswith("the first 2 of 100 rows")


def test_explain_reads_nothing(calve, table, tmp_path):
    plan = json.loads(calve.run("scan", table, "--explain", "--json", "--where", "id < 5").stdout)
    assert (plan["data_files_total"], plan["data_files_skipped"], len(plan["files"])) == (3, 2, 1)
    assert plan["files"][0]["record_count"] == 10


# ---- Files appear whole or not at all.

def test_a_file_is_replaced_only_by_force(calve, file, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    refused(calve.run("scan", file, "--to", out, check=False), "already exists", "--force", out)
    assert out.read_text() == "mine"
    calve.run("scan", file, "--to", out, "--force")
    assert len(out.read_text().splitlines()) == 100


def test_a_failure_leaves_no_file(calve, file, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(file.read_bytes()[:-20])
    refused(calve.run("scan", file, cut, "--to", folder / "rows.parquet", check=False), "cut.parquet")
    assert list(folder.iterdir()) == []
    refused(calve.run("scan", file, "--to", folder / "no" / "rows.parquet", check=False), "no/rows.parquet")


@pytest.mark.parametrize("number,code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_stops_and_leaves_nothing(calve, tmp_path, number, code):
    source = write(tmp_path / "many.parquet", 0, 300_000)
    folder = tmp_path / "out"
    folder.mkdir()
    process = subprocess.Popen([BINARY, "scan", *[str(source)] * 60, "--to", str(folder / "rows.jsonl")], env=calve.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    deadline = time.monotonic() + 20
    while not list(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert errors == "calve: stopped\n"
    assert list(folder.iterdir()) == []


def test_an_ignored_hangup_stops_nothing(calve, tmp_path):
    source = write(tmp_path / "many.parquet", 0, 300_000)
    folder = tmp_path / "out"
    folder.mkdir()
    process = subprocess.Popen([BINARY, "scan", *[str(source)] * 5, "--to", str(folder / "rows.jsonl")], env=calve.environment,
                               stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    while not list(folder.iterdir()) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0 and [path.name for path in folder.iterdir()] == ["rows.jsonl"]


def test_a_file_beyond_the_size_limit_is_an_error(calve, file, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # noqa: E731
    refused(calve.run("scan", file, "--to", folder / "rows.jsonl", check=False, preexec_fn=limit), "file too large", "rows.jsonl")
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_an_error(calve, file):
    refused(calve.run("scan", file, "--to", "/dev/full", "--format", "jsonl", check=False), "/dev/full", "no space")
