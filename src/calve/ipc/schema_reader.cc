#include "calve/ipc/schema_reader.h"

#include "calve/base/status.h"
#include "calve/ipc/message.h"
#include "calve/ipc/type_reader.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <string>
#include <utility>

namespace calve::ipc {
namespace {

// Fields of the tables Schema, Field, DictionaryEncoding and KeyValue of Schema.fbs.
namespace schema {
constexpr int kEndianness = 0, kFields = 1, kMetadata = 2;
}
namespace field {
constexpr int kName = 0, kNullable = 1, kTypeKind = 2, kType = 3, kDictionary = 4, kChildren = 5, kMetadata = 6;
}
namespace encoding {
constexpr int kId = 0, kIndexType = 1, kOrdered = 2;
}

constexpr int kMostNesting = 64;
/// No field takes less of a schema message: an offset to it, its table and the table of its type.
constexpr size_t kLeastFieldBytes = 16;
constexpr char kExtensionName[] = "ARROW:extension:name", kExtensionMetadata[] = "ARROW:extension:metadata";

using Metadata = std::shared_ptr<const arrow::KeyValueMetadata>;

class SchemaReader {
 public:
  explicit SchemaReader(FlatBytes* flat) : flat_(flat), fields_left_(flat->size() / kLeastFieldBytes) {}

  Result<SchemaMessage> Read(const FlatTable& table) {
    if (const auto endianness = table.Scalar<int16_t>(schema::kEndianness); endianness != 0) {
      return NotImplemented("big-endian data");
    }
    SchemaMessage message;
    ARROW_ASSIGN_OR_RAISE(const auto fields, ReadFields(table, schema::kFields, 0, &message.fields));
    Metadata metadata = ReadMetadata(table, schema::kMetadata);
    ARROW_RETURN_NOT_OK(CheckFlat(*flat_));
    message.schema = arrow::schema(fields, std::move(metadata));
    return message;
  }

 private:
  using Fields = std::vector<std::shared_ptr<arrow::Field>>;

  Result<Fields> ReadFields(const FlatTable& table, int member, int depth, std::vector<FieldShape>* shapes) {
    const FlatVector tables = table.Tables(member);
    if (tables.count > fields_left_) return Invalid("more fields than {} bytes can hold", flat_->size());
    fields_left_ -= tables.count;
    Fields fields;
    shapes->resize(tables.count);
    for (size_t i = 0; i < tables.count; ++i) {
      const FlatTable child = table.TableOf(tables, i);
      ARROW_ASSIGN_OR_RAISE(auto read, ReadField(child, depth, &(*shapes)[i]));
      fields.push_back(std::move(read));
    }
    return fields;
  }

  Result<std::shared_ptr<arrow::Field>> ReadField(const FlatTable& table, int depth, FieldShape* shape) {
    if (depth > kMostNesting) return NotImplemented("fields nested more than {} deep", kMostNesting);
    // Of a flatbuffer that is not whole nothing may be made: the names may be anything.
    const std::string name(table.Text(field::kName));
    ARROW_RETURN_NOT_OK(CheckFlat(*flat_));
    auto made = ReadNamedField(table, name, depth, shape);
    if (made.ok()) return made;
    return WithContext(made.status(), fmt::format("field '{}'", name));
  }

  Result<std::shared_ptr<arrow::Field>> ReadNamedField(const FlatTable& table, const std::string& name, int depth,
                                                       FieldShape* shape) {
    ARROW_ASSIGN_OR_RAISE(const auto children, ReadFields(table, field::kChildren, depth + 1, &shape->children));
    ARROW_ASSIGN_OR_RAISE(auto type,
                          ReadType(table.Scalar<uint8_t>(field::kTypeKind), table.Table(field::kType), children));
    if (const FlatTable encoding = table.Table(field::kDictionary); encoding.exists()) {
      ARROW_ASSIGN_OR_RAISE(type, ReadDictionary(encoding, type, shape));
    }
    Metadata metadata = ReadMetadata(table, field::kMetadata);
    ARROW_RETURN_NOT_OK(CheckFlat(*flat_));
    ARROW_ASSIGN_OR_RAISE(type, WithExtension(std::move(type), &metadata));
    return arrow::field(name, std::move(type), table.Bool(field::kNullable), std::move(metadata));
  }

  static Result<std::shared_ptr<arrow::DataType>> ReadDictionary(const FlatTable& encoding,
                                                                 const std::shared_ptr<arrow::DataType>& values,
                                                                 FieldShape* shape) {
    const FlatTable index = encoding.Table(encoding::kIndexType);
    shape->dictionary_id = encoding.Scalar<int64_t>(encoding::kId);
    std::shared_ptr<arrow::DataType> index_type = arrow::int32();
    if (index.exists()) {
      ARROW_ASSIGN_OR_RAISE(index_type, ReadIntType(index));
    }
    return arrow::DictionaryType::Make(index_type, values, encoding.Bool(encoding::kOrdered));
  }

  Metadata ReadMetadata(const FlatTable& table, int member) const {
    const FlatVector pairs = table.Tables(member);
    if (pairs.count == 0) return nullptr;
    std::vector<std::string> keys, values;
    for (size_t i = 0; i < pairs.count && flat_->ok(); ++i) {
      const FlatTable pair = table.TableOf(pairs, i);
      keys.emplace_back(pair.Text(0));
      values.emplace_back(pair.Text(1));
      // Pairs may share their texts: what comes out is bounded by what lies there.
      metadata_bytes_ += keys.back().size() + values.back().size() + 1;
      if (metadata_bytes_ > flat_->size()) flat_->Fail(pairs.offset);
    }
    return arrow::key_value_metadata(std::move(keys), std::move(values));
  }

  /// The extension type that `metadata` names where it is registered; its two keys then are gone from there.
  static Result<std::shared_ptr<arrow::DataType>> WithExtension(std::shared_ptr<arrow::DataType> storage,
                                                                Metadata* metadata) {
    if (*metadata == nullptr) return storage;
    const int name = (*metadata)->FindKey(kExtensionName);
    if (name < 0) return storage;
    const auto registered = arrow::GetExtensionType((*metadata)->value(name));
    if (registered == nullptr) return storage;
    const int parameters = (*metadata)->FindKey(kExtensionMetadata);
    ARROW_ASSIGN_OR_RAISE(
        auto type, registered->Deserialize(std::move(storage), parameters < 0 ? "" : (*metadata)->value(parameters)));
    std::vector<int64_t> drop = {name};
    if (parameters >= 0) drop.push_back(parameters);
    auto left = (*metadata)->Copy();
    ARROW_RETURN_NOT_OK(left->DeleteMany(std::move(drop)));
    *metadata = left->size() > 0 ? Metadata(std::move(left)) : nullptr;
    return type;
  }

  FlatBytes* flat_;
  size_t fields_left_;
  mutable size_t metadata_bytes_ = 0;
};

}  // namespace

Result<SchemaMessage> ReadSchema(const FlatTable& schema, FlatBytes* flat) { return SchemaReader(flat).Read(schema); }

}  // namespace calve::ipc
