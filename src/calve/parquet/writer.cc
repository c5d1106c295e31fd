// The file:
//
//   "PAR1" (row group: (column chunk: pages)* bloom filter*)* ColumnIndex* OffsetIndex*
//   FileMetaData (thrift) u32 length of it "PAR1"
//
// Encrypted, pages, filters, indexes and footer are modules (see file_encryptor.cc), and the magic of a file whose
// footer is one is "PARE".

#include "calve/array/buffer_pool.h"
#include "calve/array/referenced_bytes.h"
#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/parquet/arrow_schema.h"
#include "calve/parquet/chunk_modules.h"
#include "calve/parquet/column_options.h"
#include "calve/parquet/column_tasks.h"
#include "calve/parquet/column_writer.h"
#include "calve/parquet/file_encryptor.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/page_writer.h"
#include "calve/parquet/run_ends.h"
#include "calve/parquet/schema_writer.h"
#include "calve/parquet_writer.h"
#include "calve/version.h"

#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/thread_pool.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace calve {
namespace parquet {
namespace {

constexpr std::string_view kMagic = "PAR1", kEncryptedMagic = "PARE";
constexpr char kArrowSchemaKey[] = "ARROW:schema";
constexpr int kManyFields = 256;
/// Rows, and bytes of Arrow data, after which the size of the row group is looked at.
constexpr int64_t kRowsPerRound = 1 << 16;
constexpr int64_t kBytesPerRound = int64_t{16} << 20;

/// `context`, for work that must not wait for the executor from one of its own threads.
Context WithoutNesting(const Context& context) {
  Context result = context;
  arrow::internal::Executor* executor =
      context.executor != nullptr ? context.executor : arrow::internal::GetCpuThreadPool();
  if (executor->OwnsThisThread()) result.threads = 1;
  return result;
}

Context WithPool(const Context& context, arrow::MemoryPool* pool) {
  Context result = context;
  result.pool = pool;
  return result;
}

/// Whether several rows of such a column can have the same bytes for their values.
bool MayShareValues(const arrow::DataType& type) {
  const arrow::DataType& storage = StorageType(type);
  switch (storage.id()) {
    case arrow::Type::DICTIONARY:
    case arrow::Type::RUN_END_ENCODED:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
    case arrow::Type::LIST_VIEW:
    case arrow::Type::LARGE_LIST_VIEW:
      return true;
    default:
      return std::any_of(storage.fields().begin(), storage.fields().end(),
                         [](const auto& field) { return MayShareValues(*field->type()); });
  }
}

class FileWriter : public ParquetWriter {
 public:
  FileWriter(arrow::io::OutputStream* sink, std::shared_ptr<arrow::Schema> schema, const ParquetWriteOptions& options,
             const Context& context, WrittenSchema written)
      : sink_(sink),
        schema_(std::move(schema)),
        options_(options),
        buffers_(BufferPool::Over(PoolOf(context), std::min(options.row_group_bytes, BufferPool::kDefaultIdleBytes))),
        context_(WithPool(context, buffers_.get())),
        written_(std::move(written)),
        page_writer_(options_, PoolOf(context_)) {
    for (const WrittenLeaf& leaf : written_.leaves) {
      columns_.push_back(ColumnWriter::Make(&leaf, &options_, &page_writer_, PoolOf(context_)));
    }
    for (const auto& field : schema_->fields()) {
      is_wrapped_.push_back(IsWrapped(*field->type()));
      shares_values_ |= MayShareValues(*field->type());
    }
    compressed_bytes_.resize(columns_.size());
    uncompressed_bytes_.resize(columns_.size());
    for (const auto& [key, value] : options_.key_value_metadata) metadata_.key_value_metadata.push_back({key, value});
  }

