// Long values, which are written from where they lie in a batch, and pages that end by what is encoded.

#include "calve/parquet_writer.h"

#include "calve/parquet/delta_byte_array_encoder.h"

#include "written_parquet.h"

#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <parquet/column_page.h>
#include <parquet/page_index.h>

#include <random>

namespace calve {
namespace {

using testing::OneColumn;
using testing::WrittenParquet;

constexpr size_t kLong = 100'000;

/// Values that begin alike for `shared` bytes, and are random behind them.
std::vector<std::string> Values(size_t count, size_t size, size_t shared, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> values(count, std::string(size, 'p'));
  for (std::string& value : values) {
    for (size_t i = shared; i < size; ++i) value[i] = static_cast<char>('a' + random() % 26);
  }
  return values;
}

/// A batch over memory that is not its own, as that of a caller that writes the next batch into it.
struct LentBatch {
  explicit LentBatch(const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      text += value;
      offsets.push_back(static_cast<int32_t>(text.size()));
    }
    const auto data =
        arrow::ArrayData::Make(arrow::utf8(), static_cast<int64_t>(values.size()),
                               {nullptr, arrow::Buffer::Wrap(offsets), std::make_shared<arrow::Buffer>(text)}, 0);
    batch = OneColumn(arrow::MakeArray(data));
  }
  /// What the caller may do once the batch is written.
  void Overwrite() { std::fill(text.begin(), text.end(), '!'); }

