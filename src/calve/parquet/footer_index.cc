#include "calve/parquet/footer_index.h"

#include "calve/parquet/element_shape.h"
#include "calve/parquet/footer_skimmer.h"
#include "calve/parquet/metadata_reader.h"
#include "calve/parquet/read_plan.h"
#include "calve/parquet/schema.h"
#include "calve/parquet/schema_limits.h"
#include "calve/parquet/usual_element.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

// One pass over FileMetaData and what it holds; the numbers are the members' ids in parquet.thrift. What is passed over
// is checked as metadata_reader.cc and schema.cc check it, member by member: the two are kept alike.

namespace calve::parquet {

using Text = FooterIndex::Text;

namespace {

/// Depths of the structures.
constexpr int kFile = 1, kElement = 2, kRowGroup = 2, kInRowGroup = 3;

}  // namespace

class FooterIndexer {
 public:
  FooterIndexer(FooterIndex* index, std::span<const uint8_t> bytes) : index_(*index), in_(bytes), bytes_(bytes) {}

  /// False: something is wrong with the footer.
  bool Run() {
    FileMetaData();
    return in_.ok() && Tree() && RowGroups();
  }

 private:
  struct TreeElement {
    int32_t num_children = 0;
    bool is_leaf = false;
  };

  // ---- The pass.

  void FileMetaData() {
    const uint32_t seen = in_.Struct(kFile, [&](int id, ThriftType type) {
      switch (id) {
        case 1:
          return in_.Integer<int32_t>(type);
        case 2:
          return in_.Structs(type, [&] { Element(); }, [&](size_t count) { ReserveElements(count); });
        case 3:
          return in_.Integer<int64_t>(type);
        case 4:
          return in_.Structs(type, [&] { RowGroup(); }, [&](size_t count) { groups_count_ = count; });
        case 5:
          return in_.Structs(type, [&] { FileKeyValue(); });
        case 6:
          return in_.Binary(type, &index_.created_by_);
        case 7:
          return in_.Structs(type, [&] { ColumnOrder(); });
        case 8:
          index_.encrypted_ = true;
          return false;
        default:
          return false;
      }
    });
    if (!HasMembers(seen, {1, 2, 3, 4})) in_.Fail();
  }

  void Element() {
    in_.Charge(sizeof(SchemaElement));
    if (PassUsualElement()) return;
    FooterIndex::Element element;
    element.begin = in_.offset();
    ElementShape shape;
    UsualElement::Parts parts;
    int32_t num_children = 0;
    const uint32_t seen = in_.Struct(kElement, [&](int id, ThriftType type) {
      switch (id) {
        case 1:
          return in_.Enum(type, 7, &shape.type);
        case 2:
          return in_.Integer(type, &shape.type_length);
        case 3:
          return in_.Enum(type, 2, &shape.repetition);
        case 4:
          return in_.Binary(type, &element.name);
        case 5:
          return in_.Integer(type, &num_children);
        case 6:
          return in_.Enum(type, 21, &shape.converted_type);
        case 7:
          return in_.Integer(type, &shape.scale);
        case 8:
          return in_.Integer(type, &shape.precision);
        case 9:
          return FieldId(type, &element, &parts);
        case 10:
          return LogicalType(type, &shape);
        default:
          return false;
      }
    });
    if (!in_.ok()) return;
    if (!HasMembers(seen, {4}) || !shapes_.Check(shape, bytes_.subspan(element.begin))) return in_.Fail();
    last_ = {num_children, shape.type >= 0};
    Add(element);
    parts.name_begin = element.name.begin - element.begin;
    parts.name_size = element.name.size;
    usual_.Learn(bytes_.subspan(element.begin, in_.offset() - element.begin), parts);
  }

  bool PassUsualElement() {
    const auto passed = usual_.Pass(in_.at(), in_.end());
    if (passed.end == nullptr) return false;
    FooterIndex::Element element;
    element.begin = in_.offset();
    element.name = {static_cast<uint32_t>(passed.name - bytes_.data()), static_cast<uint32_t>(passed.name_size)};
    element.field_id = passed.field_id;
    element.has_field_id = passed.has_field_id;
    in_.MoveTo(passed.end);
    Add(element);
    return true;
  }

  void Add(const FooterIndex::Element& element) {
    index_.elements_.push_back(element);
    tree_.push_back(last_);
  }

