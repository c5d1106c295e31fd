// Violations are planted in files that libparquet wrote, one at a time; each is found under its name, and nothing else
// is.

#include "calve/parquet/size_statistics.h"

#include "edited_parquet.h"
#include "verified_parquet.h"

#include <limits>

namespace calve {
namespace {

using namespace testing::verified;  // NOLINT
using parquet::BoundaryOrder;
using parquet::ColumnIndex;
using parquet::Encoding;
using parquet::OffsetIndex;
using parquet::PageHeader;
using testing::EditedParquet;

struct Plant {
  std::string name;
  Rules rules;
  std::function<void(EditedParquet*)> edit;
  bool v2 = false;
};

std::ostream& operator<<(std::ostream& out, const Plant& plant) { return out << plant.name; }

/// Edits the `page`-th page of a chunk.
auto EditPage(size_t leaf, int64_t page, std::function<void(PageHeader*, std::string*)> edit) {
  return [=](EditedParquet* file) {
    file->EditPages(leaf, [&](int64_t i, PageHeader* header, std::string* body, bool*) {
      if (i == page) edit(header, body);
    });
  };
}

auto InColumns(size_t leaf, std::function<void(ColumnIndex*)> edit) {
  return [=](EditedParquet* file) { file->EditColumns(leaf, edit); };
}

auto InOffsets(size_t leaf, std::function<void(OffsetIndex*)> edit) {
  return [=](EditedParquet* file) { file->EditOffsets(leaf, edit); };
}

std::vector<Plant> FilePlants() {
  return {
      {"magic", {"file.magic"}, [](auto* f) { f->body[0] = 'X'; }},
      {"file_rows", {"file.num_rows"}, [](auto* f) { ++f->metadata.num_rows; }},
      {"column_orders", {"file.column_orders"}, [](auto* f) { f->metadata.type_defined_order.push_back(true); }},
      {"range",
       {"file.range", "bloom_filter.offset"},
       [](auto* f) { f->column(kWord).bloom_filter_offset = static_cast<int64_t>(f->body.size()) + 7; }},
      {"overlap", {"file.overlap"}, [](auto* f) { ++*f->chunk(kReal).offset_index_length; }},
      {"group_bytes", {"row_group.total_byte_size"}, [](auto* f) { ++f->group().total_byte_size; }},
      {"group_compressed", {"row_group.total_compressed_size"}, [](auto* f) { f->group().total_compressed_size = 5; }},
      {"group_offset", {"row_group.file_offset"}, [](auto* f) { f->group().file_offset = 5; }},
      {"group_ordinal", {"row_group.ordinal"}, [](auto* f) { f->group().ordinal = 1; }},
      {"group_rows",
       {"row_group.num_rows"},
       [](auto* f) {
         ++f->group().num_rows;
         ++f->metadata.num_rows;
       }},
      {"sorting_column", {"row_group.sorting_columns"}, [](auto* f) { f->group().sorting_columns[0].column_idx = 9; }},
      {"sorted", {"row_group.sorting_columns"}, [](auto* f) { f->group().sorting_columns[0].descending = true; }},
      {"sorted_by_another",
       {"row_group.sorting_columns"},
       [](auto* f) { f->group().sorting_columns[0].column_idx = kText; }},
  };
}

std::vector<Plant> ChunkPlants() {
  return {
      {"type", {"chunk.type"}, [](auto* f) { f->column(kId).type = parquet::PhysicalType::kDouble; }},
      {"path", {"chunk.path_in_schema"}, [](auto* f) { f->column(kId).path_in_schema = {"di"}; }},
      {"values", {"chunk.num_values"}, [](auto* f) { ++f->column(kReal).num_values; }},
      {"fewer_values", {"chunk.num_values"}, [](auto* f) { --f->column(kReal).num_values; }},
      {"compressed",
       {"chunk.total_compressed_size"},
       [](auto* f) {
         --f->column(kReal).total_compressed_size;
         --*f->group().total_compressed_size;
       }},
      {"uncompressed",
       {"chunk.total_uncompressed_size"},
       [](auto* f) {
         f->column(kReal).total_uncompressed_size += 3;
         f->group().total_byte_size += 3;
       }},
      {"dictionary_offset",
       {"chunk.dictionary_page_offset"},
       [](auto* f) { f->column(kReal).dictionary_page_offset = f->column(kReal).data_page_offset + 1; }},
      {"data_offset", {"chunk.data_page_offset"}, [](auto* f) { ++f->column(kWord).data_page_offset; }},
      {"encodings", {"chunk.encodings"}, [](auto* f) { f->column(kReal).encodings = {Encoding::kRle}; }},
      {"encoding_stats", {"chunk.encoding_stats"}, [](auto* f) { ++f->column(kReal).encoding_stats[0].count; }},
      {"bloom_values",
       {"bloom_filter.values"},
       [](auto* f) {
         const auto& column = f->column(kWord);
         const size_t end = static_cast<size_t>(*column.bloom_filter_offset + *column.bloom_filter_length);
         std::fill(f->body.begin() + static_cast<int64_t>(end) - 32, f->body.begin() + static_cast<int64_t>(end), '\0');
         std::fill(f->body.begin() + *column.bloom_filter_offset + 24, f->body.begin() + static_cast<int64_t>(end),
                   '\0');
       }},
      {"bloom_length", {"bloom_filter.length"}, [](auto* f) { --*f->column(kWord).bloom_filter_length; }},
      {"bloom_header",
       {"bloom_filter.header"},
       [](auto* f) { f->body[static_cast<size_t>(*f->column(kWord).bloom_filter_offset)] = '\xff'; }},
      {"size_bytes",
       {"size_statistics.unencoded_byte_array_data_bytes"},
       [](auto* f) {
         parquet::SizeStatistics sizes;
         sizes.unencoded_byte_array_data_bytes = 1;
         f->column(kWord).size_statistics = std::make_shared<const parquet::SizeStatistics>(sizes);
       }},
      {"size_histogram",
       {"size_statistics.definition_level_histogram"},
       [](auto* f) {
         parquet::SizeStatistics sizes;
         sizes.definition_level_histogram = {1, 499};
         f->column(kReal).size_statistics = std::make_shared<const parquet::SizeStatistics>(sizes);
       }},
      {"size_repetition",
       {"size_statistics.repetition_level_histogram"},
       [](auto* f) {
         parquet::SizeStatistics sizes;
         sizes.repetition_level_histogram = {500, 1};
         f->column(kList).size_statistics = std::make_shared<const parquet::SizeStatistics>(sizes);
       }},
  };
}

std::vector<Plant> StatisticsPlants() {
  return {
      {"min", {"statistics.min_value"}, [](auto* f) { f->statistics(kId).min_value = Plain(int64_t{1}); }},
      {"max", {"statistics.max_value"}, [](auto* f) { f->statistics(kId).max_value = Plain(int64_t{498}); }},
      {"negative_max", {"statistics.max_value"}, [](auto* f) { f->statistics(kId).max_value = Plain(int64_t{-1}); }},
      {"deprecated_max", {"statistics.max"}, [](auto* f) { f->statistics(kId).max = Plain(int64_t{498}); }},
      {"exact",
       {"statistics.is_max_value_exact"},
       [](auto* f) {
         f->statistics(kId).max_value = Plain(int64_t{500});
         f->statistics(kId).is_max_value_exact = true;
       }},
      {"width", {"statistics.min_value"}, [](auto* f) { f->statistics(kId).min_value = Plain(int32_t{0}); }},
      {"nan", {"statistics.max_value"}, [](auto* f) { f->statistics(kReal).max_value = Plain(std::nan("")); }},
      {"utf8",
       {"statistics.max_value"},
       [](auto* f) {
         f->statistics(kText).max_value = "\xff";
         f->statistics(kText).is_max_value_exact.reset();
       }},
      {"null_count", {"statistics.null_count"}, [](auto* f) { ++*f->statistics(kReal).null_count; }},
      {"nan_count", {"statistics.nan_count"}, [](auto* f) { f->statistics(kReal).nan_count = 1; }},
      {"distinct_count", {"statistics.distinct_count"}, [](auto* f) { f->statistics(kReal).distinct_count = 501; }},
  };
}

std::vector<Plant> IndexPlants() {
  return {
      {"null_page",
       {"column_index.null_pages"},
       InColumns(kId,
                 [](auto* i) {
                   i->null_pages[1] = true;
                   i->min_values[1] = i->max_values[1] = "";
                   i->null_counts.reset();
                 })},
      {"null_bounds",
       {"column_index.null_bounds", "column_index.null_pages"},
       InColumns(kId,
                 [](auto* i) {
                   i->null_pages[1] = true;
                   i->null_counts.reset();
                 })},
      {"null_counts", {"column_index.null_counts"}, InColumns(kReal, [](auto* i) { ++(*i->null_counts)[2]; })},
      {"page_min", {"column_index.min_values"}, InColumns(kText, [](auto* i) { i->min_values[0] = "zzz"; })},
      {"page_max", {"column_index.max_values"}, InColumns(kText, [](auto* i) { i->max_values[0] = "a"; })},
      {"no_bound", {"column_index.max_values"}, InColumns(kReal, [](auto* i) { i->max_values[0] = ""; })},
      {"order",
       {"column_index.boundary_order"},
       InColumns(kId, [](auto* i) { i->boundary_order = BoundaryOrder::kDescending; })},
      {"entries", {"column_index.pages"}, InColumns(kId, [](auto* i) { i->null_pages.pop_back(); })},
      {"histograms",
       {"column_index.definition_level_histograms"},
       InColumns(kReal,
                 [](auto* i) { std::swap(i->definition_level_histograms[0], i->definition_level_histograms[1]); })},
      {"nan_counts",
       {"column_index.nan_counts"},
       InColumns(kReal, [](auto* i) { i->nan_counts = std::vector<int64_t>(i->null_pages.size(), 0); })},
      {"column_index_thrift",
       {"column_index.thrift"},
       [](auto* f) { f->body[static_cast<size_t>(*f->chunk(kId).column_index_offset)] = '\xff'; }},
      {"column_index_alone",
       {"column_index.alone"},
       [](auto* f) {
         f->chunk(kId).offset_index_offset.reset();
         f->chunk(kId).offset_index_length.reset();
       }},
      {"offset", {"offset_index.offset"}, InOffsets(kReal, [](auto* i) { ++i->page_locations[1].offset; })},
      {"page_size",
       {"offset_index.compressed_page_size"},
       InOffsets(kReal, [](auto* i) { ++i->page_locations[1].compressed_page_size; })},
      {"first_row",
       {"offset_index.first_row_index"},
       InOffsets(kReal, [](auto* i) { ++i->page_locations[1].first_row_index; })},
      {"rows_increase",
       {"offset_index.first_row_index", "offset_index.rows_increase"},
       InOffsets(kReal, [](auto* i) { i->page_locations[2].first_row_index = i->page_locations[1].first_row_index; })},
      {"locations", {"offset_index.page_locations"}, InOffsets(kReal, [](auto* i) { i->page_locations.pop_back(); })},
      {"page_bytes",
       {"offset_index.unencoded_byte_array_data_bytes"},
       InOffsets(kText, [](auto* i) { ++i->unencoded_byte_array_data_bytes[1]; })},
      {"offset_index_place",
       {"offset_index.place", "file.range"},
       [](auto* f) { f->chunk(kId).offset_index_length = std::numeric_limits<int32_t>::max(); }},
  };
}

std::vector<Plant> PagePlants() {
  return {
      {"crc",
       {"page.crc"},
       [](auto* f) {
         f->EditPages(kId, [](int64_t page, PageHeader* header, std::string*, bool* keep) {
           *keep = true;
           if (page == 1) ++*header->crc;
         });
       }},
      {"header",
       {"page.header"},
       [](auto* f) { std::fill_n(f->body.begin() + f->offsets(kId).page_locations[1].offset, 8, '\xff'); }},
      {"body", {"page.body"}, EditPage(kId, 1, [](auto* header, auto*) { ++header->uncompressed_page_size; })},
      {"levels",
       {"page.levels"},
       EditPage(kReal, 1, [](auto*, auto* body) { body->replace(0, 4, "\xff\xff\xff\x7f"); })},
      {"page_encoding",
       {"page.values", "chunk.encodings", "chunk.encoding_stats"},
       EditPage(kReal, 1, [](auto* header, auto*) { header->data_page->encoding = Encoding::kDeltaBinaryPacked; })},
      {"values_cut", {"page.values"}, EditPage(kId, 1, [](auto*, auto* body) { body->pop_back(); })},
      {"values_size", {"page.values_size"}, EditPage(kId, 1, [](auto*, auto* body) { body->push_back('x'); })},
      {"page_max",
       {"page_statistics.max_value"},
       EditPage(kId, 1,
                [](auto* header, auto*) { header->data_page->statistics.emplace().max_value = Plain(int64_t{0}); })},
      {"text",
       {"value.utf8", "column_index.max_values", "statistics.max_value"},
       EditPage(kText, 1, [](auto*, auto* body) { (*body)[4 + 14 * 50 + 4] = '\xff'; })},
      {"dictionary_sorted",
       {"dictionary_page.is_sorted"},
       EditPage(kWord, 0, [](auto* header, auto*) { header->dictionary_page->is_sorted = true; })},
      {"dictionary_values",
       {"dictionary_page.values"},
       EditPage(kWord, 0, [](auto* header, auto*) { header->dictionary_page->num_values += 1000; })},
      {"page_rows",
       {"page.num_rows"},
       EditPage(kReal, 1, [](auto* header, auto*) { ++header->data_page_v2->num_rows; }),
       /*v2=*/true},
      {"page_nulls",
       {"page.num_nulls"},
       EditPage(kReal, 1, [](auto* header, auto*) { ++header->data_page_v2->num_nulls; }),
       /*v2=*/true},
  };
}

class VerifyPlanted : public ::testing::TestWithParam<Plant> {};

TEST_P(VerifyPlanted, IsFoundAndNothingElse) {
  EditedParquet file(*MakeFile(GetParam().v2));
  GetParam().edit(&file);
  const auto found = Verify(file.Finish());
  EXPECT_EQ(RulesOf(found), GetParam().rules) << Lines(found);
}

std::string NameOf(const ::testing::TestParamInfo<Plant>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(File, VerifyPlanted, ::testing::ValuesIn(FilePlants()), NameOf);
INSTANTIATE_TEST_SUITE_P(Chunk, VerifyPlanted, ::testing::ValuesIn(ChunkPlants()), NameOf);
INSTANTIATE_TEST_SUITE_P(Statistics, VerifyPlanted, ::testing::ValuesIn(StatisticsPlants()), NameOf);
INSTANTIATE_TEST_SUITE_P(Index, VerifyPlanted, ::testing::ValuesIn(IndexPlants()), NameOf);
INSTANTIATE_TEST_SUITE_P(Page, VerifyPlanted, ::testing::ValuesIn(PagePlants()), NameOf);

}  // namespace
}  // namespace calve
