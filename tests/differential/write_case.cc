#include "write_case.h"

#include "ipc_file.h"
#include "plain_form.h"
#include "random_input.h"
#include "same_table.h"

#include "calve/parquet/page_encoding.h"
#include "calve/parquet/schema_writer.h"
#include "calve/parquet_reader.h"
#include "calve/parquet_verify.h"
#include "calve/parquet_writer.h"

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

namespace calve::differential {
namespace {

using arrow::Result;
using arrow::Status;
using TablePtr = std::shared_ptr<arrow::Table>;

class RandomOptions {
 public:
  RandomOptions(const RandomInput& input, uint64_t seed) : input_(input), random_(seed) {}

  Result<ParquetWriteOptions> Make(WrittenCase* written) {
    ParquetWriteOptions options;
    options.compression = static_cast<ParquetCompression>(random_() % 6);
    options.row_group_rows = Pick({11, 100, 1000, 1 << 20});
    options.row_group_bytes = Pick({5000, 1 << 27, 1 << 27});
    options.page_bytes = Pick({1, 64, 1000, 1 << 20});
    options.page_rows = Pick({1, 7, 64, 20000});
    options.dictionary_bytes = Pick({16, 200, 2 << 20});
    options.dictionary = Chance(2);
    options.data_page_v2 = Chance(2);
    options.page_index = Chance(2);
    options.page_checksums = Chance(2);
    options.size_statistics = Chance(2);
    options.skip_poor_compression = Chance(3);
    if (Chance(4)) options.bloom_filter = BloomFilter();
    if (Chance(4)) {
      options.content_chunking = ParquetContentChunking{.min_bytes = 64, .max_bytes = Pick({65, 500, 5000})};
    }
    options.store_arrow_schema = Chance(2);
    ARROW_RETURN_NOT_OK(SetColumns(&options));
    written->readers = Readers(options.store_arrow_schema);
    Tell(options, written);
    return options;
  }

 private:
  bool Chance(uint64_t one_in) { return random_() % one_in == 0; }
  int64_t Pick(std::initializer_list<int64_t> choices) { return choices.begin()[random_() % choices.size()]; }

  ParquetBloomFilterOptions BloomFilter() {
    ParquetBloomFilterOptions filter{.fpp = Chance(2) ? 0.01 : 0.3, .max_bytes = Pick({32, 1024, 1 << 16})};
    if (Chance(2)) filter.ndv = Pick({1, 100, 10000});
    return filter;
  }

  /// An encoding of a type, as the option and as the format name it.
  struct Choice {
    ParquetEncoding option;
    parquet::Encoding encoding;
  };

  /// DuckDB reads BYTE_STREAM_SPLIT of floating point only, Polars no DELTA_BYTE_ARRAY of fixed length.
  static bool EverybodyReads(parquet::Encoding encoding, parquet::PhysicalType type) {
    using parquet::PhysicalType;
    if (encoding == parquet::Encoding::kDeltaByteArray) return type == PhysicalType::kByteArray;
    if (encoding != parquet::Encoding::kByteStreamSplit) return true;
    return type == PhysicalType::kFloat || type == PhysicalType::kDouble;
  }

  ParquetEncoding EncodingOf(parquet::PhysicalType type) {
    const Choice all[] = {{ParquetEncoding::kPlain, parquet::Encoding::kPlain},
                          {ParquetEncoding::kRle, parquet::Encoding::kRle},
                          {ParquetEncoding::kDeltaBinaryPacked, parquet::Encoding::kDeltaBinaryPacked},
                          {ParquetEncoding::kDeltaLengthByteArray, parquet::Encoding::kDeltaLengthByteArray},
                          {ParquetEncoding::kDeltaByteArray, parquet::Encoding::kDeltaByteArray},
                          {ParquetEncoding::kByteStreamSplit, parquet::Encoding::kByteStreamSplit}};
    std::vector<ParquetEncoding> can = {ParquetEncoding::kAutomatic};
    for (const Choice& choice : all) {
      if (!parquet::CanEncode(choice.encoding, type)) continue;
      if (input_.plain_types && !EverybodyReads(choice.encoding, type)) continue;
      can.push_back(choice.option);
    }
    return can[random_() % can.size()];
  }