  Status Start() {
    // Of many columns it would take more than half the footer, and most often say nothing.
    const bool worth_it = schema_->num_fields() < kManyFields || !ParquetSaysAsMuch(*schema_);
    if (options_.store_arrow_schema && worth_it && !options_.key_value_metadata.contains(kArrowSchemaKey)) {
      ARROW_ASSIGN_OR_RAISE(std::string text, FormatArrowSchema(*schema_));
      metadata_.key_value_metadata.push_back({kArrowSchemaKey, std::move(text)});
    }
    if (options_.encryption != nullptr) {
      ARROW_ASSIGN_OR_RAISE(encryptor_, FileEncryptor::Make(options_.encryption, written_.leaves));
    }
    return PutText(magic());
  }

  Status Write(const arrow::RecordBatch& batch) override {
    ARROW_RETURN_NOT_OK(CheckOpen());
    ARROW_RETURN_NOT_OK(CheckSchema(*batch.schema()));
    return Remember(WriteRows(batch));
  }

  int64_t estimated_bytes() const override {
    constexpr int64_t kFooterBytesPerChunk = 128;
    const auto groups = static_cast<int64_t>(metadata_.row_groups.size()) + 1;
    return position_ + GroupBytes() + index_bytes_ +
           groups * static_cast<int64_t>(columns_.size()) * kFooterBytesPerChunk;
  }

  Result<ParquetFileSummary> Close() override {
    ARROW_RETURN_NOT_OK(CheckOpen());
    ARROW_RETURN_NOT_OK(Remember(Finish()));
    closed_ = true;
    ParquetFileSummary summary;
    summary.rows = metadata_.num_rows;
    summary.bytes = position_;
    for (const RowGroup& group : metadata_.row_groups) summary.row_group_offsets.push_back(*group.file_offset);
    for (size_t i = 0; i < columns_.size(); ++i) {
      summary.columns.push_back(columns_[i]->summary());
      summary.columns.back().leaf_index = static_cast<int>(i);
      summary.columns.back().compressed_bytes = compressed_bytes_[i];
      summary.columns.back().uncompressed_bytes = uncompressed_bytes_[i];
    }
    return summary;
  }

 private:
  Status CheckOpen() const { return closed_ ? Invalid("the Parquet writer is closed") : failure_; }

  Status Remember(const Status& status) {
    if (!status.ok()) failure_ = status;
    return status;
  }

  Status CheckSchema(const arrow::Schema& schema) const {
    if (schema.num_fields() != schema_->num_fields()) {
      return Invalid("a batch of {} columns does not have the writer's schema of {}", schema.num_fields(),
                     schema_->num_fields());
    }
    for (int i = 0; i < schema.num_fields(); ++i) {
      if (SameLayout(*schema.field(i)->type(), *schema_->field(i)->type())) continue;
      return Invalid("a batch does not have the writer's schema: column '{}' is {}, expected {}",
                     schema_->field(i)->name(), schema.field(i)->type()->ToString(),
                     schema_->field(i)->type()->ToString());
    }
    return Status::OK();
  }

  int64_t GroupBytes() const {
    int64_t bytes = 0;
    for (const auto& column : columns_) bytes += column->chunk_bytes();
    return bytes;
  }

  using Fields = std::vector<std::shared_ptr<arrow::ArrayData>>;

  /// How the rows of a batch are dealt out.
  struct Rounds {
    int64_t bytes_per_row = 1;
    int64_t rows = std::numeric_limits<int64_t>::max();  ///< of a round
    std::vector<int64_t> weights;                        ///< bytes of each leaf column
  };

  /// Rows of a round.
  int64_t RoundOf(int64_t bytes_per_row) const {
    const int64_t bytes_per_round = std::min(kBytesPerRound, options_.row_group_bytes / 8);
    return std::clamp<int64_t>(bytes_per_round / bytes_per_row, 1, kRowsPerRound);
  }

  Rounds RoundsOf(const Fields& fields, int64_t rows) const {
    Rounds rounds;
    if (fields.empty()) return rounds;
    std::vector<int64_t> bytes, leaves(fields.size());
    int64_t all_bytes = 0;
    for (const auto& field : fields) {
      bytes.push_back(ReferencedBytes(*field, 0, rows));
      all_bytes += bytes.back();
    }
    for (const WrittenLeaf& leaf : written_.leaves) ++leaves[static_cast<size_t>(leaf.field_index)];
    for (const WrittenLeaf& leaf : written_.leaves) {
      const auto field = static_cast<size_t>(leaf.field_index);
      rounds.weights.push_back(bytes[field] / leaves[field]);
    }
    rounds.bytes_per_row = all_bytes / rows + 1;
    rounds.rows = RoundOf(rounds.bytes_per_row);
    return rounds;
  }

