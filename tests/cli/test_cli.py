"""The command line: help, exit codes, the terminal and pipes."""

import json
import os
import pty
import re
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_support import BINARY, refused
from tables import write

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
