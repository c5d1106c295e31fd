#include "calve/parquet/metadata_reader.h"
#include "calve/parquet/thrift_reader.h"

// PageHeader and what it holds; the numbers are the members' ids in parquet.thrift.

namespace calve::parquet {
namespace {

using Field = ThriftReader::Field;

void ReadDataPage(ThriftReader& in, DataPageHeader* out) {
  static constexpr char kName[] = "DataPageHeader";
  auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "num_values", &out->num_values);
      case 2:
        return in.Read(field, "encoding", &out->encoding);
      case 3:
        return in.Read(field, "definition_level_encoding", &out->definition_level_encoding);
      case 4:
        return in.Read(field, "repetition_level_encoding", &out->repetition_level_encoding);
      case 5:
        return in.ReadStruct(field, "statistics", [&] { ReadStatistics(in, &out->statistics.emplace()); });
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "num_values");
  in.Require(seen, 2, kName, "encoding");
}

void ReadDataPageV2(ThriftReader& in, DataPageHeaderV2* out) {
  static constexpr char kName[] = "DataPageHeaderV2";
  auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "num_values", &out->num_values);
      case 2:
        return in.Read(field, "num_nulls", &out->num_nulls);
      case 3:
        return in.Read(field, "num_rows", &out->num_rows);
      case 4:
        return in.Read(field, "encoding", &out->encoding);
      case 5:
        return in.Read(field, "definition_levels_byte_length", &out->definition_levels_byte_length);
      case 6:
        return in.Read(field, "repetition_levels_byte_length", &out->repetition_levels_byte_length);
      case 7:
        return in.Read(field, "is_compressed", &out->is_compressed);
      case 8:
        return in.ReadStruct(field, "statistics", [&] { ReadStatistics(in, &out->statistics.emplace()); });
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "num_values");
  in.Require(seen, 4, kName, "encoding");
  in.Require(seen, 5, kName, "definition_levels_byte_length");
  in.Require(seen, 6, kName, "repetition_levels_byte_length");
}

void ReadDictionaryPage(ThriftReader& in, DictionaryPageHeader* out) {
  static constexpr char kName[] = "DictionaryPageHeader";
  auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "num_values", &out->num_values);
      case 2:
        return in.Read(field, "encoding", &out->encoding);
      case 3:
        return in.Read(field, "is_sorted", &out->is_sorted);
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "num_values");
  in.Require(seen, 2, kName, "encoding");
}

PageHeader ReadPageHeader(ThriftReader& in) {
  static constexpr char kName[] = "PageHeader";
  PageHeader out;
  auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "type", &out.type);
      case 2:
        return in.Read(field, "uncompressed_page_size", &out.uncompressed_page_size);
      case 3:
        return in.Read(field, "compressed_page_size", &out.compressed_page_size);
      case 4:
        return in.Read(field, "crc", &out.crc);
      case 5:
        return in.ReadStruct(field, "data_page_header", [&] { ReadDataPage(in, &out.data_page.emplace()); });
      case 7:
        return in.ReadStruct(field, "dictionary_page_header",
                             [&] { ReadDictionaryPage(in, &out.dictionary_page.emplace()); });
      case 8:
        return in.ReadStruct(field, "data_page_header_v2", [&] { ReadDataPageV2(in, &out.data_page_v2.emplace()); });
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "type");
  in.Require(seen, 2, kName, "uncompressed_page_size");
  in.Require(seen, 3, kName, "compressed_page_size");
  if (out.type == PageType::kDataPage) in.Require(seen, 5, kName, "data_page_header");
  if (out.type == PageType::kDictionaryPage) in.Require(seen, 7, kName, "dictionary_page_header");
  if (out.type == PageType::kDataPageV2) in.Require(seen, 8, kName, "data_page_header_v2");
  return out;
}

}  // namespace

void ReadStatistics(ThriftReader& in, Statistics* out) {
  in.Struct("Statistics", [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "max", &out->max);
      case 2:
        return in.Read(field, "min", &out->min);
      case 3:
        return in.Read(field, "null_count", &out->null_count);
      case 4:
        return in.Read(field, "distinct_count", &out->distinct_count);
      case 5:
        return in.Read(field, "max_value", &out->max_value);
      case 6:
        return in.Read(field, "min_value", &out->min_value);
      case 7:
        return in.Read(field, "is_max_value_exact", &out->is_max_value_exact);
      case 8:
        return in.Read(field, "is_min_value_exact", &out->is_min_value_exact);
      case 9:
        return in.Read(field, "nan_count", &out->nan_count);
      default:
        return false;
    }
  });
}

Result<PageHeader> ParsePageHeader(std::span<const uint8_t> bytes, size_t* header_size, bool* cut_short) {
  ThriftReader in(bytes);
  PageHeader header = ReadPageHeader(in);
  *header_size = in.offset();
  *cut_short = in.cut_short();
  ARROW_RETURN_NOT_OK(in.status());
  return header;
}

Result<PageHeader> ParsePageHeader(std::span<const uint8_t> bytes, size_t* header_size) {
  bool cut_short = false;
  return ParsePageHeader(bytes, header_size, &cut_short);
}

}  // namespace calve::parquet
