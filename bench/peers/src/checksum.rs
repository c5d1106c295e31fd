//! The checksum of bench/support/checksum.h, computed over arrow-rs's arrays.

use arrow::array::{cast::AsArray, Array, ArrayRef, OffsetSizeTrait, RecordBatch};
use arrow::datatypes::*;

const NULL: u64 = 0x9e3779b97f4a7c15;

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash ^ u64::from_le_bytes(word));
    }
    hash
}

fn hash_wide(value: i128) -> u64 {
    mix(mix(value as u64) ^ (value >> 64) as u64)
}

/// One array of the schema's tree: where its slots have got to.
#[derive(Default)]
struct Node {
    id: u64,
    next: u64,
    children: Vec<Node>,
}

/// Which slots of a range have a parent that is there; empty: all.
type Mask = Vec<bool>;

#[derive(Default)]
pub struct Checksum {
    nodes: Vec<Node>,
    ids: u64,
    pub sum: u64,
    pub bytes: i64,
    pub rows: i64,
}

impl Checksum {
    pub fn add(&mut self, batch: &RecordBatch) {
        let mut nodes = std::mem::take(&mut self.nodes);
        for (index, column) in batch.columns().iter().enumerate() {
            let node = self.child(&mut nodes, index);
            self.visit(column, 0, column.len(), &Mask::new(), node);
        }
        self.nodes = nodes;
        self.rows += batch.num_rows() as i64;
    }

    fn child<'a>(&mut self, nodes: &'a mut Vec<Node>, index: usize) -> &'a mut Node {
        if nodes.len() == index {
            nodes.push(Node {
                id: self.ids,
                ..Node::default()
            });
            self.ids += 1;
        }
        &mut nodes[index]
    }

    fn slots(
        &mut self,
        array: &dyn Array,
        begin: usize,
        end: usize,
        mask: &Mask,
        node: &mut Node,
        hash: impl Fn(usize) -> u64,
    ) {
        for i in begin..end {
            let present = (mask.is_empty() || mask[i - begin]) && array.is_valid(i);
            let position = mix((node.id << 40).wrapping_add(node.next));
            node.next += 1;
            let value = if present {
                mix(position ^ hash(i))
            } else {
                mix(position.wrapping_add(NULL))
            };
            self.sum = self.sum.wrapping_add(value);
        }
    }

    fn fixed(
        &mut self,
        array: &dyn Array,
        begin: usize,
        end: usize,
        mask: &Mask,
        node: &mut Node,
        width: usize,
        hash: impl Fn(usize) -> u64,
    ) {
        self.slots(array, begin, end, mask, node, hash);
        self.bytes += (width * (end - begin)) as i64;
    }

    fn strings<'a>(
        &mut self,
        array: &dyn Array,
        begin: usize,
        end: usize,
        mask: &Mask,
        node: &mut Node,
        value: impl Fn(usize) -> &'a [u8],
    ) {
        self.slots(array, begin, end, mask, node, |i| hash_bytes(value(i)));
        for i in begin..end {
            if array.is_valid(i) && (mask.is_empty() || mask[i - begin]) {
                self.bytes += value(i).len() as i64;
            }
        }
        self.bytes += 4 * (end - begin) as i64;
    }

    fn visit(&mut self, array: &ArrayRef, begin: usize, end: usize, mask: &Mask, node: &mut Node) {
        macro_rules! number {
            ($type:ty, $width:expr, $hash:expr) => {{
                let typed = array.as_primitive::<$type>();
                let hash = $hash;
                self.fixed(array, begin, end, mask, node, $width, |i| hash(typed.value(i)))
            }};
        }
        match array.data_type() {
            DataType::Boolean => {
                let typed = array.as_boolean();
                self.fixed(array, begin, end, mask, node, 1, |i| typed.value(i) as u64)
            }
            DataType::Int8 => number!(Int8Type, 1, |v: i8| v as u64),
            DataType::Int16 => number!(Int16Type, 2, |v: i16| v as u64),
            DataType::Int32 => number!(Int32Type, 4, |v: i32| v as u64),
            DataType::Int64 => number!(Int64Type, 8, |v: i64| v as u64),
            DataType::UInt32 => number!(UInt32Type, 4, |v: u32| v as u64),
            DataType::UInt64 => number!(UInt64Type, 8, |v: u64| v),
            DataType::Float32 => number!(Float32Type, 4, |v: f32| v.to_bits() as u64),
            DataType::Float64 => number!(Float64Type, 8, |v: f64| v.to_bits()),
            DataType::Date32 => number!(Date32Type, 4, |v: i32| v as u64),
            DataType::Timestamp(TimeUnit::Microsecond, _) => number!(TimestampMicrosecondType, 8, |v: i64| v as u64),
            DataType::Decimal32(_, _) => number!(Decimal32Type, 16, |v: i32| hash_wide(v as i128)),
            DataType::Decimal64(_, _) => number!(Decimal64Type, 16, |v: i64| hash_wide(v as i128)),
            DataType::Decimal128(_, _) => number!(Decimal128Type, 16, hash_wide),
            DataType::Utf8 => {
                let typed = array.as_string::<i32>();
                self.strings(array, begin, end, mask, node, |i| typed.value(i).as_bytes())
            }
            DataType::Binary => {
                let typed = array.as_binary::<i32>();
                self.strings(array, begin, end, mask, node, |i| typed.value(i))
            }
            DataType::Utf8View => {
                let typed = array.as_string_view();
                self.strings(array, begin, end, mask, node, |i| typed.value(i).as_bytes())
            }
            DataType::Dictionary(_, value) if **value == DataType::Utf8 => {
                let typed = array.as_dictionary::<Int32Type>();
                let values = typed.values().as_string::<i32>();
                self.strings(array, begin, end, mask, node, |i| {
                    values.value(typed.keys().value(i) as usize).as_bytes()
                })
            }
            DataType::Struct(_) => self.visit_struct(array, begin, end, mask, node),
            DataType::List(_) => self.visit_list::<i32>(array, begin, end, mask, node),
            DataType::LargeList(_) => self.visit_list::<i64>(array, begin, end, mask, node),
            other => panic!("no checksum of {other}"),
        }
    }

    fn visit_struct(&mut self, array: &ArrayRef, begin: usize, end: usize, mask: &Mask, node: &mut Node) {
        self.slots(array, begin, end, mask, node, |_| 1);
        let inner: Mask = (begin..end)
            .map(|i| array.is_valid(i) && (mask.is_empty() || mask[i - begin]))
            .collect();
        for (index, column) in array.as_struct().columns().iter().enumerate() {
            let child = self.child(&mut node.children, index);
            self.visit(column, begin, end, &inner, child);
        }
    }

    fn visit_list<O: OffsetSizeTrait>(
        &mut self,
        array: &ArrayRef,
        begin: usize,
        end: usize,
        mask: &Mask,
        node: &mut Node,
    ) {
        let list = array.as_list::<O>();
        self.fixed(array, begin, end, mask, node, 4, |i| {
            list.value_length(i).as_usize() as u64
        });
        let offsets = list.value_offsets();
        let child = self.child(&mut node.children, 0);
        let (mut from, mut to) = (0, 0); // elements of lists that are there, as far as they lie side by side
        for i in begin..end {
            if array.is_null(i) || !(mask.is_empty() || mask[i - begin]) {
                continue;
            }
            let (first, last) = (offsets[i].as_usize(), offsets[i + 1].as_usize());
            if first != to {
                self.visit(list.values(), from, to, &Mask::new(), child);
                from = first;
            }
            to = last;
        }
        self.visit(list.values(), from, to, &Mask::new(), child);
    }
}
