//! The batches that are written, made by the functions that arrow-rs's own benchmark of its writer calls. Each array
//! begins from the same seed.

use std::sync::Arc;

use arrow::array::builder::{ListBuilder, StringBuilder, StringDictionaryBuilder};
use arrow::array::{ArrayRef, Decimal128Array, Float32Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow::datatypes::*;
use arrow::util::bench_util::{create_f16_array, create_f32_array, create_f64_array};
use arrow::util::data_gen::create_random_batch;

use crate::Result;

/// Numbers for what arrow-rs's functions do not make.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    fn text(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        (0..length)
            .map(|_| LETTERS[self.next() as usize % LETTERS.len()] as char)
            .collect()
    }
}

fn batch(types: Vec<DataType>, nullable: bool, rows: usize, null_density: f32) -> Result<RecordBatch> {
    let fields: Vec<Field> = types
        .into_iter()
        .enumerate()
        .map(|(index, data_type)| Field::new(format!("_{}", index + 1), data_type, nullable))
        .collect();
    Ok(create_random_batch(
        Arc::new(Schema::new(fields)),
        rows,
        null_density,
        0.75,
    )?)
}

fn one(array: ArrayRef) -> Result<RecordBatch> {
    Ok(RecordBatch::try_from_iter([("_1", array)])?)
}

fn list_of(data_type: DataType, nullable: bool) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(data_type, nullable)))
}

fn primitive() -> Vec<DataType> {
    use DataType::*;
    vec![Int32, Int64, UInt32, UInt64, Float32, Float64, Date64]
}

fn lists(nullable: bool) -> Vec<DataType> {
    let large = DataType::LargeList(Arc::new(Field::new_list_field(DataType::Utf8, nullable)));
    vec![
        list_of(DataType::Int32, nullable),
        list_of(DataType::Boolean, nullable),
        large,
    ]
}

fn structure() -> Vec<DataType> {
    vec![DataType::Struct(Fields::from(vec![
        Field::new("_1", DataType::Int32, false),
        Field::new("_2", DataType::Int64, false),
        Field::new("_3", DataType::Float32, false),
    ]))]
}

fn list_of_struct_with_list() -> Vec<DataType> {
    let fields = vec![
        Field::new("a", DataType::Int32, true),
        Field::new("b", DataType::Float32, true),
        Field::new("c", list_of(DataType::Int32, true), true),
    ];
    vec![list_of(DataType::Struct(Fields::from(fields)), true)]
}

fn runs(values: DataType, rows: usize, null_density: f32) -> Result<RecordBatch> {
    let ends = Field::new("run_ends", DataType::Int32, false);
    let values = Field::new("values", values, true);
    batch(
        vec![DataType::RunEndEncoded(Arc::new(ends), Arc::new(values))],
        true,
        rows,
        null_density,
    )
}

fn decimals(rows: usize) -> Result<RecordBatch> {
    let types = vec![
        Decimal32Type::DEFAULT_TYPE,
        Decimal64Type::DEFAULT_TYPE,
        Decimal128Type::DEFAULT_TYPE,
        Decimal256Type::DEFAULT_TYPE,
    ];
    // arrow-rs does not ask whether the field may be null before it makes nulls of decimals.
    batch(types, false, rows, 0.0)
}

fn floats_with_nans(rows: usize) -> Result<RecordBatch> {
    let fields = vec![
        Field::new("_1", DataType::Float16, false),
        Field::new("_2", DataType::Float32, false),
        Field::new("_3", DataType::Float64, false),
    ];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(create_f16_array(rows, 0.5)),
        Arc::new(create_f32_array(rows, 0.5)),
        Arc::new(create_f64_array(rows, 0.5)),
    ];
    let options = RecordBatchOptions::new().with_match_field_names(false);
    Ok(RecordBatch::try_new_with_options(
        Arc::new(Schema::new(fields)),
        columns,
        &options,
    )?)
}

fn categories(count: usize) -> Vec<String> {
    let mut numbers = Numbers(42);
    (0..count)
        .map(|_| {
            let length = 10 + numbers.next() as usize % 15;
            numbers.text(length)
        })
        .collect()
}

fn low_cardinality_dictionary(rows: usize, count: usize) -> Result<RecordBatch> {
    let categories = categories(count);
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    for row in 0..rows {
        builder.append_value(&categories[row % count]);
    }
    let dictionary = builder.finish();
    let field = Field::new("_1", dictionary_type(), false);
    Ok(RecordBatch::try_new(
        Arc::new(Schema::new(vec![field])),
        vec![Arc::new(dictionary)],
    )?)
}

fn dictionary_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

fn strings(rows: usize, text: impl FnMut(usize) -> String) -> Result<RecordBatch> {
    one(Arc::new(StringArray::from_iter_values((0..rows).map(text))))
}

/// Strings of `length` bytes that share `shared` of them in front of eight digits.
fn prefixed(rows: usize, length: usize, shared: usize) -> Result<RecordBatch> {
    let head = "x".repeat(shared);
    let tail = "y".repeat(length - shared - 8);
    strings(rows, |row| format!("{head}{row:08}{tail}"))
}

fn prefixed_with_nulls(rows: usize, length: usize, shared: usize, null_every: usize) -> Result<RecordBatch> {
    let head = "x".repeat(shared);
    let tail = "y".repeat(length - shared - 8);
    let value = |row: usize| (row % null_every != null_every - 1).then(|| format!("{head}{row:08}{tail}"));
    one(Arc::new(StringArray::from_iter((0..rows).map(value))))
}

