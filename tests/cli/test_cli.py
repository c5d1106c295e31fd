"""The command line: help, exit codes, formats, pipes, files that appear whole or not at all, and bad input."""

import csv
import io
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tables import Warehouse, inspect, write  # noqa: E402

BINARY = os.environ.get("CALVE_BINARY") or str(Path(__file__).resolve().parents[2] / "build/release/calve")


def refused(process, *words, code=1):
    """One line on stderr that holds `words`, nothing on stdout."""
    assert process.returncode == code, process.stderr
    assert process.stdout == ""
    lines = process.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("calve: error: "), process.stderr
    for word in words:
        assert re.search(re.escape(str(word)), lines[0], re.IGNORECASE), f"{word!r} is not in: {lines[0]}"
    return lines[0]


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "rows.parquet", 0, 100)


@pytest.fixture
def warehouse(calve, tmp_path):
    return Warehouse(calve, tmp_path / "w", "filesystem")


@pytest.fixture
def table(calve, warehouse, tmp_path):
    name = warehouse.create("t")
    for number in range(3):
        calve.run("append", name, write(tmp_path / f"in-{number}.parquet", number * 10, 10))
    return name


# ---- Help and exit codes.

COMMANDS = [["scan"], ["inspect"], ["append"], ["rewrite"], ["catalog"], ["catalog", "list"], ["catalog", "create"],
            ["catalog", "load"], ["catalog", "drop"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_an_example(calve, command):
    text = calve.run(*command, "--help").stdout
    assert re.search(rf"Examples?:\n  calve {' '.join(command)}", text), text


def test_version(calve):
    assert re.fullmatch(r"calve \d+\.\d+\.\d+\n", calve.run("--version").stdout)


@pytest.mark.parametrize("arguments", [
    [], ["frobnicate"], ["scan"], ["scan", "x", "--no-such-flag"], ["scan", "x", "--limit", "-1"], ["scan", "x", "--format", "xml"],
    ["scan", "x", "--memory", "lots"], ["scan", "x", "--moved", "nothing"], ["scan", "x", "--snapshot", "1", "--ref", "main"],
    ["inspect", "x", "entrails"], ["rewrite", "x", "--target-file-size-bytes", "big"], ["catalog"],
    ["catalog", "create", "a.b"], ["catalog", "create", "a.b", "--schema", "{}", "--property", "novalue"],
])
def test_a_wrong_command_line_exits_with_2(calve, arguments):
    refused(calve.run(*arguments, check=False), code=2)


def test_a_word_in_the_place_of_a_command_is_named(calve):
    refused(calve.run("frobnicate", check=False), "'frobnicate' is no command", "scan, inspect, verify, copy", code=2)
    refused(calve.run("--threads", "2", check=False), "'--threads'", code=2)
    refused(calve.run("shuffle", "frob", check=False), "'frob' is no command", "calve shuffle has write, repartition", code=2)
    refused(calve.run("catalog", check=False), "a command is expected", "calve catalog has", code=2)


def test_flags_that_do_not_go_together_exit_with_2(calve, file, table):
    refused(calve.run("scan", file, "--snapshot", "1", check=False), "snapshots", code=2)
    refused(calve.run("scan", table, file, check=False), "alone", code=2)
    refused(calve.run("scan", file, "--to", "rows.xls", check=False), "--format", code=2)
    refused(calve.run("inspect", file, "snapshots", check=False), "Parquet file", code=2)


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


# ---- The terminal and pipes.

def on_terminal(calve, *arguments):
    """What the command shows on a terminal of 80 columns."""
    master, slave = pty.openpty()
    process = subprocess.Popen([BINARY, *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave, env=calve.environment)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return process.wait(), shown.decode().replace("\r\n", "\n")


def test_a_terminal_gets_a_table_and_no_binary(calve, file):
    code, shown = on_terminal(calve, "scan", file)
    assert code == 0
    assert "────" in shown and "the first 40 of 100 rows" in shown
    code, shown = on_terminal(calve, "scan", file, "--format", "parquet")
    assert code == 2 and "terminal" in shown and "PAR1" not in shown


def test_text_cannot_steer_a_terminal(calve, tmp_path):
    path = tmp_path / "hostile.parquet"
    pq.write_table(pa.table({"s\x1b[2J": ["\x1b]0;owned\x07", "two\nlines"]}), path)
    code, shown = on_terminal(calve, "scan", path)
    assert code == 0 and "\x1b" not in shown and "\\u001b" in shown and "two\\nlines" in shown


def test_a_progress_bar_shows_how_far_it_is_and_goes_away(calve, tmp_path):
    path = write(tmp_path / "many.parquet", 0, 300_000)
    arguments = ["scan", *[path] * 30, "--to", "/dev/null", "--format", "jsonl"]
    process = calve.run(*arguments, "--progress", "always")
    assert re.search(r"^\[#*\.*\] +\d+ %  [\d,]+ rows  [\d.]+ (\w+ )?of [\d.]+ \w+  [\d.]+ \w+/s", process.stderr, re.MULTILINE)
    last = process.stderr.splitlines()[-1]
    assert "9,000,000 rows to /dev/null" in last and "%" not in last
    assert "%" not in calve.run(*arguments).stderr, "no bar where stderr is no terminal"


def test_head_ends_a_scan_quietly(calve, tmp_path):
    path = write(tmp_path / "many.parquet", 0, 200_000)
    for form in ("jsonl", "csv", "parquet"):
        script = f"set -o pipefail; {BINARY} scan {path} --format {form} | head -c 100 | wc -c"
        process = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=calve.environment)
        assert (process.returncode, process.stdout.strip(), process.stderr) == (0, "100", "")


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "0<&- 2>&-"])
def test_a_closed_or_full_stderr_stops_nothing(calve, file, tmp_path, redirection):
    def code(command):
        process = subprocess.run(["bash", "-c", f"{BINARY} {command} {redirection}"], capture_output=True, text=True, env=calve.environment)
        return process.returncode
    assert code("scan gone.parquet") == 1
    assert code("scan --no-such-flag") == 2
    assert code(f"scan {file} --json --limit 1") == 0
    assert code(f"scan {file} --to {tmp_path}/out.jsonl --progress always") == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 100


