//! Reads lines, and answers each with "ok" or "error" and why. Of an Arrow IPC file, a Parquet file to write, and a
//! seed, tab between them, it writes the Parquet file with properties that the seed chooses, and tells them. Of
//! "read", a Parquet file, and an Arrow IPC file to write, it writes what arrow-rs reads.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, Write};

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::{BrotliLevel, Compression, Encoding, GzipLevel, Type, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};

/// The generator of Steele, Lea and Flood (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.next() % choices.len() as u64) as usize]
    }
}

fn encodings(physical: Type) -> &'static [Encoding] {
    match physical {
        Type::BOOLEAN => &[Encoding::PLAIN, Encoding::RLE],
        Type::INT32 | Type::INT64 => &[
            Encoding::PLAIN,
            Encoding::DELTA_BINARY_PACKED,
            Encoding::BYTE_STREAM_SPLIT,
        ],
        Type::FLOAT | Type::DOUBLE => &[Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT],
        Type::BYTE_ARRAY => &[
            Encoding::PLAIN,
            Encoding::DELTA_LENGTH_BYTE_ARRAY,
            Encoding::DELTA_BYTE_ARRAY,
        ],
        Type::FIXED_LEN_BYTE_ARRAY => &[Encoding::PLAIN, Encoding::DELTA_BYTE_ARRAY, Encoding::BYTE_STREAM_SPLIT],
        Type::INT96 => &[Encoding::PLAIN],
    }
}

fn set_encodings(
    mut builder: WriterPropertiesBuilder,
    schema: &SchemaRef,
    random: &mut Random,
) -> Result<WriterPropertiesBuilder, Box<dyn Error>> {
    let descriptor = ArrowSchemaConverter::new().convert(schema)?;
    for column in descriptor.columns() {
        let choices = encodings(column.physical_type());
        builder = builder
            .set_column_encoding(column.path().clone(), random.pick(choices))
            .set_column_dictionary_enabled(column.path().clone(), random.pick(&[true, false]));
    }
    Ok(builder)
}

fn properties(schema: &SchemaRef, random: &mut Random) -> Result<WriterProperties, Box<dyn Error>> {
    let compression = random.pick(&[
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::try_new(3)?),
        Compression::BROTLI(BrotliLevel::try_new(2)?),
        Compression::ZSTD(ZstdLevel::try_new(3)?),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ]);
    let builder = WriterProperties::builder()
        .set_writer_version(random.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
        .set_compression(compression)
        .set_max_row_group_row_count(Some(random.pick(&[11, 100, 1000, 1 << 20])))
        .set_data_page_row_count_limit(random.pick(&[1, 7, 50, 20000]))
        .set_data_page_size_limit(random.pick(&[64, 1000, 1 << 20]))
        .set_dictionary_page_size_limit(random.pick(&[16, 200, 1 << 20]))
        .set_write_batch_size(random.pick(&[1, 13, 1024]))
        .set_statistics_enabled(random.pick(&[
            EnabledStatistics::None,
            EnabledStatistics::Chunk,
            EnabledStatistics::Page,
        ]))
        .set_bloom_filter_enabled(random.pick(&[true, false, false]))
        .set_offset_index_disabled(random.pick(&[true, false]));
    Ok(set_encodings(builder, schema, random)?.build())
}

fn write(table: &str, path: &str, seed: u64) -> Result<String, Box<dyn Error>> {
    let reader = FileReader::try_new(File::open(table)?, None)?;
    let schema = reader.schema();
    let mut random = Random(seed);
    let properties = properties(&schema, &mut random)?;
    let told = format!("{:?}", properties).replace(['\n', '\t'], " ");
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(random.pick(&[true, false]));
    let mut writer = ArrowWriter::try_new_with_options(File::create(path)?, schema, options)?;
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>()?;
    for batch in batches {
        writer.write(&batch)?;
    }
    writer.close()?;
    Ok(told)
}

fn read(path: &str, table: &str) -> Result<String, Box<dyn Error>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let schema = builder.schema().clone();
    // One batch: an IPC file has one dictionary a field.
    let batches: Vec<RecordBatch> = builder.with_batch_size(1 << 16).build()?.collect::<Result<_, _>>()?;
    let mut writer = FileWriter::try_new(File::create(table)?, &schema)?;
    for batch in &batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(String::new())
}

/// A panic of arrow-rs is an answer too.
fn guarded(
    work: impl FnOnce() -> Result<String, Box<dyn Error>> + std::panic::UnwindSafe,
) -> Result<String, Box<dyn Error>> {
    std::panic::catch_unwind(work).unwrap_or_else(|_| Err("panic".into()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split('\t').collect();
        let answer = match words[..] {
            ["read", path, table] => guarded(|| read(path, table)),
            [table, path, seed] => write(table, path, seed.parse()?),
            _ => return Err("a line has three words with tabs between them".into()),
        };
        match answer {
            Ok(told) => writeln!(out, "ok {told}")?,
            Err(error) => writeln!(out, "error {}", error.to_string().replace('\n', " "))?,
        }
    }
    Ok(())
}
