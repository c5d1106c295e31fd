#include "calve/parquet/footer.h"

#include "calve/parquet/arrow_schema.h"
#include "calve/parquet/arrow_schema_peek.h"
#include "calve/parquet/footer_decryption.h"
#include "calve/parquet/metadata_reader.h"
#include "calve/parquet/read_plan.h"

#include "calve/base/status.h"

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>

// file := "PAR1" pages... FileMetaData size-of-it (4 bytes, little-endian) "PAR1"
//
// The last four bytes are "PARE" when the footer itself is encrypted; see footer_decryption.cc.

namespace calve::parquet {
namespace {

constexpr int64_t kTailBytes = 64 << 10;  // holds most footers, in one read
constexpr int64_t kTrailerBytes = 8;
constexpr int64_t kSmallestFile = 4 + kTrailerBytes;

std::span<const uint8_t> SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

Result<std::shared_ptr<arrow::Buffer>> ReadExactly(arrow::io::RandomAccessFile* file, int64_t offset, int64_t size) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, file->ReadAt(offset, size));
  if (buffer->size() != size)
    return IOError("{} bytes at byte {} of the file, {} expected", buffer->size(), offset, size);
  return buffer;
}

/// The end of a file.
struct Tail {
  std::shared_ptr<arrow::Buffer> footer;
  int64_t begin = 0;  ///< of the footer
  bool encrypted = false;
};

/// The footer's size, from the end of a file.
Result<uint32_t> FooterSize(const uint8_t* trailer, int64_t file_size, bool* encrypted) {
  *encrypted = std::memcmp(trailer + 4, "PARE", 4) == 0;
  if (!*encrypted && std::memcmp(trailer + 4, "PAR1", 4) != 0) {
    return Invalid("no Parquet file, or one cut short: it does not end with PAR1");
  }
  uint32_t size = 0;
  std::memcpy(&size, trailer, sizeof(size));
  if (size > file_size - kSmallestFile) return Invalid("a footer of {} bytes in a file of {}", size, file_size);
  return size;
}

Result<Tail> ReadTail(arrow::io::RandomAccessFile* file, int64_t file_size) {
  if (file_size < kSmallestFile) return Invalid("no Parquet file: {} bytes", file_size);
  const int64_t tail_size = std::min(file_size, kTailBytes);
  ARROW_ASSIGN_OR_RAISE(auto bytes, ReadExactly(file, file_size - tail_size, tail_size));
  Tail tail;
  ARROW_ASSIGN_OR_RAISE(const uint32_t size,
                        FooterSize(bytes->data() + tail_size - kTrailerBytes, file_size, &tail.encrypted));
  tail.begin = file_size - kTrailerBytes - size;
  if (size + kTrailerBytes > tail_size) {
    ARROW_ASSIGN_OR_RAISE(tail.footer, ReadExactly(file, tail.begin, size));
    return tail;
  }
  // A copy, so that a footer that is kept does not keep the rest.
  ARROW_ASSIGN_OR_RAISE(tail.footer, bytes->CopySlice(tail_size - kTrailerBytes - size, size));
  return tail;
}

constexpr std::string_view kArrowSchemaKey = "ARROW:schema";

TypeOptions WithMetadata(TypeOptions types, const FooterIndex& index) {
  auto metadata = std::make_shared<arrow::KeyValueMetadata>();
  for (const auto& [key, value] : index.key_values()) {
    if (index.text(key) == kArrowSchemaKey) continue;
    metadata->Append(std::string(index.text(key)), std::string(index.text(value)));
  }
  if (metadata->size() > 0) types.metadata = std::move(metadata);
  return types;
}

}  // namespace

