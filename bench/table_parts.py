"""What the tables of bench/read.py and bench/write.py share: numbers of a row, how they are printed, and where a table goes."""

import importlib.metadata
import json
import math
import platform
import statistics
import subprocess
import sys

from readers import ROOT


def paired(row, above, below):
    """The median over rounds of one program's time to another's; none without both."""
    times = row["times"]
    if above not in times or below not in times:
        return None
    return statistics.median(a / b for a, b in zip(times[above], times[below]))


def median(row, program):
    times = row["times"].get(program)
    return statistics.median(times) if times else None


def fastest(row, programs):
    timed = [program for program in programs if program in row["times"]]
    return min(timed, key=lambda program: median(row, program)) if timed else None


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def milliseconds(value):
    return "-" if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def times(value):
    return "-" if value is None else f"{value:.2f}"


def markdown(head, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def arrow_rs_version():
    lock = (ROOT / "bench/peers/Cargo.lock").read_text()
    return lock.split('name = "parquet"\nversion = "')[1].split('"')[0]


def about(options, script):
    """The command, the machine, the commit and the peers."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    versions = ", ".join(f"{name} {importlib.metadata.version(name.lower())}" for name in ["pyarrow", "DuckDB", "Polars"])
    command = " ".join([script, *sys.argv[1:]])
    clock = "Milliseconds of CPU time" if options.cpu_time else "Milliseconds"
    return (f"`{command}`, commit {commit}; {processor()}, {platform.machine()}. Peers: {versions}, arrow-rs {arrow_rs_version()} (built for "
            f"this CPU). {clock}, medians of {options.rounds} alternating rounds; ratios are medians of pairs.")


def sections(rows, options, head, table_of, summary_of):
    """The whole text: the head, then for each number of threads its table and summary."""
    parts = [head]
    for threads in options.threads:
        some = [row for row in rows if row["threads"] == threads]
        if some:
            parts += [f"{'One thread' if threads == 1 else f'{threads} threads'}:", table_of(some, threads), summary_of(some)]
    return "\n\n".join(parts)


def publish(options, about_text, text, rows, begin, end):
    """Prints the whole text, keeps the rows and writes the README as the options say."""
    print(text)
    if options.json:
        options.json.write_text(json.dumps({"about": about_text, "rows": rows}, indent=1))
    if options.update_readme:
        put_between(begin, end, text, ROOT / "README.md")


def put_between(begin, end, text, path):
    """Puts the table between the markers."""
    old = path.read_text()
    if begin not in old:
        sys.exit(f"{path} has no line {begin}")
    head, rest = old.split(begin)
    path.write_text(f"{head}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}")