def test_a_closed_or_full_stdout_is_an_error(calve, file, tmp_path):
    for redirection in (">&-", ">/dev/full", "0<&- >&-"):
        for command in ("--version", f"scan {file}"):
            process = subprocess.run(["bash", "-c", f"{BINARY} {command} {redirection}"], capture_output=True, text=True,
                                     env=calve.environment)
            refused(process, "standard output")
    out = tmp_path / "out.jsonl"
    subprocess.run(["bash", "-c", f"{BINARY} scan {file} --to {out} 0<&- >&- 2>&-"], check=True, env=calve.environment)
    assert [json.loads(line) for line in out.read_text().splitlines()] == pq.read_table(file).to_pylist()


def test_a_name_with_a_newline_takes_one_line(calve, tmp_path):
    path = tmp_path / "hostile.parquet"
    fields = pa.struct([("in\nner", pa.int32())])
    pq.write_table(pa.table({"two\nlines": [1], "s": pa.array([{"in\nner": 1}], fields)}), path)
    lines = calve.run("inspect", path, "schema").stdout.splitlines()
    assert lines == ["optional INT64 two\\nlines", "optional group s", "  optional INT32 in\\nner"]
    shown = calve.run("inspect", path).stdout
    assert "two\\nlines" in shown and "two\nlines" not in shown and "in\nner" not in shown


@pytest.mark.parametrize("rows", ["-1", "1.5", "many", "", "99999999999999999999", "1e3"])
def test_a_limit_that_is_no_number_of_rows(calve, file, rows):
    line = refused(calve.run("scan", file, "--limit", rows, check=False), "--limit", code=2)
    assert len(line) < 100, line


def test_no_name_for_the_file_to_write(calve, file):
    refused(calve.run("scan", file, "--to", "", check=False), "--to", "name", code=2)


def test_a_name_as_long_as_names_may_be(calve, file, tmp_path):
    for name in ("x" * 249 + ".jsonl", "xä" * 83 + ".jsonl"):
        calve.run("scan", file, "--to", tmp_path / name)
        assert len((tmp_path / name).read_text().splitlines()) == 100


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


# ---- Tables.

def test_the_views_of_a_table(calve, table, warehouse):
    summary = json.loads(calve.run("inspect", table, "--json").stdout)
    assert (summary["rows"], summary["data_files"], summary["snapshots"]) == (30, 3, 3)
    assert [field["name"] for field in summary["schema"]["fields"]] == ["id", "cat", "v", "s"]
    assert len(inspect(calve, table, "snapshots")) == 3
    assert [ref["name"] for ref in inspect(calve, table, "refs")] == ["main"]
    files = inspect(calve, table, "files")
    assert sum(file["record_count"] for file in files) == 30
    first = inspect(calve, table, "snapshots")[0]["snapshot_id"]
    assert len(inspect(calve, table, "files", "--snapshot", str(first))) == 1
    assert len(inspect(calve, table, "manifests")) >= 1
    metadata = json.loads(calve.run("inspect", table, "metadata").stdout)
    assert metadata["current-snapshot-id"] == summary["current_snapshot_id"]
    assert "1: id: long" in calve.run("inspect", table, "schema").stdout
    text = calve.run("inspect", table).stdout
    assert "30 rows in 3 data files" in text
    assert calve.run("catalog", "load", table).stdout == text


def test_a_table_by_its_folder_and_its_past(calve, table, warehouse):
    folder = warehouse.folder / "warehouse/db/t"
    assert len(calve.rows(folder)) == 30
    first = inspect(calve, table, "snapshots")[0]
    assert len(calve.rows(folder, "--snapshot", first["snapshot_id"])) == 10
    assert len(calve.rows(folder, "--as-of", first["committed_at"])) == 10
    assert len(calve.rows(table, "--ref", "main")) == 30
    refused(calve.run("scan", table, "--ref", "nope", check=False), "nope")
    refused(calve.run("scan", table, "--snapshot", "12345", check=False), "12345")
    refused(calve.run("scan", table, "--as-of", "yesterday", check=False), "yesterday")


