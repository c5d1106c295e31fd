#!/usr/bin/env python3
"""Times calve's Parquet writer against its peers, alternating, and prints a table.

    bench/write.py [--cases primitive,list] [--options default,zstd] [--rounds 5] [--scale 1] [--threads 1,2] [--peers arrow-rs,Polars]
                   [--cpu-time] [--json out.json] [--update-readme]

The shapes stand in bench/write_cases.json; --cases takes those that begin with one of the words. Every writer is a process that does a
round when told to, so rounds alternate between all of them; a ratio is the median of the ratios of paired rounds. calve, arrow-rs and
Arrow C++ write to a sink that drops the bytes, DuckDB and Polars to a file in memory. Data is made once, by arrow-rs's own generators
(so cargo is needed), under build/bench/write.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bench_options
import write_table
from readers import ROOT, Reader, alternate, build_arrow_rs
from write_table import PEERS


def parse():
    parser = bench_options.parser_of(__doc__, PEERS)
    parser.add_argument("--options", type=bench_options.words)
    return bench_options.parse(parser)


def rows_of(case, frozen, scale):
    rows = case.get("rows", frozen["rows"])
    return rows if case.get("fixed") else max(1, int(rows * scale))


class Run:
    """Everything that a table is made from."""

    def __init__(self, options, scratch):
        self.options = options
        self.scratch = Path(scratch)
        self.frozen = json.loads((ROOT / "bench/write_cases.json").read_text())
        self.folder = ROOT / "build/bench/write"
        self.arrow_rs = options.cargo_target / "release/arrow_rs_peer_write"
        self.rows = []

    def cases(self):
        return [case for case in self.frozen["cases"] if any(case["shape"].startswith(word) for word in self.options.cases)]

    def options_of(self, case):
        mine = case.get("options", self.frozen["options"])
        return [name for name in mine if self.options.options is None or name in self.options.options]

    def file_of(self, case):
        """The Arrow file of a shape; made when it is not there."""
        rows = rows_of(case, self.frozen, self.options.scale)
        path = self.folder / f"{case['shape']}-{rows}.arrow"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            print(f"making {path.name}", file=sys.stderr)
            subprocess.run([self.arrow_rs, "--make", case["shape"], str(rows), part], check=True, stdout=subprocess.DEVNULL)
            part.rename(path)
        return path

    def command(self, writer):
        if writer == "calve":
            return [self.options.build / "bench/calve_peer_write"]
        if writer == "Arrow C++":
            return [self.options.build / "bench/calve_peer_write", "--writer", "arrow"]
        if writer == "arrow-rs":
            return [self.arrow_rs]
        return [sys.executable, ROOT / f"bench/peers/{writer.lower()}_write.py"]

    def start(self, writer, path, option, threads, out=None):
        words = ["--threads", threads, "--option", option]
        words += ["--out", out] if out else []
        return Reader(self.command(writer), [*words, path], threads, self.options.cpu_time)

    def floor(self, pages, bytes_to_copy, option, threads):
        level = ["--level", 1] if option.startswith("zstd") else []
        copies = ["--copy-bytes", bytes_to_copy]
        return Reader([self.options.build / "bench/write_floor"], ["--threads", threads, *level, *copies, pages], threads,
                      self.options.cpu_time)

    def writers_of(self, path, option, threads):
        """The processes of a row. The floor works on the pages that calve writes uncompressed."""
        pages = self.scratch / "pages.parquet"
        writers = {"calve": self.start("calve", path, option, threads, None if option.startswith("zstd") else pages)}
        if writers["calve"].failure is None:
            if option.startswith("zstd"):
                plain = "parquet_2" if option.endswith("parquet_2") else "default"
                writers["calve, uncompressed"] = self.start("calve", path, plain, threads, pages)
            copied = int(writers["calve"].facts["output_bytes"])
            writers["floor"] = self.floor(pages, copied, option, threads)
            if threads > 1:
                writers["floor, one thread"] = self.floor(pages, copied, option, 1)
                writers["calve, one thread"] = self.start("calve", path, option, 1)
        for peer in self.options.peers:
            out = self.scratch / f"{peer}.parquet" if peer in ("DuckDB", "Polars") else None
            writers[peer] = self.start(peer, path, option, threads, out)
        return writers

    def row(self, case, option, threads):
        writers = self.writers_of(self.file_of(case), option, threads)
        alternate(list(writers.values()), self.options.rounds)
        written = {name: int(writer.facts["output_bytes"]) for name, writer in writers.items()
                   if "output_bytes" in writer.facts and not writer.failure}
        facts = writers["calve"].facts
        pages = writers["floor"].facts.get("pages", 0) if "floor" in writers else 0
        return {"case": case["shape"], "option": option, "threads": threads, "rows": int(facts.get("rows", 0)),
                "input_bytes": int(facts.get("input_bytes", 0)), "pages": int(pages), "levels": case.get("levels", False), "written": written,
                "failures": {name: writer.failure for name, writer in writers.items() if writer.failure},
                "times": {name: writer.times for name, writer in writers.items() if writer.times and not writer.failure}}

    def measure(self):
        for threads in self.options.threads:
            for case in self.cases():
                if threads > 1 and not case.get("two_threads"):
                    continue
                for option in self.options_of(case):
                    row = self.row(case, option, threads)
                    self.rows.append(row)
                    write_table.report(row)
                    if self.options.json:
                        self.save()

    def save(self):
        self.options.json.write_text(json.dumps({"about": write_table.about(self.options), "rows": self.rows}, indent=1))


def main():
    options = parse()
    failure = build_arrow_rs(options.cargo_target)
    if failure:
        sys.exit(f"{failure}; the data is made by its generators")
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="calve-bench-", dir=memory if memory.exists() and shutil.disk_usage(memory).free > 2 << 30
                                     else None) as scratch:
        run = Run(options, scratch)
        run.measure()
    text = write_table.text_of(run.rows, options)
    print(text)
    if options.update_readme:
        write_table.update_readme(text, ROOT / "README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
