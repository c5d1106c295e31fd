"""calve_peer_read with pyarrow. --batch-rows 0 reads whole tables."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import serve


def strings_of(path, options):
    """The options that make strings come out as asked."""
    if options.strings == "view":
        return dict(binary_type=pa.binary_view())
    if options.strings == "dictionary":
        return dict(read_dictionary=options.columns or pq.read_schema(path).names)
    return {}


def read_filtered(options):
    column, bound = options.filter
    rows = {} if options.batch_rows == "0" else dict(batch_size=int(options.batch_rows))
    yield from ds.dataset(options.files).scanner(columns=options.columns, filter=pc.field(column) < bound,
                                                 use_threads=options.threads > 1, **rows).to_batches()


def read(options):
    pa.set_cpu_count(options.threads)
    if options.filter:
        yield from read_filtered(options)
        return
    for path in options.files:
        with pq.ParquetFile(path, **strings_of(path, options)) as file:
            if options.batch_rows == "0":
                yield file.read(columns=options.columns, use_threads=options.threads > 1)
            else:
                yield from file.iter_batches(int(options.batch_rows), columns=options.columns, use_threads=options.threads > 1)


serve.main(read, lambda batch: batch.to_batches() if isinstance(batch, pa.Table) else [batch])
