#include "calve/ipc/stream_decoder.h"

#include "calve/base/status.h"
#include "calve/ipc/offsets_as_lengths.h"

#include <algorithm>
#include <climits>

// stream = schema dictionary* record_batch end?
//
// All bodies come to lie in one allocation, each at a multiple of 64 bytes. It is made when the record batch's metadata
// has told the last of their sizes; until then dictionaries wait in scratch memory, unless the source can lend them.

namespace calve::ipc {
namespace {

// Fields of the table DictionaryBatch.
constexpr int kId = 0, kData = 1, kIsDelta = 2;

constexpr int64_t kReadStep = int64_t{1} << 20;

int64_t PaddedSize(int64_t size) { return (size + kBodyAlignment - 1) / kBodyAlignment * kBodyAlignment; }

Status At(int64_t position, const Status& status) {
  if (status.ok()) [[likely]]
    return status;
  return WithContext(status, fmt::format("payload byte {}", position));
}

}  // namespace

Status StreamDecoder::Decode(ByteSource* source, const DecodeOptions& options, Decoded* out) {
  source_ = source;
  position_ = 0;
  metadata_.Clear();
  bodies_.Clear();
  dictionaries_.clear();
  Status status = DecodeAll(options, out);
  if (!status.ok()) {
    metadata_.ReleaseIfLarge();
    bodies_.ReleaseIfLarge();
  }
  source_ = nullptr;
  return status;
}

Status StreamDecoder::DecodeAll(const DecodeOptions& options, Decoded* out) {
  ARROW_RETURN_NOT_OK(ReadSchema(out));
  ARROW_RETURN_NOT_OK(ReadMessages(out));
  ARROW_RETURN_NOT_OK(PlaceBodies(options, out));
  ARROW_RETURN_NOT_OK(ReadEnd());
  ARROW_RETURN_NOT_OK(FillAll(out));
  if (out->in_place) {
    ARROW_RETURN_NOT_OK(AlignBuffers(options, out));
  }
  if (options.offsets_as_lengths) {
    ARROW_RETURN_NOT_OK(At(batch_.position, UndoOffsetsAsLengths(out->plan(), &out->layout)));
  }
  if (options.trusted) return Status::OK();
  const BatchPlan& plan = out->plan();
  const auto nodes = options.dictionaries_checked ? plan.batch_nodes : static_cast<int32_t>(plan.nodes.size());
  return At(batch_.position, CheckLayout(plan, out->layout, nodes));
}

// ---- Messages.

Status StreamDecoder::ReadSchema(Decoded* out) {
  Message message;
  ARROW_ASSIGN_OR_RAISE(const bool more, ReadMetadata(&message));
  if (!more) return Invalid("payload byte {}: the stream ends before its schema", message.position);
  auto found = ThreadSchemaCache().Find(MetadataOf(message));
  if (!found.ok()) return At(message.position, found.status());
  out->schema = *std::move(found);
  return Status::OK();
}

Status StreamDecoder::ReadMessages(Decoded*) {
  while (true) {
    batch_ = {};
    ARROW_ASSIGN_OR_RAISE(const bool more, ReadMetadata(&batch_));
    if (!more) return Invalid("payload byte {}: the stream ends without a record batch", batch_.position);
    ARROW_RETURN_NOT_OK(At(batch_.position, ReadHead(&batch_)));
    if (batch_.kind == MessageKind::kRecordBatch) return Status::OK();
    if (batch_.kind == MessageKind::kSchema) return Invalid("payload byte {}: second schema", batch_.position);
    if (batch_.kind != MessageKind::kDictionaryBatch) {
      return NotImplemented("payload byte {}: {} message", batch_.position, ToString(batch_.kind));
    }
    ARROW_RETURN_NOT_OK(TakeDictionary(&batch_));
  }
}

/// False at the end of the stream, marked or not.
Result<bool> StreamDecoder::ReadMetadata(Message* message) {
  message->position = position_;
  uint32_t prefix[2];
  ARROW_ASSIGN_OR_RAISE(const int64_t read, source_->Read(reinterpret_cast<uint8_t*>(prefix), kMessagePrefixBytes));
  if (read == 0) return false;
  if (read < kMessagePrefixBytes) {
    return Invalid("payload byte {}: message prefix cut, {} of {} bytes", position_, read, kMessagePrefixBytes);
  }
  if (prefix[0] != kContinuation) {
    return Invalid("payload byte {}: message begins with {:08x}, not with the continuation marker", position_,
                   prefix[0]);
  }
  position_ += kMessagePrefixBytes;
  if (prefix[1] == 0) return false;
  message->size = prefix[1];
  if (message->size > INT32_MAX || message->size > source_->MostLeft()) {
    return Invalid("payload byte {}: metadata of {} bytes, at most {} are left", message->position, message->size,
                   source_->MostLeft());
  }
  message->borrowed = source_->Borrow(message->size);
  message->offset = metadata_.size();
  if (message->borrowed == nullptr) {
    ARROW_RETURN_NOT_OK(ReadInto(&metadata_, message->size, "metadata"));
  }
  position_ += message->size;
  return true;
}

Status StreamDecoder::ReadHead(Message* message) {
  FlatBytes flat(MetadataOf(*message));
  ARROW_ASSIGN_OR_RAISE(const MessageHead head, ReadMessageHead(&flat));
  message->kind = head.kind;
  message->body_size = head.body_size;
  message->body_position = position_;
  if (head.body_size > source_->MostLeft()) {
    return Invalid("body of {} bytes, at most {} are left", head.body_size, source_->MostLeft());
  }
  return Status::OK();
}

/// Where the source cannot lend the body, it waits in `bodies_`.
Status StreamDecoder::TakeDictionary(Message* message) {
  message->body_borrowed = source_->Borrow(message->body_size);
  message->body_offset = bodies_.size();
  if (message->body_borrowed == nullptr) {
    ARROW_RETURN_NOT_OK(ReadInto(&bodies_, message->body_size, "body"));
  }
  position_ += message->body_size;
  dictionaries_.push_back(*message);
  return Status::OK();
}

/// Grows with what comes, not with what was announced.
Status StreamDecoder::ReadInto(Scratch* scratch, int64_t size, std::string_view what) {
  for (int64_t done = 0; done < size;) {
    const int64_t step = std::min(size - done, std::max(kReadStep, scratch->size()));
    ARROW_ASSIGN_OR_RAISE(const int64_t read, source_->Read(scratch->Grow(step), step));
    if (read < step) {
      return Invalid("payload byte {}: {} cut, {} of {} bytes", position_, what, done + read, size);
    }
    done += step;
  }
  return Status::OK();
}

std::span<const uint8_t> StreamDecoder::MetadataOf(const Message& message) const {
  const uint8_t* begin = message.borrowed != nullptr ? message.borrowed : metadata_.data() + message.offset;
  return {begin, static_cast<size_t>(message.size)};
}

// ---- Bodies.

Status StreamDecoder::PlaceBodies(const DecodeOptions& options, Decoded* out) {
  batch_.body_borrowed = source_->Borrow(batch_.body_size);
  out->body_bytes = batch_.body_size;
  for (const Message& message : dictionaries_) out->body_bytes += message.body_size;
  out->in_place = MayStayInPlace(options);
  if (!out->in_place) {
    ARROW_RETURN_NOT_OK(CopyBodies(out));
  }
  position_ += batch_.body_size;
  return Status::OK();
}

bool StreamDecoder::MayStayInPlace(const DecodeOptions& options) const {
  const auto is_lent = [](const Message& message) { return message.body_borrowed != nullptr; };
  return options.owner != nullptr && !options.offsets_as_lengths && is_lent(batch_) &&
         std::all_of(dictionaries_.begin(), dictionaries_.end(), is_lent);
}

/// Copies those buffers of bodies in place that are less aligned than their types want.
Status StreamDecoder::AlignBuffers(const DecodeOptions& options, Decoded* out) {
  const BatchPlan& plan = out->plan();
  out->body = Body(options.owner);
  const auto each_misaligned = [&](auto visit) {
    for (size_t i = 0; i < plan.nodes.size(); ++i) {
      const auto alignment = static_cast<uintptr_t>(plan.nodes[i].alignment);
      const bool run_ends = i > 0 && plan.nodes[i - 1].layout == Layout::kRunEndEncoded;
      const bool values_only = plan.nodes[i].layout == Layout::kFixed && plan.nodes[i].dictionary < 0 && !run_ends;
      if (values_only && !options.align_values) continue;
      // Validity and characters are bytes; all else is what the node's alignment is about.
      const NodeView& view = out->layout.nodes[i];
      const int32_t last = plan.nodes[i].has_characters() ? 1 : plan.nodes[i].buffers - 1;
      for (int32_t b = 1; b <= last; ++b) {
        BufferView& buffer = out->layout.buffers[static_cast<size_t>(view.first_buffer) + static_cast<size_t>(b)];
        if (reinterpret_cast<uintptr_t>(buffer.data) % alignment != 0) visit(&buffer);
      }
    }
  };
  int64_t total = 0;
  each_misaligned([&](BufferView* buffer) { total += PaddedSize(buffer->size); });
  if (total == 0) return Status::OK();
  out->in_place = false;
  ARROW_RETURN_NOT_OK(out->body.Add(pool_, total));
  uint8_t* to = out->body.data();
  each_misaligned([&](BufferView* buffer) {
    std::memcpy(to, buffer->data, static_cast<size_t>(buffer->size));
    buffer->data = to;
    to += PaddedSize(buffer->size);
  });
  return Status::OK();
}

Status StreamDecoder::CopyBodies(Decoded* out) {
  int64_t total = 0;
  for (const Message& message : dictionaries_) total += PaddedSize(message.body_size);
  const int64_t batch_offset = total;
  total += batch_.body_size;
  if (batch_.body_borrowed == nullptr) {
    ARROW_RETURN_NOT_OK(ReadBatchBody(out, batch_offset, total));
  } else {
    ARROW_ASSIGN_OR_RAISE(out->body, Body::Allocate(pool_, total));
    if (batch_.body_size > 0) {
      std::memcpy(out->body.data() + batch_offset, batch_.body_borrowed, static_cast<size_t>(batch_.body_size));
    }
  }
  batch_.body_borrowed = nullptr;
  batch_.body_offset = batch_offset;
  int64_t at = 0;
  for (Message& message : dictionaries_) {
    const uint8_t* from =
        message.body_borrowed != nullptr ? message.body_borrowed : bodies_.data() + message.body_offset;
    if (message.body_size > 0) std::memcpy(out->body.data() + at, from, static_cast<size_t>(message.body_size));
    message.body_borrowed = nullptr;
    message.body_offset = at;
    at += PaddedSize(message.body_size);
  }
  return Status::OK();
}

Status StreamDecoder::ReadBatchBody(Decoded* out, int64_t offset, int64_t total) {
  const int64_t size = batch_.body_size;
  // A large size that nothing vouches for is not allocated before the bytes are there.
  const bool through_scratch = !source_->is_bounded() && size > kReadStep;
  const int64_t scratch_offset = bodies_.size();
  if (through_scratch) {
    ARROW_RETURN_NOT_OK(ReadInto(&bodies_, size, "body"));
  }
  ARROW_ASSIGN_OR_RAISE(out->body, Body::Allocate(pool_, total));
  if (through_scratch) {
    std::memcpy(out->body.data() + offset, bodies_.data() + scratch_offset, static_cast<size_t>(size));
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t read, source_->Read(out->body.data() + offset, size));
  if (read == size) return Status::OK();
  return Invalid("payload byte {}: body cut, {} of {} bytes", position_, read, size);
}

std::span<const uint8_t> StreamDecoder::BodyOf(const Message& message, const Decoded& decoded) const {
  const uint8_t* begin = message.body_borrowed;
  if (begin == nullptr && message.body_size > 0) begin = decoded.body.data() + message.body_offset;
  return {begin, static_cast<size_t>(message.body_size)};
}

Status StreamDecoder::ReadEnd() {
  Message message;
  ARROW_ASSIGN_OR_RAISE(const bool more, ReadMetadata(&message));
  if (more) {
    ARROW_RETURN_NOT_OK(At(message.position, ReadHead(&message)));
    return Invalid("payload byte {}: {} message after the record batch", message.position,
                   message.kind == MessageKind::kRecordBatch ? "second record batch" : ToString(message.kind));
  }
  uint8_t byte = 0;
  ARROW_ASSIGN_OR_RAISE(const int64_t read, source_->Read(&byte, 1));
  if (read == 0) return Status::OK();
  return Invalid("payload byte {}: bytes after the end-of-stream marker", position_);
}

// ---- Arrays.

Status StreamDecoder::FillAll(Decoded* out) {
  const BatchPlan& plan = out->plan();
  out->layout.Reset(plan);
  seen_.assign(plan.dictionaries.size(), false);
  for (const Message& message : dictionaries_) {
    ARROW_RETURN_NOT_OK(At(message.position, FillDictionary(message, out, &seen_)));
  }
  FlatBytes flat(MetadataOf(batch_));
  ARROW_ASSIGN_OR_RAISE(const MessageHead head, ReadMessageHead(&flat));
  ARROW_RETURN_NOT_OK(At(
      batch_.position, FillLayout(plan, 0, plan.batch_nodes, head.header, &flat, BodyOf(batch_, *out), &out->layout)));
  return At(batch_.position, FinishDictionaries(out, seen_));
}

Status StreamDecoder::FillDictionary(const Message& message, Decoded* out, std::vector<bool>* seen) {
  FlatBytes flat(MetadataOf(message));
  ARROW_ASSIGN_OR_RAISE(const MessageHead head, ReadMessageHead(&flat));
  const auto id = head.header.Scalar<int64_t>(kId);
  const FlatTable data = head.header.Table(kData);
  const bool is_delta = head.header.Bool(kIsDelta);
  ARROW_RETURN_NOT_OK(CheckFlat(flat));
  const BatchPlan& plan = out->plan();
  const int32_t dictionary = plan.FindDictionary(id);
  if (dictionary < 0) return Invalid("dictionary {} that the schema does not name", id);
  if (is_delta) return NotImplemented("delta of dictionary {}", id);
  if ((*seen)[static_cast<size_t>(dictionary)]) return NotImplemented("dictionary {} that replaces itself", id);
  (*seen)[static_cast<size_t>(dictionary)] = true;
  if (!data.exists()) return Invalid("dictionary {} without values", id);
  const int32_t root = plan.dictionaries[static_cast<size_t>(dictionary)].root;
  Status status = FillLayout(plan, root, plan.nodes[static_cast<size_t>(root)].end, data, &flat, BodyOf(message, *out),
                             &out->layout);
  return status.ok() ? status : WithContext(status, fmt::format("dictionary {}", id));
}

/// A dictionary may be missing where none of its keys is used.
Status StreamDecoder::FinishDictionaries(Decoded* out, const std::vector<bool>& seen) {
  const BatchPlan& plan = out->plan();
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) continue;
    const int32_t root = plan.dictionaries[i].root;
    FillEmpty(plan, root, plan.nodes[static_cast<size_t>(root)].end, &out->layout);
  }
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const int32_t dictionary = plan.nodes[i].dictionary;
    const NodeView& view = out->layout.nodes[i];
    if (dictionary < 0 || seen[static_cast<size_t>(dictionary)] || view.null_count == view.length) continue;
    return Invalid("{}: its dictionary {} is missing", plan.NameOf(static_cast<int32_t>(i)),
                   plan.dictionaries[static_cast<size_t>(dictionary)].id);
  }
  return Status::OK();
}

}  // namespace calve::ipc