  std::string text;
  std::vector<int32_t> offsets{0};
  std::shared_ptr<arrow::RecordBatch> batch;
};

ParquetWriteOptions Options(ParquetEncoding encoding, ParquetCompression compression, bool v2) {
  ParquetWriteOptions options;
  options.dictionary = false;
  options.encoding = encoding;
  options.compression = compression;
  options.data_page_v2 = v2;
  options.page_bytes = 250'000;
  return options;
}

/// Writes batches of which each is overwritten once it is written, and expects libparquet to read what they were.
WrittenParquet ExpectCopied(const std::vector<std::vector<std::string>>& batches, const ParquetWriteOptions& options) {
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto schema = arrow::schema({arrow::field("c", arrow::utf8())});
  auto writer = ParquetWriter::Make(sink.get(), schema, options).ValueOrDie();
  std::vector<std::string> expected;
  for (const auto& values : batches) {
    LentBatch lent(values);
    EXPECT_TRUE(writer->Write(*lent.batch).ok());
    lent.Overwrite();
    expected.insert(expected.end(), values.begin(), values.end());
  }
  WrittenParquet file;
  file.summary = writer->Close().ValueOrDie();
  file.bytes = sink->Finish().ValueOrDie();
  const auto column = file.Read().ValueOrDie()->column(0);
  EXPECT_EQ(static_cast<size_t>(column->length()), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto got = column->GetScalar(static_cast<int64_t>(i)).ValueOrDie();
    EXPECT_EQ(static_cast<const arrow::StringScalar&>(*got).view(), expected[i]) << i;
  }
  EXPECT_EQ(file.summary.columns[0].min, *std::min_element(expected.begin(), expected.end()));
  EXPECT_EQ(file.summary.columns[0].max, *std::max_element(expected.begin(), expected.end()));
  return file;
}

TEST(WriterLongValues, NothingOfABatchIsNeededOnceItIsWritten) {
  const std::vector<std::vector<std::string>> batches = {Values(5, kLong, 90'000, 1), Values(300, 10, 3, 2),
                                                         Values(4, kLong, 0, 3), Values(2, 3 * kLong, 1, 4)};
  for (const auto encoding : {ParquetEncoding::kPlain, ParquetEncoding::kDeltaByteArray,
                              ParquetEncoding::kDeltaLengthByteArray, ParquetEncoding::kAutomatic}) {
    for (const auto compression : {ParquetCompression::kUncompressed, ParquetCompression::kZstd}) {
      for (const bool v2 : {false, true}) {
        auto options = Options(encoding, compression, v2);
        for (const int64_t group_rows : {3, 1000}) {
          options.row_group_rows = group_rows;
          ExpectCopied(batches, options);
        }
      }
    }
  }
}

/// `values` by index, as a dictionary's array and as runs of one row each.
arrow::ArrayVector Wrapped(const std::shared_ptr<arrow::Array>& values, const std::vector<int32_t>& indices) {
  arrow::Int32Builder coded, ends;
  for (size_t i = 0; i < indices.size(); ++i) {
    EXPECT_TRUE(coded.Append(indices[i]).ok() && ends.Append(static_cast<int32_t>(i) + 1).ok());
  }
  const auto type = arrow::dictionary(arrow::int32(), values->type());
  const auto dictionary = arrow::DictionaryArray::FromArrays(type, *coded.Finish(), values).ValueOrDie();
  const auto length = static_cast<int64_t>(indices.size());
  return {dictionary, arrow::RunEndEncodedArray::Make(length, *ends.Finish(), dictionary).ValueOrDie()};
}

TEST(WriterLongValues, OfDictionariesAndRunsOfNestedValues) {
  const std::vector<int32_t> indices = {3, 0, 0, 2, 1, 3, 2};
  for (const auto encoding : {ParquetEncoding::kPlain, ParquetEncoding::kDeltaByteArray, ParquetEncoding::kAutomatic}) {
    for (size_t form = 0; form < 2; ++form) {
      auto options = Options(encoding, ParquetCompression::kUncompressed, false);
      options.page_bytes = 1 << 20;
      std::vector<std::string> expected;
      testing::Batches batches;
      for (uint64_t seed = 0; seed < 3; ++seed) {
        const auto values = Values(4, kLong, 100, seed);
        arrow::StringBuilder texts;
        ASSERT_TRUE(texts.AppendValues(values).ok());
        const std::shared_ptr<arrow::Array> text = *texts.Finish();
        const auto structs = arrow::StructArray::Make({text, text}, std::vector<std::string>{"s", "t"}).ValueOrDie();
        batches.push_back(OneColumn(Wrapped(structs, indices)[form]));
        for (const int32_t index : indices) expected.push_back(values[static_cast<size_t>(index)]);
      }
      const auto schema = arrow::schema({arrow::field("c", batches[0]->column(0)->type())});
      const auto file = WrittenParquet::Make(schema, batches, options).ValueOrDie();
      const auto structs = file.Read().ValueOrDie()->column(0);
      for (size_t i = 0; i < expected.size(); ++i) {
        const auto row = structs->GetScalar(static_cast<int64_t>(i)).ValueOrDie();
        for (const auto& member : static_cast<const arrow::StructScalar&>(*row).value) {
          ASSERT_EQ(static_cast<const arrow::StringScalar&>(*member).view(), expected[i]) << i << " " << form;
        }
      }
      for (const auto& column : file.summary.columns) {
        EXPECT_EQ(column.min, *std::min_element(expected.begin(), expected.end()));
      }
    }
  }
}

TEST(WriterLongValues, FirstPageDecidesOnDeltas) {
  auto options = Options(ParquetEncoding::kAutomatic, ParquetCompression::kUncompressed, false);
  options.page_bytes = 20'000;
  const auto file = ExpectCopied({Values(3000, 100, 90, 1), Values(3000, 100, 90, 2)}, options);
  const auto chunk = file.metadata()->RowGroup(0)->ColumnChunk(0);
  const auto encodings = chunk->encodings();
  EXPECT_NE(std::find(encodings.begin(), encodings.end(), ::parquet::Encoding::DELTA_BYTE_ARRAY), encodings.end());
}

TEST(WriterLongValues, WithABloomFilter) {
  auto options = Options(ParquetEncoding::kDeltaByteArray, ParquetCompression::kUncompressed, true);
  options.bloom_filter = ParquetBloomFilterOptions{};
  ExpectCopied({Values(5, kLong, 90'000, 1), Values(3, kLong, 5, 2)}, options);
}

int64_t DataPages(const WrittenParquet& file) {
  const auto index = file.Open()->GetPageIndexReader()->RowGroup(0)->GetOffsetIndex(0);
  return static_cast<int64_t>(index->page_locations().size());
}

TEST(WriterLongValues, PagesOfSharedPrefixesEndByWhatIsEncoded) {
  const auto options = Options(ParquetEncoding::kDeltaByteArray, ParquetCompression::kUncompressed, false);
  // Far more than a page in PLAIN, and little more than one value as it is encoded; across batches, too.
  const auto shared = Values(40, kLong, kLong - 10, 1);
  auto file = ExpectCopied({{shared.begin(), shared.begin() + 25}, {shared.begin() + 25, shared.end()}}, options);
  EXPECT_EQ(DataPages(file), 1);
  EXPECT_LT(file.bytes->size(), static_cast<int64_t>(kLong + 10'000));
  // A page that is full goes on where the next would begin with much that this one has.
  const auto half = Values(12, 4 * kLong, 2 * kLong, 2);
  file = ExpectCopied({half}, options);
  EXPECT_EQ(DataPages(file), 1);
  // Nothing is shared: two values in a page of 250,000 bytes at most.
  EXPECT_GE(DataPages(ExpectCopied({Values(12, kLong, 0, 3)}, options)), 6);
  // Short values of which little is shared: no page is larger than it may be.
  file = ExpectCopied({Values(20'000, 60, 20, 4)}, options);
  const auto index = file.Open()->GetPageIndexReader()->RowGroup(0)->GetOffsetIndex(0);
  for (const auto& page : index->page_locations()) EXPECT_LT(page.compressed_page_size, 256'000);
  EXPECT_LE(index->page_locations().size(), 6u);
}

TEST(DeltaByteArrayPage, TheSameHoweverValuesCome) {
  std::mt19937_64 random(7);
  for (const size_t longest : {0, 5, 300, 70'000}) {
    std::vector<std::string> values = Values(60, longest, 0, 8);
    for (std::string& value : values) value.resize(value.size() - (value.empty() ? 0 : random() % value.size()));
    for (size_t i = 1; i < values.size(); ++i) {
      const size_t shared = std::min(values[i].size(), values[i - 1].size()) / (1 + random() % 3);
      values[i].replace(0, shared, values[i - 1], 0, shared);
    }
    std::string plain;
    for (const std::string& value : values) {
      const auto length = static_cast<uint32_t>(value.size());
      plain.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(value);
    }
    auto* const pool = arrow::default_memory_pool();
    parquet::ByteBuffer expected(pool);
    ASSERT_TRUE(parquet::EncodeDeltaByteArray({reinterpret_cast<const uint8_t*>(plain.data()), plain.size()}, 0,
                                              static_cast<int64_t>(values.size()), &expected)
                    .ok());
    for (const bool stay : {false, true}) {
      parquet::DeltaByteArrayPage page(pool);
      for (size_t at = 0; at < values.size();) {
        const size_t count = std::min<size_t>(1 + random() % 9, values.size() - at);
        std::vector<std::string> step(values.begin() + static_cast<int64_t>(at),
                                      values.begin() + static_cast<int64_t>(at + count));
        const std::vector<std::string_view> views(step.begin(), step.end());
        const int64_t before = page.bytes();
        const int64_t with = page.BytesWith(views, int64_t{1} << 40).ValueOrDie();
        ASSERT_TRUE(page.Append(views, stay).ok());
        if (before == 0) EXPECT_EQ(with, page.bytes());
        ASSERT_TRUE(page.Own().ok());
        for (std::string& value : step) std::fill(value.begin(), value.end(), '!');
        at += count;
      }
      std::vector<parquet::PagePiece> pieces;
      ASSERT_TRUE(page.Finish(&pieces).ok());
      std::string got;
      for (const auto& piece : pieces)
        got.append(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
      const auto want = expected.span();
      EXPECT_EQ(got, std::string(reinterpret_cast<const char*>(want.data()), want.size())) << longest << stay;
    }
  }
}

}  // namespace
}  // namespace calve