  /// Rows before the size of the row group is looked at again: a part of those that it has room for, since they may be
  /// larger encoded than in Arrow, and no more at once than were seen. Where they share values they may be far larger.
  int64_t RowsToLook(const Rounds& rounds) const {
    constexpr int64_t kFirstOfShared = 4096, kPart = 4;
    const int64_t first = shares_values_ ? kFirstOfShared : kRowsPerRound;
    const int64_t bytes = GroupBytes();
    const int64_t bytes_per_row = std::max(rounds.bytes_per_row, bytes / std::max(group_rows_, int64_t{1}) + 1);
    const int64_t left = (options_.row_group_bytes - bytes) / kPart / bytes_per_row;
    return std::min(std::max(left, RoundOf(bytes_per_row)), std::max(group_rows_, first));
  }

  /// What is in the batch, with what several leaves would take apart taken apart once.
  Result<Fields> FieldsOf(const arrow::RecordBatch& batch) const {
    Fields fields;
    for (int i = 0; i < batch.num_columns(); ++i) {
      fields.push_back(batch.column_data(i));
      if (!is_wrapped_[static_cast<size_t>(i)]) continue;
      auto unwrapped = Unwrap(fields.back(), buffers_.get());
      if (!unwrapped.ok()) return WithContext(unwrapped.status(), fmt::format("column '{}'", batch.column_name(i)));
      fields.back() = unwrapped.MoveValueUnsafe();
    }
    return fields;
  }

  Status WriteRows(const arrow::RecordBatch& batch) {
    if (batch.num_rows() == 0) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(const Fields fields, FieldsOf(batch));
    const Rounds rounds = RoundsOf(fields, batch.num_rows());
    const Context context = WithoutNesting(context_);
    for (int64_t row = 0; row < batch.num_rows();) {
      const int64_t count =
          std::min({batch.num_rows() - row, RowsToLook(rounds), options_.row_group_rows - group_rows_});
      ARROW_RETURN_NOT_OK(
          RunColumns(context, rounds.weights, (count - 1) / rounds.rows + 1, [&](int64_t column, int64_t round) {
            const int64_t done = round * rounds.rows;
            const auto i = static_cast<size_t>(column);
            return columns_[i]->Write(*fields[static_cast<size_t>(written_.leaves[i].field_index)], row + done,
                                      std::min(rounds.rows, count - done));
          }));
      row += count;
      group_rows_ += count;
      if (group_rows_ >= options_.row_group_rows || GroupBytes() >= options_.row_group_bytes) {
        ARROW_RETURN_NOT_OK(FlushGroup());
      }
    }
    return EndBatch(context);
  }

  Status EndBatch(const Context& context) {
    const bool borrow = std::any_of(columns_.begin(), columns_.end(), [](const auto& c) { return c->borrows(); });
    if (borrow) {
      return ParallelFor(context, static_cast<int64_t>(columns_.size()),
                         [&](int64_t i) { return columns_[i]->EndBatch(); });
    }
    for (const auto& column : columns_) ARROW_RETURN_NOT_OK(column->EndBatch());
    return Status::OK();
  }

  std::string_view magic() const {
    return encryptor_ != nullptr && !encryptor_->plaintext_footer() ? kEncryptedMagic : kMagic;
  }

  Result<ChunkModules> FinishChunk(size_t column) {
    ARROW_ASSIGN_OR_RAISE(WrittenChunk chunk, columns_[column]->FinishChunk());
    std::unique_ptr<ChunkEncryptor> encryptor;
    if (encryptor_ != nullptr) {
      ARROW_ASSIGN_OR_RAISE(encryptor, encryptor_->OpenChunk(static_cast<int64_t>(metadata_.row_groups.size()),
                                                             static_cast<int64_t>(column)));
    }
    const LeafColumn& leaf = written_.leaves[column].column;
    return WithContext(ChunkModules::Make(leaf, options_, std::move(chunk), std::move(encryptor)),
                       fmt::format("column '{}'", leaf.dotted_path()));
  }