Result<std::shared_ptr<const Footer>> Footer::Read(arrow::io::RandomAccessFile* file,
                                                   std::shared_ptr<const ParquetDecryption> keys,
                                                   const TypeOptions& types) {
  Stored stored;
  ARROW_ASSIGN_OR_RAISE(stored.file_size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(Tail tail, ReadTail(file, stored.file_size));
  stored.begin = tail.begin;
  std::shared_ptr<FileDecryptor> decryptor;
  if (tail.encrypted) {
    auto decrypted = DecryptFooter(SpanOf(*tail.footer), keys, arrow::default_memory_pool());
    if (!decrypted.ok()) return WithContext(decrypted.status(), fmt::format("footer at byte {}", tail.begin));
    tail.footer = std::move(decrypted->thrift);
    decryptor = std::move(decrypted->decryptor);
  }
  ARROW_ASSIGN_OR_RAISE(stored.index, FooterIndex::Make(std::move(tail.footer), stored.begin));
  stored.lookup = std::make_shared<const FieldLookup>(*stored.index);
  if (!tail.encrypted) {
    ARROW_ASSIGN_OR_RAISE(decryptor,
                          CheckPlaintextFooter(stored.index->encrypted(), stored.index->bytes(), std::move(keys)));
  }
  return std::make_shared<const Footer>(std::move(stored), std::move(decryptor), types);
}

Footer::Footer(Stored stored, std::shared_ptr<FileDecryptor> decryptor, TypeOptions types)
    : stored_(std::move(stored)),
      decryptor_(std::move(decryptor)),
      omits_dictionary_header_(OmitsDictionaryHeader(stored_.index->created_by())),
      types_(WithMetadata(std::move(types), *stored_.index)) {}

Result<ColumnChunk> Footer::Chunk(int row_group, int leaf) const {
  ++counts_.column_chunks;
  ARROW_ASSIGN_OR_RAISE(ColumnChunk chunk, ParseColumnChunk(index().column_chunk(row_group, leaf)));
  Decrypt(row_group, leaf, &chunk);
  return chunk;
}

void Footer::Decrypt(int row_group, int leaf, ColumnChunk* chunk) const {
  if (chunk->crypto != nullptr) DecryptChunk(decryptor_.get(), PathOf(leaf), row_group, leaf, chunk);
}

/// The dotted path of a leaf.
std::string Footer::PathOf(int leaf) const {
  const auto& elements = index().elements();
  uint32_t element = index().fields()[index().FieldOfLeaf(leaf)];
  std::string path(index().text(elements[element].name));
  while (elements[element].end > element + 1) {
    uint32_t child = element + 1;
    for (uint32_t next = elements[child].end;
         next < elements[element].end && elements[next].first_leaf <= static_cast<uint32_t>(leaf);
         next = elements[child].end) {
      child = next;
    }
    path.append(".").append(index().text(elements[child].name));
    element = child;
  }
  return path;
}

Result<Selection> Footer::SelectLeaves(const std::vector<int>& leaves) const {
  ARROW_RETURN_NOT_OK(CheckLeaves(leaves, num_columns()));
  std::vector<size_t> fields;
  for (const int leaf : leaves) {
    const size_t field = index().FieldOfLeaf(leaf);
    if (fields.empty() || fields.back() != field) fields.push_back(field);
  }
  const auto built = SchemaOf(fields);
  if (!built.ok()) return Select(schema(), leaves);
  const PartialSchema& part = *built;
  std::vector<int> local;
  size_t next = 0;
  for (const int leaf : leaves) {
    while (part.leaves[next] != leaf) ++next;
    local.push_back(static_cast<int>(next));
  }
  ARROW_ASSIGN_OR_RAISE(Selection selection, Select(part.schema, local));
  for (int& leaf : selection.leaves) leaf = part.leaves[static_cast<size_t>(leaf)];
  return selection;
}

Result<std::vector<int>> Footer::LeavesOf(const std::string& name) const {
  const auto fields = stored_.lookup->Named(name);
  if (fields.empty()) return LeavesOfName(schema(), name);  // the message lists the columns
  const auto part = SchemaOf(fields);
  if (!part.ok()) return LeavesOfName(schema(), name);
  auto found = LeavesOfName(part->schema, name);
  if (!found.ok()) return LeavesOfName(schema(), name);
  for (int& leaf : *found) leaf = part->leaves[static_cast<size_t>(leaf)];
  return found;
}

std::vector<int> Footer::LeavesOfId(int field_id) const {
  const auto fields = stored_.lookup->WithId(field_id);
  if (fields.empty()) return {};
  const auto part = SchemaOf(fields);
  if (!part.ok()) return LeavesOfFieldId(schema(), field_id);
  auto found = LeavesOfFieldId(part->schema, field_id);
  for (int& leaf : found) leaf = part->leaves[static_cast<size_t>(leaf)];
  return found;
}

// The index is of a sound footer: what follows does not fail.

const FileMetadata& Footer::metadata() const {
  std::call_once(metadata_parsed_, [&] {
    ++counts_.whole;
    metadata_ = ParseFileMetadata(index().bytes()).ValueOrDie();
    for (int i = 0; i < num_row_groups(); ++i) {
      for (int leaf = 0; leaf < num_columns(); ++leaf) Decrypt(i, leaf, &metadata_.row_groups[i].columns[leaf]);
    }
  });
  return metadata_;
}

const FileSchema& Footer::schema() const {
  std::call_once(schema_built_, [&] {
    ++counts_.whole;
    std::vector<size_t> all(index().fields().size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    schema_ = MakeSchema(all).ValueOrDie();
  });
  return schema_;
}

/// Invalid where the names are so long that the fields are only allowed beside the others: the whole schema is, then.
Result<Footer::PartialSchema> Footer::SchemaOf(const std::vector<size_t>& fields) const {
  PartialSchema part;
  ARROW_ASSIGN_OR_RAISE(part.schema, MakeSchema(fields));
  for (const size_t field : fields) {
    const auto next = field + 1 < index().fields().size() ? index().elements()[index().fields()[field + 1]].first_leaf
                                                          : static_cast<uint32_t>(num_columns());
    for (uint32_t leaf = index().elements()[index().fields()[field]].first_leaf; leaf < next; ++leaf) {
      part.leaves.push_back(static_cast<int>(leaf));
    }
  }
  return part;
}

Result<FileSchema> Footer::MakeSchema(const std::vector<size_t>& fields) const {
  ARROW_ASSIGN_OR_RAISE(const auto elements, ElementsOf(fields));
  return FileSchema::Make(elements, types_, StoredFields(fields));
}

arrow::FieldVector Footer::StoredFields(const std::vector<size_t>& fields) const {
  if (!types_.use_arrow_schema || index().key_value(kArrowSchemaKey).empty()) return {};
  ArrowSchemaPeek peek(index().key_value(kArrowSchemaKey));
  if (std::all_of(fields.begin(), fields.end(), [&](size_t field) { return peek.IsPlain(field); })) return {};
  std::call_once(arrow_schema_parsed_, [&] { arrow_schema_ = ParseArrowSchema(index().key_value(kArrowSchemaKey)); });
  if (arrow_schema_ == nullptr || static_cast<size_t>(arrow_schema_->num_fields()) != index().fields().size())
    return {};
  arrow::FieldVector stored;
  for (const size_t field : fields) stored.push_back(arrow_schema_->field(static_cast<int>(field)));
  return stored;
}

/// The root, and the elements of these top-level fields under it.
Result<std::vector<SchemaElement>> Footer::ElementsOf(const std::vector<size_t>& fields) const {
  std::vector<SchemaElement> elements;
  const auto add = [&](uint32_t element) -> Status {
    ++counts_.schema_elements;
    ARROW_ASSIGN_OR_RAISE(elements.emplace_back(),
                          ParseSchemaElement(index().bytes().subspan(index().elements()[element].begin)));
    return Status::OK();
  };
  ARROW_RETURN_NOT_OK(add(0));
  elements[0].num_children = static_cast<int32_t>(fields.size());
  for (const size_t field : fields) {
    const uint32_t begin = index().fields()[field];
    for (uint32_t i = begin; i < index().elements()[begin].end; ++i) ARROW_RETURN_NOT_OK(add(i));
  }
  return elements;
}

}  // namespace calve::parquet
