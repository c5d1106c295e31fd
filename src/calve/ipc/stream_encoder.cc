#include "calve/ipc/stream_encoder.h"

#include "calve/base/status.h"
#include "calve/ipc/body_layout.h"

#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/ipc/writer.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include <numeric>

namespace calve::ipc {

namespace {

/// The schema's message, its padding widened to kAlignment.
Result<std::vector<uint8_t>> SchemaMessage(const arrow::Schema& schema, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const auto message, arrow::ipc::SerializeSchema(schema, pool));
  std::vector<uint8_t> bytes(message->data(), message->data() + message->size());
  bytes.resize(static_cast<size_t>(RoundUpToAlignment(message->size())));
  const auto size = static_cast<uint32_t>(bytes.size() - 8);
  std::memcpy(bytes.data() + 4, &size, 4);
  return bytes;
}

bool IsDictionary(const arrow::Field& field) { return field.type()->id() == arrow::Type::DICTIONARY; }

const arrow::DictionaryType& DictionaryTypeOf(const arrow::Field& field) {
  return static_cast<const arrow::DictionaryType&>(*field.type());
}

/// The values that dictionary rows stand for.
Result<std::shared_ptr<arrow::ArrayData>> Decode(const arrow::DictionaryType& type, const ColumnRows& source,
                                                 arrow::MemoryPool* pool) {
  arrow::Int64Builder builder(pool);
  ARROW_RETURN_NOT_OK(builder.Reserve(source.count));
  const uint8_t* validity = source.Validity();
  WithIndexType(type.index_type()->id(), [&](auto zero) {
    const auto* indices = source.Buffer<decltype(zero)>(1);
    source.ForEach([&](int64_t i) {
      if (validity != nullptr && !arrow::bit_util::GetBit(validity, i)) return builder.UnsafeAppendNull();
      builder.UnsafeAppend(static_cast<int64_t>(indices[i]));
    });
  });
  ARROW_ASSIGN_OR_RAISE(const auto indices, builder.Finish());
  arrow::compute::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(const auto values,
                        arrow::compute::Take(*arrow::MakeArray(source.data->dictionary), *indices,
                                             arrow::compute::TakeOptions::NoBoundsCheck(), &context));
  return values->data();
}

}  // namespace

StreamEncoder::StreamEncoder(std::shared_ptr<arrow::Schema> schema, Options options, arrow::MemoryPool* pool)
    : schema_(std::move(schema)),
      options_(options),
      pool_(pool),
      stream_(pool),
      aside_(pool),
      stream_body_(&stream_, &dictionaries_),
      aside_body_(&aside_, &dictionaries_) {}

Result<std::unique_ptr<StreamEncoder>> StreamEncoder::Make(std::shared_ptr<arrow::Schema> schema, Options options,
                                                           arrow::MemoryPool* pool) {
  std::unique_ptr<StreamEncoder> encoder(new StreamEncoder(WithoutMetadata(*schema), options, pool));
  ARROW_ASSIGN_OR_RAISE(encoder->form_,
                        encoder->FormOf(std::vector<bool>(static_cast<size_t>(schema->num_fields()), false)));
  return encoder;
}

void StreamEncoder::Release() {
  stream_.Release();
  aside_.Release();
  dictionaries_.Forget();
}

Result<StreamEncoder::Form*> StreamEncoder::FormOf(const std::vector<bool>& plain) {
  const auto found = forms_.find(plain);
  if (found != forms_.end()) return &found->second;
  Form form;
  arrow::FieldVector fields;
  BodyLayout layout;
  for (int i = 0; i < schema_->num_fields(); ++i) {
    auto field = schema_->field(i);
    if (plain[static_cast<size_t>(i)]) field = field->WithType(DictionaryTypeOf(*field).value_type());
    form.dictionaries += CountDictionaries(*field->type());
    AddLayoutOf(*field->type(), &layout);
    fields.push_back(std::move(field));
  }
  form.schema = arrow::schema(std::move(fields));
  ARROW_ASSIGN_OR_RAISE(form.schema_message, SchemaMessage(*form.schema, pool_));
  form.batch =
      std::make_unique<BatchMessageTemplate>(layout.nodes, layout.buffers, layout.variadic_counts, std::nullopt);
  return &forms_.emplace(plain, std::move(form)).first->second;
}

Sources StreamEncoder::SourcesOf(int column) const {
  return Sources(sources_).subspan(static_cast<size_t>(column) * batches_, batches_);
}

void StreamEncoder::CollectSources(std::span<const BatchRows> rows) {
  batches_ = rows.size();
  sources_.clear();
  for (int column = 0; column < schema_->num_fields(); ++column) {
    for (const BatchRows& some : rows) {
      const arrow::ArrayData* data = some.batch->column_data()[static_cast<size_t>(column)].get();
      sources_.push_back({data, some.rows, some.count, data->offset + some.first});
    }
  }
}

Result<bool> StreamEncoder::IsBetterPlain(const arrow::DictionaryType& type, Sources sources) {
  if (!options_.keep_dictionaries) return true;
  const DictionaryCost cost = dictionaries_.CostOf(type, sources);
  return cost.can_decide && (!cost.can_keep || cost.plain_bytes <= cost.kept_bytes);
}