  Status FlushGroup() {
    if (group_rows_ == 0) return Status::OK();
    std::vector<ChunkModules> chunks(columns_.size());
    std::vector<int64_t> weights;
    for (const auto& column : columns_) weights.push_back(column->chunk_bytes());
    ARROW_RETURN_NOT_OK(RunColumns(WithoutNesting(context_), weights, /*rounds=*/1, [&](int64_t column, int64_t) {
      return FinishChunk(static_cast<size_t>(column)).Value(&chunks[static_cast<size_t>(column)]);
    }));
    RowGroup group;
    group.num_rows = std::exchange(group_rows_, 0);
    group.file_offset = position_;
    group.total_compressed_size = 0;
    group.sorting_columns = SortingColumnsOf(options_, written_.leaves);
    const size_t ordinal = metadata_.row_groups.size();
    if (ordinal <= static_cast<size_t>(std::numeric_limits<int16_t>::max())) {
      group.ordinal = static_cast<int16_t>(ordinal);
    }
    for (size_t i = 0; i < chunks.size(); ++i) ARROW_RETURN_NOT_OK(PutChunk(i, &chunks[i], &group));
    for (size_t i = 0; i < chunks.size(); ++i) ARROW_RETURN_NOT_OK(FinishMetadata(i, &chunks[i], &group.columns[i]));
    metadata_.num_rows += group.num_rows;
    metadata_.row_groups.push_back(std::move(group));
    return Status::OK();
  }

  Status PutChunk(size_t column, ChunkModules* modules, RowGroup* group) {
    ARROW_ASSIGN_OR_RAISE(indexes_.emplace_back(),
                          modules->Indexes(written_.leaves[column].column, options_, position_));
    index_bytes_ += static_cast<int64_t>(indexes_.back().column_index.size() + indexes_.back().offset_index.size());
    WrittenChunk& chunk = modules->chunk();
    ColumnMetadata& metadata = chunk.metadata;
    metadata.data_page_offset += position_;
    if (metadata.dictionary_page_offset) *metadata.dictionary_page_offset += position_;
    for (WrittenPage& page : chunk.pages) {
      ARROW_RETURN_NOT_OK(PutText(page.header));
      ARROW_RETURN_NOT_OK(page.VisitBody(
          [&](std::span<const uint8_t> bytes, bool) { return Put(bytes.data(), static_cast<int64_t>(bytes.size())); }));
      page.body.reset();
    }
    group->total_byte_size += metadata.total_uncompressed_size;
    *group->total_compressed_size += metadata.total_compressed_size;
    compressed_bytes_[column] += metadata.total_compressed_size;
    uncompressed_bytes_[column] += metadata.total_uncompressed_size;
    group->columns.emplace_back().metadata = std::move(metadata);
    return Status::OK();
  }

  /// Puts the chunk's bloom filter behind its row group, and its metadata under its key.
  Status FinishMetadata(size_t column, ChunkModules* modules, ColumnChunk* chunk) {
    if (const auto& filter = modules->bloom_filter()) {
      chunk->metadata->bloom_filter_offset = position_;
      chunk->metadata->bloom_filter_length =
          static_cast<int32_t>(static_cast<int64_t>(filter->header.size()) + filter->bitset->size());
      ARROW_RETURN_NOT_OK(PutText(filter->header));
      ARROW_RETURN_NOT_OK(Put(filter->bitset->data(), filter->bitset->size()));
    }
    if (modules->encryptor() == nullptr) return Status::OK();
    return encryptor_->EncryptMetadata(static_cast<int64_t>(column), modules->encryptor(), chunk);
  }

