//! The two ways to decode a block.

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::buffer::{Buffer, MutableBuffer};
use arrow::datatypes::SchemaRef;
use arrow_data::UnsafeFlag;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{read_dictionary_impl, RecordBatchDecoder, StreamReader};
use arrow_ipc::{root_as_message, MessageHeader};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Default, Clone)]
pub struct Options {
    pub cached: bool,
    pub trusted: bool,
    pub keep: bool,
}

const HEAD: usize = 20;
const KEPT_SCHEMAS: usize = 4;

pub struct Decoder {
    data: Buffer,
    pub options: Options,
    schemas: Vec<(Vec<u8>, SchemaRef)>, // used most recently first
    metadata: Vec<u8>,
}

impl Decoder {
    pub fn new(data: Buffer, options: Options) -> Self {
        Self {
            data,
            options,
            schemas: vec![],
            metadata: vec![],
        }
    }

    /// Decodes all blocks; how many there were.
    pub fn round(&mut self, sink: &mut dyn FnMut(RecordBatch)) -> Result<usize> {
        let (mut at, mut blocks) = (0, 0);
        let data = self.data.clone();
        while at < data.len() {
            let length = u64::from_le_bytes(data[at..at + 8].try_into()?) as usize;
            let tag: [u8; 4] = data[at + 16..at + HEAD].try_into()?;
            let payload = &data[at + HEAD..at + 8 + length];
            let batch = match &tag {
                b"NONE" => self.decode(Cursor::new(payload)),
                b"LZ4_" => self.decode(lz4_flex::frame::FrameDecoder::new(payload)),
                b"ZSTD" => self.decode(zstd::Decoder::with_buffer(payload)?),
                other => return Err(format!("tag {other:?}").into()),
            }?;
            sink(batch);
            at += 8 + length;
            blocks += 1;
        }
        Ok(blocks)
    }

    fn decode(&mut self, stream: impl Read) -> Result<RecordBatch> {
        if self.options.cached {
            return self.decode_cached(stream);
        }
        let mut reader = StreamReader::try_new(stream, None)?;
        if self.options.trusted {
            reader = unsafe { reader.with_skip_validation(true) };
        }
        reader.next().ok_or("no batch")?.map_err(Into::into)
    }

    fn decode_cached(&mut self, mut stream: impl Read) -> Result<RecordBatch> {
        read_metadata(&mut stream, &mut self.metadata)?;
        let schema = self.schema()?;
        let mut skip = UnsafeFlag::new();
        if self.options.trusted {
            unsafe { skip.set(true) };
        }
        let mut dictionaries: HashMap<i64, ArrayRef> = HashMap::new();
        loop {
            read_metadata(&mut stream, &mut self.metadata)?;
            let message = root_as_message(&self.metadata).map_err(|error| error.to_string())?;
            let body = read_body(&mut stream, message.bodyLength() as usize)?;
            match message.header_type() {
                MessageHeader::DictionaryBatch => {
                    let batch = message.header_as_dictionary_batch().ok_or("no dictionary")?;
                    let version = message.version();
                    read_dictionary_impl(&body, batch, &schema, &mut dictionaries, &version, false, skip.clone())?;
                }
                MessageHeader::RecordBatch => {
                    let batch = message.header_as_record_batch().ok_or("no batch")?;
                    let version = message.version();
                    let decoder = RecordBatchDecoder::try_new(&body, batch, schema, &dictionaries, &version)?;
                    return Ok(decoder.with_skip_validation(skip).read_record_batch()?);
                }
                other => return Err(format!("message {other:?}").into()),
            }
        }
    }

    /// That of the message in `metadata`, parsed only when its bytes are new.
    fn schema(&mut self) -> Result<SchemaRef> {
        if let Some(found) = self.schemas.iter().position(|(bytes, _)| *bytes == self.metadata) {
            self.schemas[..=found].rotate_right(1);
            return Ok(Arc::clone(&self.schemas[0].1));
        }
        let message = root_as_message(&self.metadata).map_err(|error| error.to_string())?;
        let schema = Arc::new(fb_to_schema(message.header_as_schema().ok_or("no schema")?));
        self.schemas.truncate(KEPT_SCHEMAS - 1);
        self.schemas.insert(0, (self.metadata.clone(), Arc::clone(&schema)));
        Ok(schema)
    }
}

fn read_metadata(stream: &mut impl Read, metadata: &mut Vec<u8>) -> Result<()> {
    let mut prefix = [0u8; 8];
    stream.read_exact(&mut prefix)?;
    let size = u32::from_le_bytes(prefix[4..].try_into()?) as usize;
    metadata.resize(size, 0);
    Ok(stream.read_exact(metadata)?)
}

fn read_body(stream: &mut impl Read, size: usize) -> Result<Buffer> {
    let mut body = MutableBuffer::with_capacity(size);
    // Every byte of it is read over, or the body is dropped.
    unsafe { body.set_len(size) };
    stream.read_exact(body.as_slice_mut())?;
    Ok(body.into())
}