Status StreamEncoder::DecodeColumn(int column) {
  for (size_t batch = 0; batch < batches_; ++batch) {
    ColumnRows& source = sources_[static_cast<size_t>(column) * batches_ + batch];
    ARROW_ASSIGN_OR_RAISE(auto values, Decode(DictionaryTypeOf(*schema_->field(column)), source, pool_));
    decoded_.push_back(std::move(values));
    source = {decoded_.back().get(), nullptr, source.count, decoded_.back()->offset};
  }
  return Status::OK();
}

// Which columns are written as values; those are decoded.
Result<std::vector<bool>> StreamEncoder::DecodeColumns() {
  std::vector<bool> plain(static_cast<size_t>(schema_->num_fields()), false);
  for (int column = 0; column < schema_->num_fields(); ++column) {
    const arrow::Field& field = *schema_->field(column);
    if (!IsDictionary(field)) continue;
    ARROW_ASSIGN_OR_RAISE(const bool better_plain, IsBetterPlain(DictionaryTypeOf(field), SourcesOf(column)));
    if (!better_plain) continue;
    plain[static_cast<size_t>(column)] = true;
    ARROW_RETURN_NOT_OK(DecodeColumn(column));
  }
  return plain;
}

Status StreamEncoder::EncodeBatch(const Form& form, int64_t rows, ByteArena* arena, BodyEncoder* body) {
  const int64_t message_at = arena->size();
  ARROW_RETURN_NOT_OK(arena->Extend(form.batch->size()).status());
  body->Begin(rows, 0);
  for (int column = 0; column < form.schema->num_fields(); ++column) {
    const Status status = body->Add(*form.schema->field(column)->type(), SourcesOf(column), rows);
    if (!status.ok()) return WithContext(status, fmt::format("column '{}'", form.schema->field(column)->name()));
  }
  const BatchContent& content = body->End();
  form.batch->Write(content, arena->data() + message_at);
  if (arena == &stream_) CutAtBuffers(content, message_at + form.batch->size() - kFront);
  return Status::OK();
}

void StreamEncoder::CutAtBuffers(const BatchContent& content, int64_t body_at) {
  constexpr int64_t kLargeBuffer = 8 << 10;
  bool after_large = false;
  for (const BufferPlace& buffer : content.buffers) {
    if (buffer.length == 0) continue;
    const bool large = buffer.length >= kLargeBuffer;
    if (large || after_large) cuts_.push_back(body_at + buffer.offset);
    after_large = large;
  }
}

Status StreamEncoder::EncodeDictionary(const UsedDictionary& used) {
  BodyLayout layout;
  AddLayoutOf(*used.value_type, &layout);
  const BatchMessageTemplate message(layout.nodes, layout.buffers, layout.variadic_counts, used.id);
  const int64_t message_at = aside_.size();
  ARROW_RETURN_NOT_OK(aside_.Extend(message.size()).status());
  aside_body_.Begin(used.count, used.id + 1);
  ARROW_RETURN_NOT_OK(aside_body_.Add(*used.value_type, used.sources(), used.count));
  message.Write(aside_body_.End(), aside_.data() + message_at);
  return Status::OK();
}

// Which entries are used is known when the batch has been encoded, but dictionaries come before it, and those within
// dictionaries first of all: so everything is encoded aside and then put in order.
Status StreamEncoder::EncodeAside(const Form& form, int64_t rows) {
  aside_.Truncate(0);
  dictionaries_.Begin();
  ARROW_RETURN_NOT_OK(EncodeBatch(form, rows, &aside_, &aside_body_));
  std::vector<int64_t> ends = {aside_.size()};
  for (size_t i = 0; i < dictionaries_.pending().size(); ++i) {
    const UsedDictionary used = std::move(dictionaries_.pending()[i]);
    ARROW_RETURN_NOT_OK(EncodeDictionary(used));
    ends.push_back(aside_.size());
  }
  for (size_t i = ends.size(); i-- > 1;) {
    ARROW_RETURN_NOT_OK(stream_.Append(
        aside_.bytes().subspan(static_cast<size_t>(ends[i - 1]), static_cast<size_t>(ends[i] - ends[i - 1]))));
  }
  return stream_.Append(aside_.bytes().first(static_cast<size_t>(ends[0])));
}

Result<std::span<uint8_t>> StreamEncoder::Encode(std::span<const BatchRows> rows) {
  const int64_t count = std::accumulate(rows.begin(), rows.end(), int64_t{0},
                                        [](int64_t sum, const BatchRows& some) { return sum + some.count; });
  CollectSources(rows);
  decoded_.clear();
  ARROW_ASSIGN_OR_RAISE(const auto plain, DecodeColumns());
  ARROW_ASSIGN_OR_RAISE(form_, FormOf(plain));
  stream_body_.ClearOffsets();
  cuts_.clear();
  stream_.Truncate(0);
  ARROW_RETURN_NOT_OK(stream_.Extend(kFront).status());
  ARROW_RETURN_NOT_OK(stream_.Append(form_->schema_message));
  ARROW_RETURN_NOT_OK(form_->dictionaries > 0 ? EncodeAside(*form_, count)
                                              : EncodeBatch(*form_, count, &stream_, &stream_body_));
  decoded_.clear();
  ARROW_RETURN_NOT_OK(stream_.Append(kEndOfStream));
  offsets_ = stream_body_.offsets();
  for (OffsetsPlace& place : offsets_) place.position -= kFront;
  return std::span<uint8_t>(stream_.data() + kFront, static_cast<size_t>(stream_.size() - kFront));
}

}  // namespace calve::ipc
