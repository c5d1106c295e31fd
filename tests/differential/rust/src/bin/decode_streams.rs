//! Reads Arrow IPC streams with arrow-rs and writes their rows as one Arrow file, for tests/interop/test_shuffle_blocks.py.
//!
//!     decode_streams OUT STREAM...

use std::fs::File;
use std::io::BufReader;

use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::FileWriter;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let (out, streams) = paths.split_first().ok_or("OUT STREAM... expected")?;
    let mut writer: Option<FileWriter<File>> = None;
    for path in streams {
        let reader = StreamReader::try_new(BufReader::new(File::open(path)?), None)?;
        for batch in reader {
            let batch = batch.map_err(|error| format!("{path}: {error}"))?;
            if writer.is_none() {
                writer = Some(FileWriter::try_new(File::create(out)?, &batch.schema())?);
            }
            writer.as_mut().ok_or("no writer")?.write(&batch)?;
        }
    }
    writer.ok_or("no rows")?.finish()?;
    Ok(())
}
