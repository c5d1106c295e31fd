"""The table of bench/read.py: what is computed from the times of a row, and how it is printed."""

import importlib.metadata
import math
import platform
import statistics
import subprocess
import sys

from readers import PEERS, ROOT

BEGIN, END = "<!-- make bench-read: begin -->", "<!-- make bench-read: end -->"


def paired(row, above, below):
    """The median over rounds of one reader's time to another's; none without both."""
    times = row["times"]
    if above not in times or below not in times:
        return None
    return statistics.median(a / b for a, b in zip(times[above], times[below]))


def median(row, reader):
    times = row["times"].get(reader)
    return statistics.median(times) if times else None


def fastest_peer(row):
    peers = [peer for peer in PEERS if peer in row["times"]]
    return min(peers, key=lambda peer: median(row, peer)) if peers else None


def is_codec_bound(row):
    """The floor is over half of the fastest peer's time."""
    peer = fastest_peer(row)
    return peer is not None and "floor" in row["times"] and median(row, "floor") > median(row, peer) / 2


def ratio_of(row):
    """How many times as fast as the fastest peer calve is."""
    peer = fastest_peer(row)
    return paired(row, peer, "calve") if peer else None


def scaling_of(row):
    """calve's gain from two threads over the control's."""
    ours, control = paired(row, "calve, one thread", "calve"), paired(row, "floor, one thread", "floor")
    return ours / control if ours and control else None


def differs(row):
    return len(set(row["checksums"].values())) > 1


def name_of(row):
    words = [row["case"]]
    if row["form"] in ("view", "dictionary"):
        words.append({"view": "to views", "dictionary": "to dictionaries"}[row["form"]])
    if row["way"]:
        words.append({"keep": "all kept", "cached": "footer cached by calve"}[row["way"]])
    return ", ".join(words)


def milliseconds(value):
    return "-" if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def times(value):
    return "-" if value is None else f"{value:.2f}"


def cells_of(row):
    peer = fastest_peer(row)
    cells = [name_of(row), milliseconds(median(row, "calve"))]
    for name in PEERS:
        text = milliseconds(median(row, name))
        cells.append(f"**{text}**" if name == peer else text)
    bound = ", codec" if is_codec_bound(row) else ""
    cells += [times(ratio_of(row)) + bound, milliseconds(median(row, "floor")), times(paired(row, "calve", "floor"))]
    return cells + [times(scaling_of(row))] if row["threads"] > 1 else cells


def table_of(rows, threads):
    head = ["case", "calve", *PEERS, "fastest peer / calve", "floor", "calve / floor"] + (["scaling / control's"] if threads > 1 else [])
    lines = [head, ["---"] * len(head), *(cells_of(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mean_text(what, rows):
    ratios = [ratio_of(row) for row in rows]
    if not ratios:
        return f"{what}: no case."
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    below = [name_of(row) for row, ratio in zip(rows, ratios) if ratio < 1]
    return f"{what}: geometric mean {mean:.2f} over {len(ratios)} cases, {len(below)} below 1" + (f" ({'; '.join(below)})." if below else ".")


def summary_of(rows):
    unread = [name_of(row) for row in rows if "calve" not in row["times"]]
    footers = [row for row in rows if row["footer"]]
    rows = [row for row in rows if ratio_of(row) and not row["footer"] and row["form"] != "dictionary" and not row["way"]]
    free = [row for row in rows if not is_codec_bound(row)]
    bound = [row for row in rows if is_codec_bound(row)]
    lines = [mean_text("Not codec-bound, utf8 or no strings", [row for row in free if row["form"] != "view"]),
             mean_text("Not codec-bound, string views", [row for row in free if row["form"] == "view"])]
    if bound:
        over = [name_of(row) for row in bound if paired(row, "calve", "floor") > 1.2]
        worst = max(paired(row, "calve", "floor") for row in bound)
        lines.append(f"Codec-bound: {len(bound)} cases, at most {worst:.2f} times the floor, {len(over)} above 1.2"
                     + (f" ({'; '.join(over)})." if over else "."))
    scaling = [(name_of(row), scaling_of(row)) for row in rows if scaling_of(row)]
    if scaling:
        low = [f"{name} {value:.2f}" for name, value in scaling if value < 0.9]
        lines.append(f"Scaling: at least 0.9 of the control's in {len(scaling) - len(low)} of {len(scaling)} cases"
                     + (f" (below: {'; '.join(low)})." if low else "."))
    against_pyarrow = [f"{name_of(row)} {paired(row, 'pyarrow', 'calve'):.1f}" for row in footers if paired(row, "pyarrow", "calve")]
    if against_pyarrow:
        lines.append(f"Opening and reading one column, pyarrow / calve: {'; '.join(against_pyarrow)}.")
    if unread:
        lines.append(f"calve did not read: {'; '.join(unread)}.")
    return "\n".join(f"- {line}" for line in lines)


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def arrow_rs_version():
    lock = (ROOT / "bench/peers/Cargo.lock").read_text()
    return lock.split('name = "parquet"\nversion = "')[1].split('"')[0]


def about(options):
    """The command, the machine, the commit and the peers."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    versions = ", ".join(f"{name} {importlib.metadata.version(name.lower())}" for name in ["pyarrow", "DuckDB", "Polars"])
    command = " ".join(["bench/read.py", *sys.argv[1:]])
    clock = "Milliseconds of CPU time" if options.cpu_time else "Milliseconds"
    return (f"`{command}`, commit {commit}; {processor()}, {platform.machine()}. Peers: {versions}, arrow-rs {arrow_rs_version()} (built for "
            f"this CPU). {clock}, medians of {options.rounds} alternating rounds; ratios are medians of pairs.")


def text_of(rows, options):
    parts = [about(options)]
    for threads in options.threads:
        some = [row for row in rows if row["threads"] == threads]
        if some:
            parts += [f"{'One thread' if threads == 1 else f'{threads} threads'}:", table_of(some, threads), summary_of(some)]
    return "\n\n".join(parts)


def report(row):
    """Progress, failures and differences, on stderr."""
    print(f"{name_of(row)}, {row['threads']} threads: calve {milliseconds(median(row, 'calve'))} ms, "
          f"{times(ratio_of(row))} times {fastest_peer(row)}", file=sys.stderr)
    for name, failure in row["failures"].items():
        print(f"  {name}: {failure}", file=sys.stderr)
    if differs(row):
        print(f"  CHECKSUMS DIFFER: {row['checksums']}", file=sys.stderr)


def update_readme(text, path):
    """Puts the table between the markers."""
    old = path.read_text()
    if BEGIN not in old:
        sys.exit(f"{path} has no line {BEGIN}")
    head, rest = old.split(BEGIN)
    path.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