  bool FieldId(ThriftType type, FooterIndex::Element* element, UsualElement::Parts* parts) {
    parts->id_begin = in_.offset() - element->begin;
    if (!in_.Integer(type, &element->field_id)) return false;
    parts->id_end = type == ThriftType::kByte ? parts->id_begin : in_.offset() - element->begin;
    element->has_field_id = true;
    return true;
  }

  bool LogicalType(ThriftType type, ElementShape* shape) {
    if (type != ThriftType::kStruct) return false;
    shape->has_several = !shape->logical_type.empty();
    const uint32_t begin = in_.offset();
    in_.Skip(type, kElement);
    shape->logical_type = index_.text({begin, in_.offset() - begin});
    return true;
  }

  void RowGroup() {
    in_.Charge(sizeof(parquet::RowGroup));
    int64_t num_rows = 0;
    const size_t first_chunk = index_.chunks_.size();
    const uint32_t seen = in_.Struct(kRowGroup, [&](int id, ThriftType type) {
      switch (id) {
        case 1:
          return in_.Structs(type, [&] { ColumnChunk(); }, [&](size_t count) { ReserveChunks(count); });
        case 3:
          return in_.Integer(type, &num_rows);
        case 2:
        case 5:
        case 6:
          return in_.Integer<int64_t>(type);
        case 4:
          return in_.Structs(type, [&] { SortingColumn(); });
        case 7:
          return in_.Integer<int16_t>(type);
        default:
          return false;
      }
    });
    if (!HasMembers(seen, {1, 3})) return in_.Fail();
    index_.row_groups_.push_back({num_rows, 0});
    chunk_counts_.push_back(index_.chunks_.size() - first_chunk);
  }

  // A list may say to have more than there is: what is reserved is bounded by what is left of the footer.

  void ReserveElements(size_t count) {
    constexpr size_t kSmallest = 8;  // as good as none is smaller
    const size_t possible = std::min(count, in_.remaining() / kSmallest);
    index_.elements_.reserve(possible);
    tree_.reserve(possible);
  }

  void ReserveChunks(size_t count) {
    // The others most often have as many as the first; where they do not, the list grows as lists do.
    constexpr size_t kSmallest = 16;
    if (index_.row_groups_.empty())
      index_.chunks_.reserve(std::min(count * groups_count_, in_.remaining() / kSmallest));
  }

  void ColumnChunk() {
    index_.chunks_.push_back(in_.offset());
    if (in_.PassUsualChunk()) return;
    SkimColumnChunk(in_);
  }

  void SortingColumn() {
    in_.Charge(sizeof(parquet::SortingColumn));
    in_.Struct(kInRowGroup, [&](int id, ThriftType type) { return id == 1 && in_.Integer<int32_t>(type); });
  }

  void FileKeyValue() { index_.key_values_.push_back(SkimKeyValue(in_, kFile + 1)); }

  void ColumnOrder() {
    static constexpr uint8_t kTypeDefined[] = {0x1c, 0, 0};  // 1: an empty structure
    bool type_defined = in_.PassBytes(kTypeDefined);
    if (type_defined) return index_.type_defined_order_.push_back(true);
    in_.Struct(kFile + 1, [&](int id, ThriftType) {
      type_defined = id == 1;
      return false;
    });
    index_.type_defined_order_.push_back(type_defined);
  }

  // ---- What must hold of the whole.

  /// An element whose fields are being counted.
  struct Group {
    uint32_t element = 0;
    int32_t left = 0;       ///< fields that are still to come
    size_t path_bytes = 0;  ///< of the names above its fields
  };

  bool Tree() {
    auto& elements = index_.elements_;
    if (elements.empty() || tree_[0].is_leaf) return false;
    size_t name_bytes = PathBytes(elements[0].name.size), leaf_path_bytes = 0;
    std::vector<Group> open;
    index_.fields_.reserve(elements.size() - 1);
    if (!Open(0, 0, &open)) return false;
    for (uint32_t i = 1; i < elements.size(); ++i) {
      if (!CloseFinished(i, &open)) return false;
      if (open.size() == 1) index_.fields_.push_back(i);
      Group& parent = open.back();
      --parent.left;
      const size_t own_bytes = PathBytes(elements[i].name.size), path_bytes = parent.path_bytes + own_bytes;
      name_bytes += own_bytes;
      elements[i].first_leaf = static_cast<uint32_t>(index_.num_leaves_);
      if (!tree_[i].is_leaf) {
        if (tree_[i].num_children == 0 || !Open(i, path_bytes, &open)) return false;
        continue;
      }
      if (tree_[i].num_children != 0) return false;
      elements[i].end = i + 1;
      leaf_path_bytes += path_bytes;
      ++index_.num_leaves_;
    }
    const auto count = static_cast<uint32_t>(elements.size());
    while (!open.empty() && open.back().left == 0) Close(count, &open);
    return open.empty() && leaf_path_bytes <= MostPathBytes(name_bytes);
  }