  Status SetColumns(ParquetWriteOptions* options) {
    ARROW_ASSIGN_OR_RAISE(const auto schema, parquet::WrittenSchema::Make(*input_.schema));
    for (const parquet::WrittenLeaf& leaf : schema.leaves) {
      if (Chance(3)) continue;
      const parquet::PhysicalType type = *leaf.column.element.type;
      ParquetColumnOptions own;
      // libparquet reads dictionaries that a stored schema asks for from PLAIN pages only.
      if (!leaf.is_dictionary || !options->store_arrow_schema) own.encoding = EncodingOf(type);
      if (Chance(2)) own.dictionary = Chance(2);
      if (type != parquet::PhysicalType::kBoolean && Chance(5)) own.bloom_filter = BloomFilter();
      options->columns[leaf.column.dotted_path()] = own;
    }
    return Status::OK();
  }

  std::string Readers(bool stored) const {
    if (input_.plain_types) return "pyarrow duckdb polars arrow-rs";
    if (!stored) return "pyarrow arrow-rs";
    const auto any = [&](auto&& is) {
      const auto& fields = input_.schema->fields();
      return std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return is(*field->type()); });
    };
    // libparquet expects elements below null structs, and makes nested dictionaries wrongly at times.
    const bool for_pyarrow = !any(HasRequiredFixedSizeListInStruct) && !any(HasNestedDictionary);
    return for_pyarrow ? "pyarrow arrow-rs" : "arrow-rs";
  }

  void Tell(const ParquetWriteOptions& options, WrittenCase* written) const {
    written->options = fmt::format(
        "codec={} row_group_rows={} row_group_bytes={} page_bytes={} page_rows={} dictionary={} dictionary_bytes={} "
        "v2={} index={} crc={} size_statistics={} bloom={} cdc={} schema={} batches={}",
        static_cast<int>(options.compression), options.row_group_rows, options.row_group_bytes, options.page_bytes,
        options.page_rows, options.dictionary, options.dictionary_bytes, options.data_page_v2, options.page_index,
        options.page_checksums, options.size_statistics, options.bloom_filter.has_value(),
        options.content_chunking.has_value(), options.store_arrow_schema, input_.batches.size());
    for (const auto& [path, own] : options.columns) {
      written->options += fmt::format(" {}:{}{}{}", path, own.encoding ? static_cast<int>(*own.encoding) : -1,
                                      own.dictionary ? (*own.dictionary ? "+dictionary" : "-dictionary") : "",
                                      own.bloom_filter ? "+bloom" : "");
    }
  }

  const RandomInput& input_;
  std::mt19937_64 random_;
};

Status Write(const RandomInput& input, const ParquetWriteOptions& options, const Context& context,
             const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::FileOutputStream::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto writer, ParquetWriter::Make(file.get(), input.schema, options, context));
  for (const auto& batch : input.batches) ARROW_RETURN_NOT_OK(writer->Write(*batch));
  ARROW_RETURN_NOT_OK(writer->Close().status());
  return file->Close();
}

Status Verify(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const ParquetVerification found, VerifyParquet(path));
  if (!found.violations.empty()) return Status::Invalid("verify: ", ToString(found.violations[0]));
  if (!found.not_checked.empty()) return Status::Invalid("verify: not checked: ", found.not_checked[0]);
  return Status::OK();
}

Status ReadBack(const std::string& path, const arrow::Table& expected) {
  ARROW_ASSIGN_OR_RAISE(auto reader, ParquetReader::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto batches, reader->ReadAll());
  ARROW_ASSIGN_OR_RAISE(const TablePtr got, batches->ToTable());
  return SameTables(*got, expected, {.nullability = true}, "read by calve");
}

}  // namespace

Status WriteCase(uint64_t seed, int64_t index, const std::string& file, const std::string& table,
                 WrittenCase* written) {
  ARROW_ASSIGN_OR_RAISE(const RandomInput input, MakeRandomInput(seed, index));
  std::mt19937_64 random((seed ^ 0xC2B2AE3D27D4EB4F) + static_cast<uint64_t>(index));
  ARROW_ASSIGN_OR_RAISE(const auto options, RandomOptions(input, random()).Make(written));
  Context context;
  context.threads = 1 + static_cast<int>(random() % 3);
  written->options += fmt::format(" threads={}", context.threads);
  ARROW_RETURN_NOT_OK(Write(input, options, context, file));
  ARROW_ASSIGN_OR_RAISE(const TablePtr rows, input.Table());
  ARROW_ASSIGN_OR_RAISE(const TablePtr plain, PlainForm(*rows, {.nullability = true}));
  ARROW_RETURN_NOT_OK(WriteIpc(*plain, table));
  ARROW_RETURN_NOT_OK(Verify(file));
  return ReadBack(file, *plain);
}

}  // namespace calve::differential