fn prefixed_lists(rows: usize, per_row: usize, length: usize) -> Result<RecordBatch> {
    let head = "x".repeat(length - 8);
    let mut builder = ListBuilder::new(StringBuilder::new());
    for row in 0..rows {
        for index in 0..per_row {
            builder
                .values()
                .append_value(format!("{head}{:08}", row * per_row + index));
        }
        builder.append(true);
    }
    one(Arc::new(builder.finish()))
}

fn wide(columns: usize, rows: usize) -> Result<RecordBatch> {
    let array: ArrayRef = Arc::new(Float32Array::from_iter_values((0..rows).map(|row| row as f32)));
    Ok(RecordBatch::try_from_iter(
        (0..columns).map(|index| (format!("c{index}"), array.clone())),
    )?)
}

fn decimal_38_10(rows: usize) -> Result<RecordBatch> {
    let mut numbers = Numbers(42);
    let values = (0..rows).map(|_| (numbers.next() >> 4) as i128);
    one(Arc::new(
        Decimal128Array::from_iter_values(values).with_precision_and_scale(38, 10)?,
    ))
}

fn sorted_int64(rows: usize) -> Result<RecordBatch> {
    let mut numbers = Numbers(42);
    let mut value = 0i64;
    let values = (0..rows).map(|_| {
        value += (numbers.next() % 1000) as i64;
        value
    });
    one(Arc::new(Int64Array::from_iter_values(values)))
}

fn low_cardinality_strings(rows: usize, count: usize) -> Result<RecordBatch> {
    let categories = categories(count);
    let mut numbers = Numbers(43);
    strings(rows, |_| categories[numbers.next() as usize % count].clone())
}

pub fn make(shape: &str, rows: usize) -> Result<RecordBatch> {
    use DataType::*;
    let fixed = FixedSizeBinary(16);
    match shape {
        "primitive" => batch(primitive(), true, rows, 0.25),
        "primitive_non_null" => batch(primitive(), false, rows, 0.25),
        "primitive_sparse_99pct_null" => batch(primitive(), true, rows, 0.99),
        "primitive_all_null" => batch(primitive(), true, rows, 1.0),
        "bool" => batch(vec![Boolean], true, rows, 0.25),
        "bool_non_null" => batch(vec![Boolean], false, rows, 0.25),
        "string" => batch(vec![Utf8, LargeUtf8], true, rows, 0.25),
        "string_non_null" => batch(vec![Utf8, LargeUtf8], false, rows, 0.25),
        "short_string_non_null" => strings(rows, |row| format!("{row:08}")),
        "large_string_non_null" => strings(rows, |_| "x".repeat(256 << 10)),
        "string_and_binary_view" => batch(vec![Utf8View, BinaryView], true, rows, 0.25),
        "string_dictionary" => batch(vec![dictionary_type()], true, rows, 0.25),
        "string_dictionary_low_cardinality_20" => low_cardinality_dictionary(rows, 20),
        "string_dictionary_low_cardinality_100" => low_cardinality_dictionary(rows, 100),
        "string_dictionary_low_cardinality_400" => low_cardinality_dictionary(rows, 400),
        "string_ree" => runs(Utf8, rows, 0.1),
        "int32_ree" => runs(Int32, rows, 0.1),
        "bool_ree" => runs(Boolean, rows, 0.1),
        "fixed_size_binary_ree" => runs(fixed, rows, 0.1),
        "string_ree_95pct_null" => runs(Utf8, rows, 0.95),
        "int32_ree_95pct_null" => runs(Int32, rows, 0.95),
        "float_with_nans" => floats_with_nans(rows),
        "decimal" => decimals(rows),
        "list_primitive" => batch(lists(true), true, rows, 0.25),
        "list_primitive_non_null" => batch(lists(false), false, rows, 0.25),
        "list_primitive_sparse_99pct_null" => batch(lists(true), true, rows, 0.99),
        "struct_non_null" => batch(structure(), true, rows, 0.0),
        "struct_sparse_99pct_null" => batch(structure(), true, rows, 0.99),
        "struct_all_null" => batch(structure(), true, rows, 1.0),
        "fsb" => batch(vec![fixed], true, rows, 0.9),
        "list_nested" => batch(vec![list_of(list_of(Int32, true), true)], true, rows, 0.25),
        "list_struct_with_list" => batch(list_of_struct_with_list(), true, rows, 0.25),
        "small_string_shared_prefix" => prefixed(rows, 1024, 1016),
        "small_string_partial_prefix" => prefixed(rows, 1024, 512),
        "small_string_distinct" => prefixed(rows, 1024, 0),
        "large_string_shared_prefix" => prefixed(rows, 2 << 20, (2 << 20) - 8),
        "large_string_distinct" => prefixed(rows, 2 << 20, 0),
        "large_string_shared_prefix_nullable" => prefixed_with_nulls(rows, 2 << 20, (2 << 20) - 8, 16),
        "large_string_shared_prefix_list" => prefixed_lists(rows, 4, 2 << 20),
        "wide_1000" => wide(1000, rows),
        "wide_5000" => wide(5000, rows),
        "wide_10000" => wide(10000, rows),
        "decimal_38_10" => decimal_38_10(rows),
        "sorted_int64" => sorted_int64(rows),
        "string_low_cardinality_plain_arrays" => low_cardinality_strings(rows, 400),
        other => Err(format!("no shape {other}").into()),
    }
}
