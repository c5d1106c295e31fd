"""The table of bench/read.py: what is computed from the times of a row, and how it is printed."""

import sys

from readers import PEERS
from table_parts import fastest, geometric_mean, markdown, median, milliseconds, paired, put_between, sections, times
from table_parts import about as about_script

BEGIN, END = "<!-- make bench-read: begin -->", "<!-- make bench-read: end -->"


def fastest_peer(row):
    return fastest(row, PEERS)


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
    return markdown(head, [cells_of(row) for row in rows])


def mean_text(what, rows):
    ratios = [ratio_of(row) for row in rows]
    if not ratios:
        return f"{what}: no case."
    mean = geometric_mean(ratios)
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


def about(options):
    return about_script(options, "bench/read.py")


def text_of(rows, options):
    return sections(rows, options, about(options), table_of, summary_of)


def report(row):
    """Progress, failures and differences, on stderr."""
    print(f"{name_of(row)}, {row['threads']} threads: calve {milliseconds(median(row, 'calve'))} ms, "
          f"{times(ratio_of(row))} times {fastest_peer(row)}", file=sys.stderr)
    for name, failure in row["failures"].items():
        print(f"  {name}: {failure}", file=sys.stderr)
    if differs(row):
        print(f"  CHECKSUMS DIFFER: {row['checksums']}", file=sys.stderr)


def update_readme(text, path):
    put_between(BEGIN, END, text, path)
