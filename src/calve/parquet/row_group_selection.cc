#include "calve/parquet/row_group_selection.h"

#include "calve/parquet/bloom_filter.h"
#include "calve/parquet/chunk_bounds.h"
#include "calve/parquet/dictionary.h"
#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet/leaf_type.h"
#include "calve/parquet/page_source.h"
#include "calve/parquet/value_conversion.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/expr/array_tests.h"
#include "calve/expr/bounds.h"

#include <arrow/array/util.h>
#include <arrow/util/bitmap_ops.h>

#include <map>

namespace calve::parquet {
namespace {

using expr::Op;

const LeafColumn& LeafOf(const OpenFile& file, int leaf) {
  return file.footer->schema().leaves[static_cast<size_t>(leaf)];
}

bool StatisticsMight(const Predicate& predicate, const expr::NodePtr& test, const OpenFile& file, int row_group) {
  return expr::MightMatch(test, [&](const expr::ColumnRef&) -> std::optional<expr::ColumnBounds> {
    const PredicateColumn& column = predicate.ColumnOf(*test);
    if (column.leaf < 0) return std::nullopt;
    // Reading the chunk says what is wrong with a footer that does not tell.
    const auto chunk = file.footer->Chunk(row_group, column.leaf);
    if (!chunk.ok() || !chunk->metadata) return std::nullopt;
    return BoundsOfChunk(*chunk->metadata, *column.type, file.footer->index().type_defined_order(column.leaf),
                         *column.type);
  });
}

/// The hashes of all values that a test looks for; nothing when it looks for others too.
std::optional<std::vector<uint64_t>> HashesOf(const expr::Node& test, const LeafColumn& leaf) {
  if ((test.op != Op::kEqual && test.op != Op::kIn) || test.values.empty()) return std::nullopt;
  std::vector<uint64_t> all;
  for (const Value& value : test.values) {
    const auto hashes = BloomHashesOf(value, leaf.element, *test.column.type);
    if (!hashes) return std::nullopt;
    all.insert(all.end(), hashes->begin(), hashes->end());
  }
  return all;
}

/// The bloom filters of a row group, opened when they are first asked for.
class BloomFilters {
 public:
  BloomFilters(const OpenFile& file, int row_group) : file_(file), row_group_(row_group) {}

  Result<bool> Might(const expr::Node& test, int leaf) {
    ARROW_ASSIGN_OR_RAISE(const ColumnChunk chunk, file_.footer->Chunk(row_group_, leaf));
    if (!chunk.metadata || !chunk.metadata->bloom_filter_offset) return true;
    ChunkDecryptor* decryptor = chunk.crypto == nullptr ? nullptr : chunk.crypto->decryptor.get();
    if (chunk.crypto != nullptr && decryptor == nullptr) return true;
    const auto hashes = HashesOf(test, LeafOf(file_, leaf));
    if (!hashes) return true;
    auto known = filters_.find(leaf);
    if (known == filters_.end()) {
      ARROW_ASSIGN_OR_RAISE(auto filter,
                            BloomFilter::Open(file_.file.get(), *chunk.metadata, file_.footer->begin(), decryptor));
      known = filters_.emplace(leaf, std::move(filter)).first;
    }
    return known->second ? known->second->MightHoldAny(*hashes) : true;
  }

