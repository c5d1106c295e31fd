//! Writes Parquet with arrow-rs: one batch is one row group. With several threads its columns are dealt out, as a
//! program that wants the best of arrow-rs would.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use arrow::array::RecordBatch;
use parquet::arrow::arrow_writer::{compute_leaves, ArrowColumnChunk, ArrowColumnWriter, ArrowLeafColumn};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{CdcOptions, WriterProperties, WriterVersion};

use crate::Result;

/// The options of arrow-rs's benchmark by name, and two for columns of strings.
fn properties(option: &str) -> Result<WriterProperties> {
    let builder = WriterProperties::builder();
    let zstd = Compression::ZSTD(ZstdLevel::default());
    Ok(match option {
        "default" => builder,
        "bloom_filter" => builder.set_bloom_filter_enabled(true),
        "parquet_2" => builder.set_writer_version(WriterVersion::PARQUET_2_0),
        "zstd" => builder.set_compression(zstd),
        "zstd_parquet_2" => builder
            .set_compression(zstd)
            .set_writer_version(WriterVersion::PARQUET_2_0),
        "cdc" => builder.set_content_defined_chunking(Some(CdcOptions::default())),
        "plain" => builder.set_dictionary_enabled(false).set_encoding(Encoding::PLAIN),
        "delta_byte_array" => builder
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BYTE_ARRAY),
        other => return Err(format!("arrow-rs has no option {other}").into()),
    }
    .build())
}

/// Counts what passes to `inner`.
struct Counted<W: Write> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

fn leaves_of(batch: &RecordBatch) -> Result<Vec<ArrowLeafColumn>> {
    let schema = batch.schema();
    let mut leaves = Vec::new();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        leaves.extend(compute_leaves(field, column)?);
    }
    Ok(leaves)
}

/// The chunks of a row group, in the order of its leaves. `top` says which columns a thread takes whole: levels of a
/// column's leaves are computed together.
fn encode(batch: &RecordBatch, writers: Vec<ArrowColumnWriter>, threads: usize) -> Result<Vec<ArrowColumnChunk>> {
    let schema = batch.schema();
    let counts = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| Ok(compute_leaves(field, &column.slice(0, 0))?.len()))
        .collect::<Result<Vec<_>>>()?;
    let mut writers = writers.into_iter();
    let tasks: Vec<Mutex<Vec<ArrowColumnWriter>>> = counts
        .iter()
        .map(|count| Mutex::new(writers.by_ref().take(*count).collect()))
        .collect();
    let done: Vec<Mutex<Vec<ArrowColumnChunk>>> = counts.iter().map(|_| Mutex::new(Vec::new())).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(index) else { return Ok(()) };
            let writers = std::mem::take(&mut *task.lock().unwrap());
            let leaves = compute_leaves(schema.field(index), batch.column(index))?;
            for (mut writer, leaf) in writers.into_iter().zip(leaves) {
                writer.write(&leaf)?;
                done[index].lock().unwrap().push(writer.close()?);
            }
        }
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .try_for_each(|handle| handle.join().expect("a writing thread"))
    })?;
    Ok(done
        .into_iter()
        .flat_map(|chunks| chunks.into_inner().unwrap())
        .collect())
}

/// Writes all batches to `sink`; returns how many bytes came.
pub fn write<W: Write + Send>(batches: &[RecordBatch], option: &str, threads: usize, sink: W) -> Result<u64> {
    let properties = properties(option)?;
    let mut counted = Counted { inner: sink, bytes: 0 };
    let mut writer = ArrowWriter::try_new(&mut counted, batches[0].schema(), Some(properties))?;
    if threads < 2 || leaves_of(&batches[0].slice(0, 0))?.len() < 2 {
        for batch in batches {
            writer.write(batch)?;
        }
        writer.close()?;
        return Ok(counted.bytes);
    }
    let (mut file, factory) = writer.into_serialized_writer()?;
    for (index, batch) in batches.iter().enumerate() {
        let chunks = encode(batch, factory.create_column_writers(index)?, threads)?;
        let mut group = file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(counted.bytes)
}