  bool Open(uint32_t element, size_t path_bytes, std::vector<Group>* open) {
    const int32_t count = tree_[element].num_children;
    const bool possible = count >= 0 && static_cast<size_t>(count) < index_.elements_.size() - element;
    if (!possible || open->size() == kMaxSchemaDepth) return false;
    open->push_back({element, count, path_bytes});
    return true;
  }

  /// Closes the groups that have all their fields before element `next`; false when none is left for it.
  bool CloseFinished(uint32_t next, std::vector<Group>* open) {
    while (!open->empty() && open->back().left == 0) Close(next, open);
    return !open->empty();
  }

  void Close(uint32_t next, std::vector<Group>* open) {
    index_.elements_[open->back().element].end = next;
    open->pop_back();
  }

  bool RowGroups() {
    for (size_t i = 0; i < index_.row_groups_.size(); ++i) {
      FooterIndex::RowGroup& group = index_.row_groups_[i];
      const auto sum = CheckedAdd(index_.num_rows_, group.num_rows);
      if (group.num_rows < 0 || !sum || chunk_counts_[i] != index_.num_leaves_) return false;
      group.first_row = index_.num_rows_;
      index_.num_rows_ = *sum;
    }
    return true;
  }

  FooterIndex& index_;
  FooterSkimmer in_;
  std::span<const uint8_t> bytes_;
  ShapeChecker shapes_;
  UsualElement usual_;
  TreeElement last_;                  ///< of the last element
  std::vector<TreeElement> tree_;     ///< parallel to the elements
  size_t groups_count_ = 0;           ///< as the list of row groups says
  std::vector<size_t> chunk_counts_;  ///< parallel to the row groups
};

namespace {

/// What is wrong with a footer that cannot be indexed: the parsers say it in words.
Status WhatIsWrong(std::span<const uint8_t> bytes, int64_t begin) {
  const auto metadata = ParseFileMetadata(bytes);
  if (!metadata.ok()) return WithContext(metadata.status(), fmt::format("footer at byte {}", begin));
  ARROW_ASSIGN_OR_RAISE(const FileSchema schema, FileSchema::Make(metadata->schema));
  ARROW_RETURN_NOT_OK(CheckFileMetadata(*metadata, schema));
  return Invalid("the footer cannot be indexed");
}

}  // namespace

Result<std::shared_ptr<const FooterIndex>> FooterIndex::Make(std::shared_ptr<arrow::Buffer> bytes, int64_t begin) {
  std::shared_ptr<FooterIndex> index(new FooterIndex);
  index->bytes_ = std::move(bytes);
  if (!FooterIndexer(index.get(), index->bytes()).Run()) return WhatIsWrong(index->bytes(), begin);
  return index;
}

size_t FooterIndex::FieldOfElement(uint32_t element) const {
  return static_cast<size_t>(std::upper_bound(fields_.begin(), fields_.end(), element) - fields_.begin()) - 1;
}

size_t FooterIndex::FieldOfLeaf(int leaf) const {
  const auto next =
      std::upper_bound(fields_.begin(), fields_.end(), static_cast<uint32_t>(leaf),
                       [&](uint32_t value, uint32_t field) { return value < elements_[field].first_leaf; });
  return static_cast<size_t>(next - fields_.begin()) - 1;
}

std::string_view FooterIndex::key_value(std::string_view key) const {
  for (const auto& [name, value] : key_values_) {
    if (text(name) == key) return text(value);
  }
  return {};
}

int64_t FooterIndex::memory_bytes() const {
  const size_t bytes = static_cast<size_t>(bytes_->capacity()) + sizeof(*this) +
                       elements_.capacity() * sizeof(Element) + row_groups_.capacity() * sizeof(RowGroup) +
                       fields_.capacity() * sizeof(uint32_t) + chunks_.capacity() * sizeof(uint32_t) +
                       key_values_.capacity() * sizeof(key_values_[0]) + type_defined_order_.capacity() / 8;
  return static_cast<int64_t>(bytes);
}

}  // namespace calve::parquet
