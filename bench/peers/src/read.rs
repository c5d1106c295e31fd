//! Reads Parquet files to Arrow with arrow-rs, as a program that wants the best of it would.

use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Fields, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::ProjectionMask;

pub struct Options {
    pub files: Vec<String>,
    pub columns: Vec<String>, // top-level names; empty: all
    pub batch_rows: usize,
    pub threads: usize,
    pub strings: DataType,
    pub keep: bool,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A part of the work that one thread does: some columns of one row group (none: of all).
struct Task {
    file: usize,
    row_group: Option<usize>,
    columns: Vec<String>,
}

fn with_strings(field: &Field, strings: &DataType) -> Field {
    let data_type = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => strings.clone(),
        DataType::List(child) => DataType::List(Arc::new(with_strings(child, strings))),
        DataType::Struct(children) => DataType::Struct(
            children
                .iter()
                .map(|child| Arc::new(with_strings(child, strings)))
                .collect::<Fields>(),
        ),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

/// The footer of a file, with the form that strings are to have.
fn open(path: &str, strings: &DataType) -> Result<ArrowReaderMetadata> {
    let metadata = ArrowReaderMetadata::load(&File::open(path)?, ArrowReaderOptions::new())?;
    let fields = metadata
        .schema()
        .fields()
        .iter()
        .map(|field| Arc::new(with_strings(field, strings)))
        .collect::<Fields>();
    if fields == *metadata.schema().fields() {
        return Ok(metadata);
    }
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    Ok(ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)?)
}

/// Opens the file anew: clones of a File share its position, which the reader moves.
fn read(
    path: &str,
    metadata: &ArrowReaderMetadata,
    row_group: Option<usize>,
    columns: &[String],
    options: &Options,
    sink: &mut dyn FnMut(RecordBatch),
) -> Result<()> {
    let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata.clone());
    if !columns.is_empty() {
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().map(String::as_str));
        builder = builder.with_projection(mask);
    }
    if let Some(row_group) = row_group {
        builder = builder.with_row_groups(vec![row_group]);
    }
    for batch in builder.with_batch_size(options.batch_rows).build()? {
        sink(batch?);
    }
    Ok(())
}

/// Reads everything in order on the calling thread.
pub fn read_in_order(options: &Options, sink: &mut dyn FnMut(RecordBatch)) -> Result<()> {
    for path in &options.files {
        read(
            path,
            &open(path, &options.strings)?,
            None,
            &options.columns,
            options,
            sink,
        )?;
    }
    Ok(())
}

/// The row groups of all files; where there is only one, its columns in as many parts as there are threads.
fn tasks(opened: &[ArrowReaderMetadata], options: &Options) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (file, metadata) in opened.iter().enumerate() {
        for row_group in 0..metadata.metadata().num_row_groups() {
            tasks.push(Task {
                file,
                row_group: Some(row_group),
                columns: options.columns.clone(),
            });
        }
    }
    if tasks.len() > 1 {
        return tasks;
    }
    let columns = if options.columns.is_empty() {
        opened[0]
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    } else {
        options.columns.clone()
    };
    columns
        .into_iter()
        .map(|column| Task {
            file: 0,
            row_group: None,
            columns: vec![column],
        })
        .collect()
}

fn read_parallel(options: &Options) -> Result<Vec<RecordBatch>> {
    let opened = options
        .files
        .iter()
        .map(|path| open(path, &options.strings))
        .collect::<Result<Vec<_>>>()?;
    let tasks = tasks(&opened, options);
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<RecordBatch>> {
        let mut kept = Vec::new();
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let path = &options.files[task.file];
            read(
                path,
                &opened[task.file],
                task.row_group,
                &task.columns,
                options,
                &mut |batch| {
                    if options.keep {
                        kept.push(batch);
                    }
                },
            )?;
        }
        Ok(kept)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads).map(|_| scope.spawn(work)).collect();
        let mut kept = Vec::new();
        for thread in threads {
            kept.append(&mut thread.join().expect("a reading thread")?);
        }
        Ok(kept)
    })
}

/// One round; returns the batches that were kept.
pub fn read_once(options: &Options) -> Result<Vec<RecordBatch>> {
    if options.threads > 1 {
        return read_parallel(options);
    }
    let mut kept = Vec::new();
    read_in_order(options, &mut |batch| {
        if options.keep {
            kept.push(batch);
        }
    })?;
    Ok(kept)
}
