#include "calve/cli/nested_value_writer.h"

#include "calve/cli/json_text.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

//   list    = "[" value ("," value)* "]"
//   map     = "[" "[" key "," value "]" ("," ...)* "]"
//   struct  = "{" name ":" value ("," ...)* "}"

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;
using Style = ValueWriter::Style;
using WriterPtr = std::unique_ptr<ValueWriter>;

template <typename ArrayType>
class ListWriter : public ValueWriter {
 public:
  ListWriter(Style style, WriterPtr element) : ValueWriter(style), element_(std::move(element)) {}

 protected:
  void OnBind(const arrow::Array& array) override {
    typed_ = static_cast<const ArrayType*>(&array);
    element_->Bind(*typed_->values());
  }
  void AppendValue(int64_t i, std::string* out) const override {
    const int64_t begin = typed_->value_offset(i), length = typed_->value_length(i);
    out->push_back('[');
    for (int64_t k = 0; k < length; ++k) {
      if (k > 0) out->push_back(',');
      element_->Append(begin + k, out);
    }
    out->push_back(']');
  }

 private:
  const ArrayType* typed_ = nullptr;
  WriterPtr element_;
};

class MapWriter : public ValueWriter {
 public:
  MapWriter(Style style, WriterPtr key, WriterPtr item)
      : ValueWriter(style), key_(std::move(key)), item_(std::move(item)) {}

 protected:
  void OnBind(const arrow::Array& array) override {
    typed_ = static_cast<const arrow::MapArray*>(&array);
    key_->Bind(*typed_->keys());
    item_->Bind(*typed_->items());
  }
  void AppendValue(int64_t i, std::string* out) const override {
    const int64_t begin = typed_->value_offset(i), end = begin + typed_->value_length(i);
    out->push_back('[');
    for (int64_t k = begin; k < end; ++k) {
      out->append(k > begin ? ",[" : "[");
      key_->Append(k, out);
      out->push_back(',');
      item_->Append(k, out);
      out->push_back(']');
    }
    out->push_back(']');
  }

 private:
  const arrow::MapArray* typed_ = nullptr;
  WriterPtr key_, item_;
};

class StructWriter : public ValueWriter {
 public:
  struct Member {
    std::string prefix;  // `"name":`, with the brace or comma before it
    WriterPtr writer;
  };
  StructWriter(Style style, std::vector<Member> members) : ValueWriter(style), members_(std::move(members)) {}

 protected:
  void OnBind(const arrow::Array& array) override {
    const auto& typed = static_cast<const arrow::StructArray&>(array);
    children_.resize(members_.size());
    for (size_t k = 0; k < members_.size(); ++k) {
      children_[k] = typed.field(static_cast<int>(k));
      members_[k].writer->Bind(*children_[k]);
    }
  }
  void AppendValue(int64_t i, std::string* out) const override {
    if (members_.empty()) out->push_back('{');
    for (const Member& member : members_) {
      out->append(member.prefix);
      member.writer->Append(i, out);
    }
    out->push_back('}');
  }

 private:
  std::vector<Member> members_;
  arrow::ArrayVector children_;
};

class DictionaryWriter : public ValueWriter {
 public:
  DictionaryWriter(Style style, WriterPtr value) : ValueWriter(style), value_(std::move(value)) {}

 protected:
  void OnBind(const arrow::Array& array) override {
    typed_ = static_cast<const arrow::DictionaryArray*>(&array);
    value_->Bind(*typed_->dictionary());
  }
  void AppendValue(int64_t i, std::string* out) const override { value_->Append(typed_->GetValueIndex(i), out); }

 private:
  const arrow::DictionaryArray* typed_ = nullptr;
  WriterPtr value_;
};

class ExtensionWriter : public ValueWriter {
 public:
  ExtensionWriter(Style style, WriterPtr storage) : ValueWriter(style), storage_(std::move(storage)) {}

 protected:
  void OnBind(const arrow::Array& array) override {
    storage_->Bind(*static_cast<const arrow::ExtensionArray&>(array).storage());
  }
  void AppendValue(int64_t i, std::string* out) const override { storage_->Append(i, out); }

 private:
  WriterPtr storage_;
};

// Children of nested values are JSON in both styles.
Result<WriterPtr> MakeChild(const std::shared_ptr<arrow::Field>& field) {
  return ValueWriter::Make(field->type(), Style::kJson);
}

template <typename ArrayType>
Result<WriterPtr> MakeList(const arrow::DataType& type, Style style) {
  ARROW_ASSIGN_OR_RAISE(auto element, MakeChild(type.field(0)));
  return std::make_unique<ListWriter<ArrayType>>(style, std::move(element));
}

Result<WriterPtr> MakeMap(const arrow::DataType& type, Style style) {
  const auto& map = static_cast<const arrow::MapType&>(type);
  ARROW_ASSIGN_OR_RAISE(auto key, MakeChild(map.key_field()));
  ARROW_ASSIGN_OR_RAISE(auto item, MakeChild(map.item_field()));
  return std::make_unique<MapWriter>(style, std::move(key), std::move(item));
}

Result<WriterPtr> MakeStruct(const arrow::DataType& type, Style style) {
  std::vector<StructWriter::Member> members;
  for (const auto& field : type.fields()) {
    std::string prefix = members.empty() ? "{" : ",";
    AppendJsonString(field->name(), &prefix);
    prefix.push_back(':');
    ARROW_ASSIGN_OR_RAISE(auto writer, MakeChild(field));
    members.push_back({std::move(prefix), std::move(writer)});
  }
  return std::make_unique<StructWriter>(style, std::move(members));
}

Result<WriterPtr> MakeDictionary(const arrow::DataType& type, Style style) {
  ARROW_ASSIGN_OR_RAISE(auto value,
                        ValueWriter::Make(static_cast<const arrow::DictionaryType&>(type).value_type(), style));
  return std::make_unique<DictionaryWriter>(style, std::move(value));
}

}  // namespace

Result<WriterPtr> MakeNestedWriter(const arrow::DataType& type, Style style) {
  using arrow::Type;
  switch (type.id()) {
    case Type::LIST:
      return MakeList<arrow::ListArray>(type, style);
    case Type::LARGE_LIST:
      return MakeList<arrow::LargeListArray>(type, style);
    case Type::FIXED_SIZE_LIST:
      return MakeList<arrow::FixedSizeListArray>(type, style);
    case Type::LIST_VIEW:
      return MakeList<arrow::ListViewArray>(type, style);
    case Type::LARGE_LIST_VIEW:
      return MakeList<arrow::LargeListViewArray>(type, style);
    case Type::MAP:
      return MakeMap(type, style);
    case Type::STRUCT:
      return MakeStruct(type, style);
    case Type::DICTIONARY:
      return MakeDictionary(type, style);
    default:
      return Status::NotImplemented(fmt::format("values of type {} as text", type.ToString()));
  }
}

WriterPtr MakeExtensionWriter(WriterPtr storage, Style style) {
  return std::make_unique<ExtensionWriter>(style, std::move(storage));
}

}  // namespace calve::cli
