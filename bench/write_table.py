"""The table of bench/write.py: what is computed from the times and sizes of a row, and how it is printed."""

import sys

from table_parts import about as about_script
from table_parts import fastest, geometric_mean, markdown, median, milliseconds, paired, put_between, sections, times

PEERS = ["arrow-rs", "Arrow C++", "Polars", "DuckDB"]
BEGIN, END = "<!-- make bench-write: begin -->", "<!-- make bench-write: end -->"
SIZE_SLACK, BYTES_A_PAGE = 24 << 10, 64


def fastest_peer(row):
    return fastest(row, PEERS)


def ratio_of(row):
    """How many times as fast as the fastest peer calve is."""
    peer = fastest_peer(row)
    return paired(row, peer, "calve") if peer else None


def smallest_peer(row):
    """Of those that write what was asked for: DuckDB has bloom filters of columns with a dictionary only."""
    written = [row["written"][peer] for peer in PEERS
               if peer in row["written"] and not (peer == "DuckDB" and row["option"] == "bloom_filter")]
    return min(written) if written else None


def is_too_large(row):
    """Larger than the smallest peer's file by over 1 %, 24 KiB and 64 bytes a page."""
    smallest = smallest_peer(row)
    return smallest is not None and "calve" in row["written"] and \
        row["written"]["calve"] > smallest * 1.01 + SIZE_SLACK + BYTES_A_PAGE * row["pages"]


def over_codec(row):
    """calve's time with zstd to the codec alone and its own time without, in the same rounds."""
    parts = [row["times"].get(name) for name in ["calve", "floor", "calve, uncompressed"]]
    if None in parts:
        return None
    ratios = sorted(calve / (floor + plain) for calve, floor, plain in zip(*parts))
    return ratios[len(ratios) // 2]


def scaling_of(row):
    """calve's gain from two threads over the control's."""
    ours, control = paired(row, "calve, one thread", "calve"), paired(row, "floor, one thread", "floor")
    return ours / control if ours and control else None


def name_of(row):
    return f"{row['case']}, {row['option']}"


def megabytes(value):
    return "-" if value is None else f"{value / 1e6:.2f}"


def cells_of(row):
    peer = fastest_peer(row)
    cells = [row["case"], row["option"], milliseconds(median(row, "calve"))]
    for name in PEERS:
        text = milliseconds(median(row, name))
        cells.append(f"**{text}**" if name == peer else text)
    size = megabytes(row["written"].get("calve"))
    cells += [times(ratio_of(row)), f"**{size}**" if is_too_large(row) else size, megabytes(smallest_peer(row)),
              milliseconds(median(row, "floor")), times(over_codec(row))]
    return cells + [times(scaling_of(row))] if row["threads"] > 1 else cells


#: The rows that the table has; what is said below it is of all options.
TABLED = {"default", "zstd", "plain", "delta_byte_array"}


def table_of(rows, threads):
    tabled = [row for row in rows if row["option"] in TABLED]
    rows = tabled or rows
    head = ["shape", "option", "calve", *PEERS, "fastest peer / calve", "MB", "smallest peer's MB", "floor", "zstd / (codec + uncompressed)"]
    return markdown(head + (["scaling / control's"] if threads > 1 else []), [cells_of(row) for row in rows])


def named(rows):
    return f" ({'; '.join(rows)})." if rows else "."


def mean_text(what, rows):
    ratios = [ratio_of(row) for row in rows]
    if not ratios:
        return f"{what}: no case."
    below = [f"{name_of(row)} {ratio:.2f}" for row, ratio in zip(rows, ratios) if ratio < 1]
    return f"{what}: geometric mean {geometric_mean(ratios):.2f} over {len(ratios)} cases, {len(below)} below 1" + named(below)


def summary_of(rows):
    timed = [row for row in rows if ratio_of(row)]
    options = sorted({row["option"] for row in rows} - TABLED)
    plain = [row for row in timed if not row["option"].startswith("zstd")]
    lines = [mean_text("Uncompressed, fastest peer / calve", plain),
             mean_text("zstd, fastest peer / calve", [row for row in timed if row["option"].startswith("zstd")])]
    codec = [(name_of(row), over_codec(row)) for row in rows if over_codec(row)]
    if codec:
        over = [f"{name} {value:.2f}" for name, value in codec if value > 1.15]
        lines.append(f"zstd: at most {max(value for _, value in codec):.2f} times codec and own uncompressed time, {len(over)} above 1.15" + named(over))
    levels = [f"{name_of(row)} {paired(row, 'arrow-rs', 'calve'):.1f}" for row in rows if row["levels"] and paired(row, "arrow-rs", "calve")]
    if levels:
        lines.append(f"Mostly null, arrow-rs / calve (20,000 rows a page in both): {'; '.join(levels)}.")
    large = [f"{name_of(row)} {megabytes(row['written']['calve'])} to {megabytes(smallest_peer(row))}" for row in rows if is_too_large(row)]
    lines.append(f"Sizes: {len(large)} of {len([row for row in rows if smallest_peer(row)])} above the smallest peer's + 1 % + 24 KiB + 64 bytes a page"
                 + named(large))
    scaling = [(name_of(row), scaling_of(row)) for row in rows if scaling_of(row)]
    if scaling:
        low = [f"{name} {value:.2f}" for name, value in scaling if value < 0.9]
        lines.append(f"Scaling: at least 0.9 of the control's in {len(scaling) - len(low)} of {len(scaling)} cases" + named(low))
    if options and len(options) < len({row["option"] for row in rows}):
        lines.insert(0, f"Measured too, and in what follows: {', '.join(options)}. --json has their rows.")
    unwritten = [name_of(row) for row in rows if "calve" not in row["times"]]
    if unwritten:
        lines.append(f"calve did not write: {'; '.join(unwritten)}.")
    return "\n".join(f"- {line}" for line in lines)


def about(options):
    return about_script(options, "bench/write.py")


def text_of(rows, options):
    return sections(rows, options, about(options), table_of, summary_of)


def report(row):
    """Progress and failures, on stderr."""
    print(f"{name_of(row)}, {row['threads']} threads: calve {milliseconds(median(row, 'calve'))} ms, "
          f"{times(ratio_of(row))} times {fastest_peer(row)}, {megabytes(row['written'].get('calve'))} MB to {megabytes(smallest_peer(row))}",
          file=sys.stderr, flush=True)
    for name, failure in row["failures"].items():
        print(f"  {name}: {failure}", file=sys.stderr)


def update_readme(text, path):
    put_between(BEGIN, END, text, path)