 private:
  const OpenFile& file_;
  const int row_group_;
  std::map<int, std::optional<BloomFilter>> filters_;
};

/// A test that no null passes, so that the values alone decide.
bool IsOfValues(Op op) { return op != Op::kIsNull && op != Op::kNotNull && op != Op::kNotNaN; }

/// Whether `encoding_stats` says that every data page refers to the dictionary.
bool AllPagesReferToDictionary(const ColumnMetadata& column) {
  bool any = false;
  for (const PageEncodingStats& pages : column.encoding_stats) {
    if (pages.page_type != PageType::kDataPage && pages.page_type != PageType::kDataPageV2) continue;
    if (pages.count == 0) continue;
    if (pages.encoding != Encoding::kPlainDictionary && pages.encoding != Encoding::kRleDictionary) return false;
    any = true;
  }
  return any;
}

Result<std::shared_ptr<arrow::Array>> DecodeDictionary(const Page& page, LeafColumn leaf, arrow::MemoryPool* pool) {
  std::string unsupported;
  ARROW_ASSIGN_OR_RAISE(leaf.decoded_type, LeafType(leaf.element, {}, &unsupported));
  const LeafLayout layout = LayoutOf(leaf);
  ARROW_ASSIGN_OR_RAISE(const auto dictionary,
                        MakeDictionary(layout, page.header.dictionary_page->num_values, page.body, pool));
  LeafBatch values;
  values.rows = values.slots = dictionary->count;
  values.offsets = dictionary->offsets;
  values.values = layout.binary ? dictionary->bytes : dictionary->fixed;
  ARROW_ASSIGN_OR_RAISE(auto data, ConvertLeaf(leaf.decoded_type, std::move(values), pool));
  return arrow::MakeArray(data);
}

Result<bool> DictionaryMight(const expr::Node& test, const arrow::Array& dictionary, arrow::MemoryPool* pool) {
  if (dictionary.length() == 0) return false;
  ARROW_ASSIGN_OR_RAISE(const auto answers, expr::TestArray(test.op, test.values, dictionary, pool));
  return arrow::internal::CountSetBits(answers.bits->data(), 0, dictionary.length()) > 0;
}

std::string Where(const OpenFile& file, int row_group, int leaf) {
  return fmt::format("column '{}': row group {}", LeafOf(file, leaf).dotted_path(), row_group);
}

}  // namespace

bool MightMatchByStatistics(const Predicate& predicate, const OpenFile& file, int row_group) {
  return MightMatchTests(predicate.node(),
                         [&](const expr::NodePtr& test) -> Result<bool> {
                           return StatisticsMight(predicate, test, file, row_group);
                         })
      .ValueOr(true);
}

Result<bool> MightMatchByBloomFilters(const Predicate& predicate, const OpenFile& file, int row_group) {
  BloomFilters filters(file, row_group);
  const bool by_statistics = file.options.selection.statistics;
  return MightMatchTests(predicate.node(), [&](const expr::NodePtr& test) -> Result<bool> {
    if (by_statistics && !StatisticsMight(predicate, test, file, row_group)) return false;
    const int leaf = predicate.ColumnOf(*test).leaf;
    if (leaf < 0) return true;
    return WithContext(filters.Might(*test, leaf), Where(file, row_group, leaf));
  });
}

Result<bool> MightMatchByDictionaries(const Predicate& predicate, const OpenFile& file, int row_group) {
  std::map<int, std::shared_ptr<arrow::Array>> dictionaries;
  const bool by_statistics = file.options.selection.statistics;
  return MightMatchTests(predicate.node(), [&](const expr::NodePtr& test) -> Result<bool> {
    if (by_statistics && !StatisticsMight(predicate, test, file, row_group)) return false;
    const int leaf = predicate.ColumnOf(*test).leaf;
    if (leaf < 0 || !IsOfValues(test->op)) return true;
    if (!dictionaries.contains(leaf)) {
      ARROW_ASSIGN_OR_RAISE(dictionaries[leaf],
                            WithContext(WholeDictionary(file, row_group, leaf), Where(file, row_group, leaf)));
    }
    const auto& dictionary = dictionaries[leaf];
    return dictionary == nullptr ? true : DictionaryMight(*test, *dictionary, PoolOf(file.context));
  });
}

Result<std::shared_ptr<arrow::Array>> WholeDictionary(const OpenFile& file, int row_group, int leaf) {
  std::shared_ptr<arrow::Array> none;
  ARROW_ASSIGN_OR_RAISE(const ColumnChunk chunk, file.footer->Chunk(row_group, leaf));
  if (!chunk.metadata || chunk.metadata->type == PhysicalType::kBoolean) return none;
  if (!AllPagesReferToDictionary(*chunk.metadata)) return none;
  ARROW_ASSIGN_OR_RAISE(const ChunkPlan plan, PlanChunk(*file.footer, LeafOf(file, leaf), leaf, row_group));
  PageOptions options;
  options.verify_crc = file.options.verify_crc;
  options.pool = PoolOf(file.context);
  constexpr int64_t kWindowBytes = 64 << 10;
  PageSource pages(ChunkBytes(file.file.get(), plan.offset, plan.size_bytes, kWindowBytes, options.pool), plan);
  RawPage raw;
  ARROW_ASSIGN_OR_RAISE(const bool any, pages.ReadHeader(&raw));
  const auto& header = raw.header.dictionary_page;
  if (!any || raw.header.type != PageType::kDictionaryPage || raw.header.uncompressed_page_size > kLargestDictionary) {
    return none;
  }
  // Reading the chunk says what is wrong with such a dictionary.
  if (header->encoding != Encoding::kPlain && header->encoding != Encoding::kPlainDictionary) return none;
  const PagePlace place = raw.place();
  ARROW_RETURN_NOT_OK(pages.ReadBody(&raw));
  const auto page = OpenPage(std::move(raw), plan, options);
  if (!page.ok()) return WithContext(page.status(), place);
  auto values = DecodeDictionary(*page, LeafOf(file, leaf), PoolOf(file.context));
  if (!values.ok()) return WithContext(values.status(), place);
  return values;
}

}  // namespace calve::parquet
