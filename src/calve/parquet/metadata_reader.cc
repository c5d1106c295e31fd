#include "calve/parquet/metadata_reader.h"

#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet/schema_element_reader.h"
#include "calve/parquet/thrift_reader.h"

#include "calve/base/status.h"

#include <algorithm>

// FileMetaData and what it holds; the numbers are the members' ids in parquet.thrift. Members that calve does not use
// are skipped, and so are members that a later version of the format may add.

namespace calve::parquet {
namespace {

using Field = ThriftReader::Field;

class FooterReader : public ThriftReader {
 public:
  explicit FooterReader(std::span<const uint8_t> bytes) : ThriftReader(bytes), budget_(StructureBudget(bytes.size())) {}

  /// Appends an element to a list, or fails and returns null when the footer's bytes do not justify more.
  template <typename T>
  T* Append(std::vector<T>* list) {
    return Spend(sizeof(T)) ? &list->emplace_back() : nullptr;
  }

  /// The object of an optional member, made when it is not there yet.
  template <typename T>
  T* MakeOnce(std::shared_ptr<T>* object) {
    if (*object == nullptr) {
      Spend(sizeof(T));
      *object = std::make_shared<T>();
    }
    return object->get();
  }

 private:
  bool Spend(size_t size) {
    if (budget_ < size) {
      Fail("more structures than the bytes of the footer can hold with their required members");
      return false;
    }
    budget_ -= size;
    return true;
  }

  size_t budget_;
};

template <typename T>
bool ReadElement(FooterReader& in, Field field, std::vector<T>* out, const char* name) {
  T value{};
  if (!in.Read(field, name, &value)) return false;
  if (T* element = in.Append(out)) *element = std::move(value);
  return true;
}

void ReadKeyValue(ThriftReader& in, KeyValue* out) {
  auto seen = in.Struct("KeyValue", [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "key", &out->key);
      case 2:
        return in.Read(field, "value", &out->value);
      default:
        return false;
    }
  });
  in.Require(seen, 1, "KeyValue", "key");
}

bool ReadKeyValues(FooterReader& in, Field field, std::vector<KeyValue>* out) {
  return in.ReadList(field, "key_value_metadata", [&](Field element) {
    return in.ReadStruct(element, "key_value_metadata", [&] {
      if (KeyValue* pair = in.Append(out)) ReadKeyValue(in, pair);
    });
  });
}

void ReadEncodingStats(ThriftReader& in, PageEncodingStats* out) {
  in.Struct("PageEncodingStats", [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "page_type", &out->page_type);
      case 2:
        return in.Read(field, "encoding", &out->encoding);
      case 3:
        return in.Read(field, "count", &out->count);
      default:
        return false;
    }
  });
}

bool ReadColumnMetadataMember(FooterReader& in, Field field, ColumnMetadata* out) {
  switch (field.id) {
    case 1:
      return in.Read(field, "type", &out->type) && CheckEnum(in, out->type, 7);
    case 2:
      return in.ReadList(field, "encodings", [&](Field e) { return ReadElement(in, e, &out->encodings, "encodings"); });
    case 3:
      return in.ReadList(field, "path_in_schema",
                         [&](Field e) { return ReadElement(in, e, &out->path_in_schema, "path_in_schema"); });
    case 4:
      return in.Read(field, "codec", &out->codec);
    case 5:
      return in.Read(field, "num_values", &out->num_values);
    case 6:
      return in.Read(field, "total_uncompressed_size", &out->total_uncompressed_size);
    case 7:
      return in.Read(field, "total_compressed_size", &out->total_compressed_size);
    case 8:
      return ReadKeyValues(in, field, &out->key_value_metadata);
    case 9:
      return in.Read(field, "data_page_offset", &out->data_page_offset);
    case 10:
      return in.Read(field, "index_page_offset", &out->index_page_offset);
    case 11:
      return in.Read(field, "dictionary_page_offset", &out->dictionary_page_offset);
    case 12:
      return in.ReadStruct(field, "statistics", [&] { ReadStatistics(in, &out->statistics.emplace()); });
    case 13:
      return in.ReadList(field, "encoding_stats", [&](Field e) {
        return in.ReadStruct(e, "encoding_stats", [&] {
          if (PageEncodingStats* stats = in.Append(&out->encoding_stats)) ReadEncodingStats(in, stats);
        });
      });
    case 14:
      return in.Read(field, "bloom_filter_offset", &out->bloom_filter_offset);
    case 15:
      return in.Read(field, "bloom_filter_length", &out->bloom_filter_length);
    default:
      return false;
  }
}

void ReadColumnMetadata(FooterReader& in, ColumnMetadata* out) {
  static constexpr char kName[] = "ColumnMetaData";
  auto seen = in.Struct(kName, [&](Field field) { return ReadColumnMetadataMember(in, field, out); });
  in.Require(seen, 1, kName, "type");
  in.Require(seen, 4, kName, "codec");
  in.Require(seen, 5, kName, "num_values");
  in.Require(seen, 7, kName, "total_compressed_size");
  in.Require(seen, 9, kName, "data_page_offset");
}

