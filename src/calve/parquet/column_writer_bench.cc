#include "calve/parquet_writer.h"

#include <arrow/builder.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/util/bit_util.h>
#include <benchmark/benchmark.h>

#include <map>
#include <random>

// Whole writes of 2^20 rows to a sink that drops the bytes, one thread: arrow-rs's shapes and its defaults (1 MiB pages
// and dictionaries, uncompressed).

namespace calve {
namespace {

constexpr int64_t kRows = 1 << 20;

class NullSink : public arrow::io::OutputStream {
 public:
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<int64_t> Tell() const override { return size_; }
  arrow::Status Write(const void*, int64_t size) override {
    size_ += size;
    return arrow::Status::OK();
  }

 private:
  int64_t size_ = 0;
};

/// Makes one column; `nulls` is their share.
class Shapes {
 public:
  explicit Shapes(double nulls) : nulls_(nulls) {}

  std::shared_ptr<arrow::Array> Fixed(const std::shared_ptr<arrow::DataType>& type, int64_t count = kRows) {
    std::mt19937_64 random(42);
    const int64_t bytes = arrow::bit_util::BytesForBits(count * type->bit_width());
    std::shared_ptr<arrow::Buffer> values = arrow::AllocateBuffer(bytes + 8).ValueOrDie();
    for (int64_t i = 0; i < bytes; i += 8) {
      const uint64_t word = type->id() == arrow::Type::BOOL ? random() | random() : random();
      std::memcpy(values->mutable_data() + i, &word, sizeof(word));
    }
    if (type->id() == arrow::Type::DECIMAL128) {
      for (int64_t i = 0; i < count; ++i) values->mutable_data()[i * 16 + 15] &= 0x3F;
    }
    return arrow::MakeArray(arrow::ArrayData::Make(type, count, {Validity(count), values}));
  }

  std::shared_ptr<arrow::Array> Text(int64_t count, int shortest, int longest, int distinct = 0) {
    std::mt19937_64 random(42);
    arrow::StringBuilder builder;
    const auto make = [&](std::mt19937_64& source) {
      std::string text(static_cast<size_t>(shortest) + source() % static_cast<uint64_t>(longest - shortest + 1), ' ');
      for (char& c : text) c = static_cast<char>('0' + source() % 75);
      return text;
    };
    std::vector<std::string> words;
    for (int i = 0; i < distinct; ++i) words.push_back(make(random));
    for (int64_t i = 0; i < count; ++i) {
      const bool valid = static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53) >= nulls_;
      if (!valid) {
        (void)builder.AppendNull();
      } else {
        (void)builder.Append(distinct > 0 ? words[random() % words.size()] : make(random));
      }
    }
    return *builder.Finish();
  }

  std::shared_ptr<arrow::Array> Dictionary(int distinct) {
    std::mt19937_64 random(7);
    arrow::Int32Builder keys;
    for (int64_t i = 0; i < kRows; ++i)
      (void)keys.Append(static_cast<int32_t>(random() % static_cast<uint64_t>(distinct)));
    auto indices = (*keys.Finish())->data()->Copy();
    indices->buffers[0] = Validity(kRows);
    indices->null_count = arrow::kUnknownNullCount;
    Shapes values(0);
    const auto type = arrow::dictionary(arrow::int32(), arrow::utf8());
    return arrow::DictionaryArray::FromArrays(type, arrow::MakeArray(indices), values.Text(distinct, 10, 10))
        .ValueOrDie();
  }

  std::shared_ptr<arrow::Array> Lists(const std::shared_ptr<arrow::DataType>& element) {
    std::mt19937_64 random(43);
    std::shared_ptr<arrow::Buffer> offsets = arrow::AllocateBuffer((kRows + 1) * 4).ValueOrDie();
    auto* next = reinterpret_cast<int32_t*>(offsets->mutable_data());
    next[0] = 0;
    for (int64_t i = 0; i < kRows; ++i) next[i + 1] = next[i] + static_cast<int32_t>(random() % 6);
    return arrow::MakeArray(arrow::ArrayData::Make(arrow::list(element), kRows, {Validity(kRows), offsets},
                                                   {Fixed(element, next[kRows])->data()}, arrow::kUnknownNullCount));
  }

  std::shared_ptr<arrow::Array> Struct() {
    Shapes required(0);
    arrow::FieldVector fields;
    std::vector<std::shared_ptr<arrow::ArrayData>> children;
    for (const auto& type : {arrow::int32(), arrow::int64(), arrow::float32()}) {
      fields.push_back(arrow::field(type->name(), type, false));
      children.push_back(required.Fixed(type)->data());
    }
    return arrow::MakeArray(arrow::ArrayData::Make(arrow::struct_(fields), kRows, {Validity(kRows)}, children));
  }