def test_catalog_create_list_drop(calve, warehouse, file, tmp_path):
    calve.run("catalog", "create", "w.db.made", "--schema-from", file, "--partition-by", "bucket(4, id), cat", "--property", "a=b=c")
    summary = json.loads(calve.run("catalog", "load", "w.db.made", "--json").stdout)
    assert summary["partition_by"] == ["bucket[4](id)", "cat"] and summary["properties"]["a"] == "b=c"
    schema = {"type": "struct", "fields": [{"id": 7, "name": "x", "required": True, "type": "decimal(9, 2)"}]}
    calve.run("catalog", "create", "w.db.other", "--schema", json.dumps(schema), "--format-version", "1")
    other = json.loads(calve.run("catalog", "load", "w.db.other", "--json").stdout)
    assert other["format_version"] == 1
    assert other["schema"]["fields"] == [{"id": 1, "name": "x", "required": True, "type": "decimal(9, 2)"}]
    assert calve.run("catalog", "list", "--catalog", "w").stdout.split() == ["db.made", "db.other"]
    refused(calve.run("catalog", "create", "w.db.made", "--schema-from", file, check=False), "db.made exists already")
    refused(calve.run("catalog", "drop", "w.db.other", check=False), "purge")
    calve.run("catalog", "drop", "w.db.other", "--purge")
    assert json.loads(calve.run("catalog", "list", "--catalog", "w", "--json").stdout)[0]["tables"] == ["db.made"]
    refused(calve.run("catalog", "drop", "w.db.other", check=False), "db.other")


def test_a_catalog_by_flags_alone(calve, file, tmp_path):
    flags = ["--catalog-type", "filesystem", "--warehouse", str(tmp_path / "lake")]
    calve.run("catalog", "create", "ns.t", "--schema-from", file, *flags)
    result = json.loads(calve.run("append", "ns.t", file, "--json", *flags).stdout)
    assert (result["rows"], result["files"]) == (100, 1)
    assert calve.run("scan", "ns.t", "--count", *flags).stdout == "100\n"


def test_appending_no_rows_makes_no_snapshot(calve, table, tmp_path):
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    before = calve.run("inspect", table, "snapshots", "--json").stdout
    result = json.loads(calve.run("append", table, tmp_path / "none.parquet", "--json").stdout)
    assert (result["snapshot_id"], result["files"], result["rows"]) == (None, 0, 0)
    assert "nothing to append" in calve.run("append", table, tmp_path / "none.parquet").stderr
    assert calve.run("inspect", table, "snapshots", "--json").stdout == before


def test_rewrite_says_why_groups_failed(calve, table):
    files = json.loads(calve.run("inspect", table, "files", "--json").stdout)
    data = [Path(file["file_path"].removeprefix("file://")) for file in files]
    data[0].write_bytes(b"PAR1" + b"U" * (data[0].stat().st_size - 4))
    run = calve.run("rewrite", table, "--rewrite-all", "--partial-progress-enabled", "--json", "--max-file-group-size-bytes", "1", check=False)
    assert run.returncode == 1 and "1 group could not be rewritten: " in run.stderr and data[0].name in run.stderr
    result = json.loads(run.stdout)
    assert result["failed_groups"] == 1 and len(result["failures"]) == 1 and data[0].name in result["failures"][0]


def test_rewrite_prints_its_plan_and_its_result(calve, table):
    plan = json.loads(calve.run("rewrite", table, "--dry-run", "--json", "--min-input-files", "2").stdout)
    assert plan["files_total"] == 3 and len(plan["groups"]) == 1 and plan["groups"][0]["rows"] == 30
    assert calve.run("rewrite", table, "--dry-run").stdout == "nothing to rewrite\n"
    result = json.loads(calve.run("rewrite", table, "--json", "--min-input-files", "2", "--target-file-size-bytes", "64MiB").stdout)
    assert (result["rewritten_files"], result["added_files"], result["rows"]) == (3, 1, 30)
    assert "nothing to rewrite" in calve.run("rewrite", table).stderr
    assert sorted(row["id"] for row in calve.rows(table)) == list(range(30))


def test_inspect_of_a_parquet_file(calve, file):
    json_form = json.loads(calve.run("inspect", file, "--json").stdout)
    assert json_form["rows"] == 100 and len(json_form["row_groups"]) == 1
    by_name = {column["column"]: column for column in json_form["columns"]}
    assert list(by_name) == ["id", "cat", "v", "s"]
    assert (by_name["id"]["min"], by_name["id"]["max"], by_name["v"]["nulls"]) == ("0", "99", 15)
    assert by_name["cat"]["codec"] == "SNAPPY" and "RLE_DICTIONARY" in by_name["cat"]["encodings"]
    text = calve.run("inspect", file).stdout
    assert "100 rows in 1 row group" in text and "optional INT64 id" in text
    assert len(calve.run("inspect", file, "columns", "--format", "csv").stdout.splitlines()) == 5


# ---- Bad input: one line, exit code 1, nothing changed.

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