void ReadColumnChunk(FooterReader& in, ColumnChunk* out) {
  in.Struct("ColumnChunk", [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "file_path", &out->file_path);
      case 2:
        return in.Read(field, "file_offset", &out->file_offset);
      case 3:
        return in.ReadStruct(field, "meta_data", [&] { ReadColumnMetadata(in, &out->metadata.emplace()); });
      case 4:
        return in.Read(field, "offset_index_offset", &out->offset_index_offset);
      case 5:
        return in.Read(field, "offset_index_length", &out->offset_index_length);
      case 6:
        return in.Read(field, "column_index_offset", &out->column_index_offset);
      case 7:
        return in.Read(field, "column_index_length", &out->column_index_length);
      case 8:
        return in.ReadStruct(field, "crypto_metadata",
                             [&] { ReadColumnCryptoMetadata(in, in.MakeOnce(&out->crypto)); });
      case 9:
        return in.Read(field, "encrypted_column_metadata", &in.MakeOnce(&out->crypto)->encrypted_column_metadata);
      default:
        return false;
    }
  });
}

void ReadSortingColumn(ThriftReader& in, SortingColumn* out) {
  in.Struct("SortingColumn", [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "column_idx", &out->column_idx);
      case 2:
        return in.Read(field, "descending", &out->descending);
      case 3:
        return in.Read(field, "nulls_first", &out->nulls_first);
      default:
        return false;
    }
  });
}

/// One column chunk of a row group. `most_columns`: the schema's elements; 0: the schema comes later.
void AddColumnChunk(FooterReader& in, size_t most_columns, std::vector<ColumnChunk>* columns) {
  if (most_columns > 0 && columns->size() == most_columns) {
    in.Fail(fmt::format("a row group with more column chunks than the {} elements of the schema", most_columns));
    return;
  }
  if (ColumnChunk* chunk = in.Append(columns)) ReadColumnChunk(in, chunk);
}

void ReadRowGroup(FooterReader& in, size_t most_columns, RowGroup* out) {
  static constexpr char kName[] = "RowGroup";
  auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return in.ReadList(field, "columns", [&](Field e) {
          return in.ReadStruct(e, "columns", [&] { AddColumnChunk(in, most_columns, &out->columns); });
        });
      case 2:
        return in.Read(field, "total_byte_size", &out->total_byte_size);
      case 3:
        return in.Read(field, "num_rows", &out->num_rows);
      case 4:
        return in.ReadList(field, "sorting_columns", [&](Field e) {
          return in.ReadStruct(e, "sorting_columns", [&] {
            if (SortingColumn* column = in.Append(&out->sorting_columns)) ReadSortingColumn(in, column);
          });
        });
      case 5:
        return in.Read(field, "file_offset", &out->file_offset);
      case 6:
        return in.Read(field, "total_compressed_size", &out->total_compressed_size);
      case 7:
        return in.Read(field, "ordinal", &out->ordinal);
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "columns");
  in.Require(seen, 3, kName, "num_rows");
  out->columns.shrink_to_fit();
}

bool ReadColumnOrder(ThriftReader& in) {
  bool type_defined = false;
  in.Struct("ColumnOrder", [&](Field field) {
    type_defined = field.id == 1;
    return false;
  });
  return type_defined;
}

bool ReadFileMetadataMember(FooterReader& in, Field field, FileMetadata* out) {
  switch (field.id) {
    case 1:
      return in.Read(field, "version", &out->version);
    case 2:
      return in.ReadList(field, "schema", [&](Field e) {
        return in.ReadStruct(e, "schema", [&] {
          if (SchemaElement* element = in.Append(&out->schema)) ReadSchemaElement(in, element);
        });
      });
    case 3:
      return in.Read(field, "num_rows", &out->num_rows);
    case 4:
      return in.ReadList(field, "row_groups", [&](Field e) {
        return in.ReadStruct(e, "row_groups", [&] {
          if (RowGroup* group = in.Append(&out->row_groups)) ReadRowGroup(in, out->schema.size(), group);
        });
      });
    case 5:
      return ReadKeyValues(in, field, &out->key_value_metadata);
    case 6:
      return in.Read(field, "created_by", &out->created_by);
    case 7:
      return in.ReadList(field, "column_orders", [&](Field e) {
        return in.ReadStruct(e, "column_orders", [&] { out->type_defined_order.push_back(ReadColumnOrder(in)); });
      });
    case 8:
      out->encrypted = true;
      return false;
    default:
      return false;
  }
}

}  // namespace

Result<ColumnMetadata> ParseColumnMetadata(std::span<const uint8_t> bytes) {
  FooterReader in(bytes);
  ColumnMetadata out;
  ReadColumnMetadata(in, &out);
  ARROW_RETURN_NOT_OK(in.status());
  return out;
}

size_t StructureBudget(size_t footer_bytes) {
  constexpr size_t kLeast = 64 << 20, kPerByte = 32;
  return std::max(kLeast, kPerByte * footer_bytes);
}

Result<SchemaElement> ParseSchemaElement(std::span<const uint8_t> bytes) {
  FooterReader in(bytes);
  SchemaElement out;
  ReadSchemaElement(in, &out);
  ARROW_RETURN_NOT_OK(in.status());
  return out;
}

Result<ColumnChunk> ParseColumnChunk(std::span<const uint8_t> bytes) {
  FooterReader in(bytes);
  ColumnChunk out;
  ReadColumnChunk(in, &out);
  ARROW_RETURN_NOT_OK(in.status());
  return out;
}

Result<FileMetadata> ParseFileMetadata(std::span<const uint8_t> bytes) {
  static constexpr char kName[] = "FileMetaData";
  FooterReader in(bytes);
  FileMetadata out;
  auto seen = in.Struct(kName, [&](Field field) { return ReadFileMetadataMember(in, field, &out); });
  in.Require(seen, 1, kName, "version");
  in.Require(seen, 2, kName, "schema");
  in.Require(seen, 3, kName, "num_rows");
  in.Require(seen, 4, kName, "row_groups");
  ARROW_RETURN_NOT_OK(in.status());
  return out;
}

}  // namespace calve::parquet
