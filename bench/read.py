#!/usr/bin/env python3
"""Times calve's Parquet reader against its peers, alternating, and prints a table.

    bench/read.py [--cases 'plain longCol,strings hi'] [--rounds 5] [--scale 1] [--threads 1,2] [--peers pyarrow,arrow-rs]
                  [--forms utf8,view,dictionary,keep,cached] [--batch-rows pyarrow=8192] [--cpu-time] [--json out.json] [--update-readme]

The cases stand in bench/cases.json; --cases takes the names that begin with one of the words. Every reader is a process that does a
round when told to, so rounds alternate between all of them; a ratio is the median of the ratios of paired rounds. Before that an
untimed round prints a checksum over every value, which must be the same for all. Data is made once, under build/bench/read.
"""

import json
import sys
from pathlib import Path

import bench_options
import read_data
import read_table
from readers import PEERS, ROOT, Reader, alternate, build_arrow_rs, command_of

# Which peers give strings in which form. Without strings all forms are one.
FORMS = {"any": PEERS, "utf8": ["pyarrow", "DuckDB", "arrow-rs"], "view": ["Polars", "arrow-rs"], "dictionary": ["arrow-rs"]}


def parse():
    parser = bench_options.parser_of(__doc__, PEERS)
    parser.add_argument("--forms", type=bench_options.words, default=["utf8", "view", "dictionary", "keep", "cached"])
    parser.add_argument("--batch-rows", type=lambda text: dict(word.split("=") for word in text.split(",")), default={}, metavar="READER=N,...",
                        help="instead of what bench/cases.json says")
    return bench_options.parse(parser)


def arms_of(case, threads, forms):
    """(string form, "" or "keep" or "cached") of the rows that a case has with so many threads."""
    if threads > 1 and not case.get("two_threads"):
        return []
    if not case.get("strings"):
        arms = [("any", "")]
    else:
        arms = [(form, "") for form in ["utf8", "view"] if form in forms]
        if case.get("dictionary") and "dictionary" in forms:
            arms.append(("dictionary", ""))
    if case.get("keep") and "keep" in forms:
        arms.append(("utf8" if case.get("strings") else "any", "keep"))
    if case.get("footer") and "cached" in forms:
        arms.append(("any", "cached"))
    return arms


class Run:
    """Everything that a table is made from."""

    def __init__(self, options):
        self.options = options
        self.frozen = json.loads((ROOT / "bench/cases.json").read_text())
        self.folder = ROOT / f"build/bench/read/{options.scale:g}"
        self.rows = []

    def cases(self):
        return [case for case in self.frozen["cases"] if any(case["name"].startswith(word) for word in self.options.cases)]

    def files_of(self, case):
        self.recipe = read_data.recipe_of(self.frozen["files"], case["file"], self.options.scale)
        return read_data.make(self.recipe, case["file"], self.folder)

    def arguments(self, reader, case, form, way, threads):
        batch_rows = {**self.frozen["batch_rows"], **case.get("batch_rows", {}), **self.options.batch_rows}[reader]
        words = ["--threads", threads, "--batch-rows", batch_rows]
        words += ["--strings", form] if form != "any" else []
        words += ["--columns", ",".join(case["columns"])] if "columns" in case else []
        words += ["--keep"] if way == "keep" else []
        words += ["--footer-cache"] if way == "cached" and reader == "calve" else []
        if "filter" in case:
            column, part = case["filter"]
            words += ["--filter", f"{column}<{round(self.recipe['rows'] * part)}"]
        return words

    def start(self, reader, words, threads):
        command = command_of(reader, self.options.build, self.options.cargo_target)
        return Reader(command, words, threads, self.options.cpu_time)

    def peers_of(self, case, form):
        with_filter = set(PEERS) - {"arrow-rs"} if "filter" in case else set(PEERS)
        return [peer for peer in FORMS[form] if peer in self.options.peers and peer in with_filter]

    def readers_of(self, case, files, form, way, threads):
        """The processes of a row, the one-thread controls of a row of two threads included."""
        readers = {}
        for reader in ["calve", *self.peers_of(case, form)]:
            readers[reader] = self.start(reader, [*self.arguments(reader, case, form, way, threads), *files], threads)
        facts = next((reader.facts for reader in readers.values() if not reader.failure), {})
        columns = ["--columns", ",".join(case["columns"])] if "columns" in case else []
        floor = ["--copy-bytes", facts.get("bytes", 0), *columns, *files]
        if "filter" not in case and not case.get("footer"):
            readers["floor"] = self.start("floor", ["--threads", threads, *floor], threads)
            if threads > 1:
                readers["floor, one thread"] = self.start("floor", ["--threads", 1, *floor], 1)
                words = self.arguments("calve", case, form, way, 1)
                readers["calve, one thread"] = self.start("calve", [*words, *files], 1)
        return readers

    def row(self, case, form, way, threads):
        readers = self.readers_of(case, self.files_of(case), form, way, threads)
        order = list(readers.values())
        alternate(order, self.options.rounds)
        sums = {name: reader.facts["checksum"] for name, reader in readers.items() if "checksum" in reader.facts}
        facts = next((reader.facts for reader in order if "checksum" in reader.facts), {})
        return {"case": case["name"], "form": form, "way": way, "threads": threads, "rows": int(facts.get("rows", 0)),
                "bytes": int(facts.get("bytes", 0)), "checksums": sums, "footer": case.get("footer", False),
                "failures": {name: reader.failure for name, reader in readers.items() if reader.failure},
                "times": {name: reader.times for name, reader in readers.items() if reader.times}}

    def measure(self):
        for threads in self.options.threads:
            for case in self.cases():
                for form, way in arms_of(case, threads, self.options.forms):
                    row = self.row(case, form, way, threads)
                    self.rows.append(row)
                    read_table.report(row)


def main():
    options = parse()
    if "arrow-rs" in options.peers:
        failure = build_arrow_rs(options.cargo_target)
        if failure:
            print(failure, file=sys.stderr)
            options.peers = [peer for peer in options.peers if peer != "arrow-rs"]
    run = Run(options)
    run.measure()
    text = read_table.text_of(run.rows, options)
    print(text)
    if options.json:
        options.json.write_text(json.dumps({"about": read_table.about(options), "rows": run.rows}, indent=1))
    if options.update_readme:
        read_table.update_readme(text, ROOT / "README.md")
    return 1 if any(read_table.differs(row) for row in run.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