 private:
  std::shared_ptr<arrow::Buffer> Validity(int64_t count) const {
    if (nulls_ == 0) return nullptr;
    std::shared_ptr<arrow::Buffer> bits = arrow::AllocateEmptyBitmap(count).ValueOrDie();
    std::mt19937_64 random(42);
    for (int64_t i = 0; i < count; ++i) {
      const bool valid = static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53) >= nulls_;
      arrow::bit_util::SetBitTo(bits->mutable_data(), i, valid);
    }
    return bits;
  }

  const double nulls_;
};

arrow::ArrayVector Primitives(double nulls) {
  Shapes shapes(nulls);
  arrow::ArrayVector columns;
  for (const auto& type :
       {arrow::int32(), arrow::int64(), arrow::uint32(), arrow::uint64(), arrow::float32(), arrow::float64()}) {
    columns.push_back(shapes.Fixed(type));
  }
  return columns;
}

arrow::ArrayVector ColumnsOf(const std::string& shape) {
  if (shape == "primitive") return Primitives(0.25);
  if (shape == "primitive_non_null") return Primitives(0);
  if (shape == "primitive_sparse_99pct_null") return Primitives(0.99);
  if (shape == "primitive_all_null") return Primitives(1);
  if (shape == "bool") return {Shapes(0.25).Fixed(arrow::boolean())};
  if (shape == "bool_non_null") return {Shapes(0).Fixed(arrow::boolean())};
  if (shape == "string") return {Shapes(0.25).Text(kRows / 4, 0, 400)};
  if (shape == "short_string_non_null") return {Shapes(0).Text(kRows, 8, 8)};
  if (shape == "string_low_cardinality") return {Shapes(0.25).Text(kRows, 10, 10, 100)};
  if (shape == "string_dictionary_100") return {Shapes(0.25).Dictionary(100)};
  if (shape == "list_primitive") return {Shapes(0.25).Lists(arrow::int32())};
  if (shape == "list_primitive_non_null") return {Shapes(0).Lists(arrow::int32())};
  if (shape == "list_primitive_sparse_99pct_null") return {Shapes(0.99).Lists(arrow::int32())};
  if (shape == "struct_sparse_99pct_null") return {Shapes(0.99).Struct()};
  return {Shapes(0).Fixed(arrow::decimal128(38, 10))};
}

const std::shared_ptr<arrow::RecordBatch>& BatchOf(const std::string& shape) {
  static std::map<std::string, std::shared_ptr<arrow::RecordBatch>> batches;
  auto& batch = batches[shape];
  if (batch != nullptr) return batch;
  const auto columns = ColumnsOf(shape);
  arrow::FieldVector fields;
  for (const auto& column : columns) {
    fields.push_back(arrow::field("c" + std::to_string(fields.size()), column->type(), column->null_count() > 0));
  }
  batch = arrow::RecordBatch::Make(arrow::schema(fields), columns[0]->length(), columns);
  return batch;
}

void Write(benchmark::State& state, const std::string& shape, ParquetCompression compression) {
  const auto& batch = BatchOf(shape);
  ParquetWriteOptions options;
  options.compression = compression;
  options.compression_level = compression == ParquetCompression::kZstd ? std::optional<int>(1) : std::nullopt;
  options.dictionary_bytes = 1 << 20;
  Context context;
  context.threads = 1;
  int64_t bytes = 0;
  for (auto _ : state) {
    NullSink sink;
    auto writer = ParquetWriter::Make(&sink, batch->schema(), options, context).ValueOrDie();
    if (!writer->Write(*batch).ok()) state.SkipWithError("write failed");
    bytes = writer->Close()->bytes;
  }
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}

void Register(const std::string& shape, const std::string& name, ParquetCompression compression) {
  benchmark::RegisterBenchmark(("BM_Write/" + shape + "/" + name).c_str(), [=](benchmark::State& state) {
    Write(state, shape, compression);
  })->Unit(benchmark::kMillisecond);
}

const int kRegistered = [] {
  for (const char* shape :
       {"primitive", "primitive_non_null", "primitive_sparse_99pct_null", "primitive_all_null", "bool", "bool_non_null",
        "string", "short_string_non_null", "string_low_cardinality", "string_dictionary_100", "list_primitive",
        "list_primitive_non_null", "list_primitive_sparse_99pct_null", "struct_sparse_99pct_null", "decimal"}) {
    Register(shape, "default", ParquetCompression::kUncompressed);
    Register(shape, "zstd", ParquetCompression::kZstd);
  }
  return 0;
}();

}  // namespace
}  // namespace calve