  /// Puts one kind of index of all chunks, and in the footer where they are.
  Status PutIndexes(std::string ChunkIndexes::* index, std::optional<int64_t> ColumnChunk::* offset,
                    std::optional<int32_t> ColumnChunk::* length) {
    auto indexes = indexes_.begin();
    for (RowGroup& group : metadata_.row_groups) {
      for (ColumnChunk& chunk : group.columns) {
        const std::string& bytes = (*indexes++).*index;
        if (bytes.empty()) continue;
        chunk.*offset = position_;
        chunk.*length = static_cast<int32_t>(bytes.size());
        ARROW_RETURN_NOT_OK(PutText(bytes));
      }
    }
    return Status::OK();
  }

  Status Finish() {
    ARROW_RETURN_NOT_OK(FlushGroup());
    ARROW_RETURN_NOT_OK(
        PutIndexes(&ChunkIndexes::column_index, &ColumnChunk::column_index_offset, &ColumnChunk::column_index_length));
    ARROW_RETURN_NOT_OK(
        PutIndexes(&ChunkIndexes::offset_index, &ColumnChunk::offset_index_offset, &ColumnChunk::offset_index_length));
    metadata_.version = 2;
    metadata_.schema = written_.elements;
    metadata_.created_by = fmt::format("calve version {}", kVersion);
    metadata_.type_defined_order.assign(columns_.size(), true);
    std::string footer;
    if (encryptor_ != nullptr) {
      ARROW_ASSIGN_OR_RAISE(footer, encryptor_->EncryptFooter(metadata_));
    } else {
      footer = Serialize(metadata_);
    }
    if (footer.size() > std::numeric_limits<uint32_t>::max()) {
      return Invalid("a footer of {} bytes: a Parquet file can say at most {}", footer.size(),
                     std::numeric_limits<uint32_t>::max());
    }
    const auto length = static_cast<uint32_t>(footer.size());
    ARROW_RETURN_NOT_OK(PutText(footer));
    ARROW_RETURN_NOT_OK(Put(&length, sizeof(length)));
    return PutText(magic());
  }

  Status PutText(std::string_view text) { return Put(text.data(), static_cast<int64_t>(text.size())); }
  Status Put(const void* bytes, int64_t size) {
    ARROW_RETURN_NOT_OK(sink_->Write(bytes, size));
    position_ += size;
    return Status::OK();
  }

  arrow::io::OutputStream* sink_;
  const std::shared_ptr<arrow::Schema> schema_;
  const ParquetWriteOptions options_;
  const std::shared_ptr<BufferPool> buffers_;  ///< pages of one row group are written where those before it lay
  const Context context_;
  const WrittenSchema written_;
  std::vector<bool> is_wrapped_;  ///< fields that have to be taken apart
  bool shares_values_ = false;    ///< rows may have values in common
  const PageWriter page_writer_;
  std::vector<std::unique_ptr<ColumnWriter>> columns_;
  std::unique_ptr<FileEncryptor> encryptor_;  ///< null: nothing is encrypted
  FileMetadata metadata_;
  std::vector<ChunkIndexes> indexes_;  ///< of all chunks, row group after row group
  int64_t index_bytes_ = 0;
  std::vector<int64_t> compressed_bytes_, uncompressed_bytes_;  ///< of each column, as encrypted
  int64_t position_ = 0;
  int64_t group_rows_ = 0;
  Status failure_;
  bool closed_ = false;
};

}  // namespace
}  // namespace parquet

arrow::Result<std::unique_ptr<ParquetWriter>> ParquetWriter::Make(arrow::io::OutputStream* sink,
                                                                  const std::shared_ptr<arrow::Schema>& schema,
                                                                  const ParquetWriteOptions& options,
                                                                  const Context& context) {
  ARROW_ASSIGN_OR_RAISE(auto written, parquet::WrittenSchema::Make(*schema));
  for (const auto& field : schema->fields()) {
    ARROW_RETURN_NOT_OK(WithContext(parquet::CheckUnwrap(field->type()), fmt::format("column '{}'", field->name())));
  }
  ARROW_RETURN_NOT_OK(parquet::CheckWriteOptions(options, written.leaves));
  auto writer = std::make_unique<parquet::FileWriter>(sink, schema, options, context, std::move(written));
  ARROW_RETURN_NOT_OK(writer->Start());
  return writer;
}

}  // namespace calve
