#include "calve/ipc/body_encoder.h"

#include "calve/base/status.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include <bit>
#include <limits>

namespace calve::ipc {

namespace {

bool HasNulls(Sources sources) {
  for (const ColumnRows& source : sources) {
    if (source.Validity() != nullptr) return true;
  }
  return false;
}

/// Appends single bits, LSB first.
class BitAppender {
 public:
  explicit BitAppender(uint8_t* out) : out_(out) {}
  void Append(bool bit) {
    word_ |= uint64_t{bit} << used_;
    if (++used_ == 64) Flush(8);
  }
  /// Writes out the last bits; returns how many of all were set.
  int64_t Finish() {
    Flush((used_ + 7) / 8);
    return ones_;
  }

 private:
  void Flush(size_t bytes) {
    std::memcpy(out_, &word_, bytes);
    ones_ += std::popcount(word_);
    out_ += bytes;
    word_ = 0;
    used_ = 0;
  }
  uint8_t* out_;
  uint64_t word_ = 0;
  size_t used_ = 0;
  int64_t ones_ = 0;
};

template <size_t kWidth>
void GatherFixed(Sources sources, uint8_t* out) {
  for (const ColumnRows& source : sources) {
    const auto* values = source.Buffer<uint8_t>(1);
    if (source.count == 0) continue;
    if (source.rows == nullptr) {
      std::memcpy(out, values + source.base * kWidth, static_cast<size_t>(source.count) * kWidth);
      out += static_cast<size_t>(source.count) * kWidth;
      continue;
    }
    source.ForEach([&](int64_t i) {
      std::memcpy(out, values + i * static_cast<int64_t>(kWidth), kWidth);
      out += kWidth;
    });
  }
}

void GatherWide(size_t width, Sources sources, uint8_t* out) {
  for (const ColumnRows& source : sources) {
    const auto* values = source.Buffer<uint8_t>(1);
    source.ForEach([&](int64_t i) {
      std::memcpy(out, values + i * static_cast<int64_t>(width), width);
      out += width;
    });
  }
}

// Short values are copied by whole words, where what follows them may be read and overwritten.
template <typename Offset>
uint8_t* GatherBytes(const ColumnRows& source, uint8_t* out) {
  constexpr int64_t kShort = 16;
  if (source.count == 0 || source.data->buffers[2] == nullptr) return out;
  const auto* offsets = source.Buffer<Offset>(1);
  const auto* bytes = source.Buffer<uint8_t>(2);
  if (source.rows == nullptr) {
    const auto begin = offsets[source.base], end = offsets[source.base + source.count];
    std::memcpy(out, bytes + begin, static_cast<size_t>(end - begin));
    return out + (end - begin);
  }
  const int64_t last_short = source.data->buffers[2]->size() - kShort;
  source.ForEach([&](int64_t i) {
    const int64_t begin = offsets[i], size = offsets[i + 1] - begin;
    if (size <= kShort && begin <= last_short) {
      std::memcpy(out, bytes + begin, kShort);
    } else {
      std::memcpy(out, bytes + begin, static_cast<size_t>(size));
    }
    out += size;
  });
  return out;
}

/// `count` offsets after the first, moved so that they go on from `end`.
template <typename Offset>
Offset* MoveOffsets(const Offset* offsets, int64_t count, int64_t end, Offset* out) {
  using Unsigned = std::make_unsigned_t<Offset>;  // those that do not fit wrap, and are an error later
  const auto by = static_cast<Unsigned>(end) - static_cast<Unsigned>(offsets[0]);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Offset>(static_cast<Unsigned>(offsets[i + 1]) + by);
  return out + count;
}

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  if (type.id() != arrow::Type::EXTENSION) return type;
  return StorageOf(*static_cast<const arrow::ExtensionType&>(type).storage_type());
}

}  // namespace

int64_t CountDictionaries(const arrow::DataType& type) {
  const arrow::DataType& storage = StorageOf(type);
  if (storage.id() == arrow::Type::DICTIONARY) {
    return 1 + CountDictionaries(*static_cast<const arrow::DictionaryType&>(storage).value_type());
  }
  int64_t count = 0;
  for (const auto& field : storage.fields()) count += CountDictionaries(*field->type());
  return count;
}

void BodyEncoder::Begin(int64_t rows, int64_t first_dictionary_id) {
  body_start_ = arena_->size();
  next_dictionary_id_ = first_dictionary_id;
  content_.Clear();
  content_.rows = rows;
}

const BatchContent& BodyEncoder::End() {
  content_.body_size = arena_->size() - body_start_;
  return content_;
}

Result<uint8_t*> BodyEncoder::StartBuffer(int64_t size) {
  buffer_start_ = arena_->size();
  return arena_->Extend(size);
}

// What lies between the buffer's start and the arena's end is the buffer.
Status BodyEncoder::EndBuffer() {
  content_.buffers.push_back({buffer_start_ - body_start_, arena_->size() - buffer_start_});
  return arena_->Pad();
}

// `buffer`: 0 gathers validity, where arrays without nulls count as all ones.
Result<int64_t> BodyEncoder::GatherBits(Sources sources, int64_t rows, size_t buffer, uint8_t* out) {
  BitAppender bits(out);
  for (const ColumnRows& source : sources) {
    const uint8_t* from = buffer == 0 ? source.Validity() : source.Buffer<uint8_t>(buffer);
    if (from == nullptr) {
      for (int64_t i = 0; i < source.count; ++i) bits.Append(true);
    } else {
      source.ForEach([&](int64_t i) { bits.Append(arrow::bit_util::GetBit(from, i)); });
    }
  }
  return bits.Finish();
}

Status BodyEncoder::AddNode(Sources sources, int64_t rows) {
  int64_t nulls = 0;
  ARROW_ASSIGN_OR_RAISE(uint8_t* bits, StartBuffer(0));
  if (HasNulls(sources)) {
    ARROW_ASSIGN_OR_RAISE(bits, arena_->Extend(arrow::bit_util::BytesForBits(rows)));
    ARROW_ASSIGN_OR_RAISE(const int64_t valid, GatherBits(sources, rows, 0, bits));
    nulls = rows - valid;
    if (nulls == 0) arena_->Truncate(buffer_start_);
  }
  content_.nodes.push_back({rows, nulls});
  return EndBuffer();
}

Status BodyEncoder::AddBool(Sources sources, int64_t rows) {
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, StartBuffer(arrow::bit_util::BytesForBits(rows)));
  ARROW_RETURN_NOT_OK(GatherBits(sources, rows, 1, out).status());
  return EndBuffer();
}

Status BodyEncoder::AddFixed(int64_t width, Sources sources, int64_t rows) {
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, StartBuffer(rows * width));
  switch (width) {
    case 1:
      GatherFixed<1>(sources, out);
      break;
    case 2:
      GatherFixed<2>(sources, out);
      break;
    case 4:
      GatherFixed<4>(sources, out);
      break;
    case 8:
      GatherFixed<8>(sources, out);
      break;
    case 16:
      GatherFixed<16>(sources, out);
      break;
    case 32:
      GatherFixed<32>(sources, out);
      break;
    default:
      GatherWide(static_cast<size_t>(width), sources, out);
  }
  return EndBuffer();
}

// Offsets from 0; returns the last, the number of elements or bytes.
template <typename Offset>
Result<int64_t> BodyEncoder::WriteOffsets(Sources sources, int64_t rows) {
  ARROW_ASSIGN_OR_RAISE(uint8_t* at, StartBuffer((rows + 1) * static_cast<int64_t>(sizeof(Offset))));
  auto* out = reinterpret_cast<Offset*>(at);
  int64_t end = 0;
  *out++ = 0;
  for (const ColumnRows& source : sources) {
    if (source.count == 0) continue;
    const auto* offsets = source.Buffer<Offset>(1);
    if (source.rows == nullptr) {
      out = MoveOffsets(offsets + source.base, source.count, end, out);
      end += offsets[source.base + source.count] - offsets[source.base];
      continue;
    }
    source.ForEach([&](int64_t i) {
      end += offsets[i + 1] - offsets[i];
      *out++ = static_cast<Offset>(end);
    });
  }
  if (end > std::numeric_limits<Offset>::max()) {
    return Status::CapacityError(fmt::format("{} bytes or elements of one column do not fit a shuffle block", end));
  }
  if constexpr (sizeof(Offset) == 4) offsets_.push_back({buffer_start_, rows + 1});
  ARROW_RETURN_NOT_OK(EndBuffer());
  return end;
}

template Result<int64_t> BodyEncoder::WriteOffsets<int32_t>(Sources, int64_t);
template Result<int64_t> BodyEncoder::WriteOffsets<int64_t>(Sources, int64_t);

template <typename Offset>
Status BodyEncoder::AddBinary(Sources sources, int64_t rows) {
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, WriteOffsets<Offset>(sources, rows));
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, StartBuffer(size));
  for (const ColumnRows& source : sources) out = GatherBytes<Offset>(source, out);
  return EndBuffer();
}

Status BodyEncoder::AddViews(Sources sources, int64_t rows) {
  using View = arrow::BinaryViewType::c_type;
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  ARROW_ASSIGN_OR_RAISE(uint8_t* at, StartBuffer(rows * static_cast<int64_t>(sizeof(View))));
  int64_t size = 0;
  auto* out = reinterpret_cast<View*>(at);
  for (const ColumnRows& source : sources) {
    const uint8_t* validity = source.Validity();
    source.ForEach([&](int64_t i) {
      View view = source.Buffer<View>(1)[i];
      if (validity != nullptr && !arrow::bit_util::GetBit(validity, i)) view = View{};
      if (!view.is_inline()) {
        view.ref.buffer_index = 0;
        view.ref.offset = static_cast<int32_t>(size);
        size += view.size();
      }
      *out++ = view;
    });
  }
  if (size > std::numeric_limits<int32_t>::max()) {
    return Status::CapacityError(fmt::format("{} bytes of one column do not fit a shuffle block", size));
  }
  ARROW_RETURN_NOT_OK(EndBuffer());
  ARROW_ASSIGN_OR_RAISE(uint8_t* bytes, StartBuffer(size));
  for (const ColumnRows& source : sources) {
    const uint8_t* validity = source.Validity();
    source.ForEach([&](int64_t i) {
      const View& view = source.Buffer<View>(1)[i];
      if (view.is_inline() || (validity != nullptr && !arrow::bit_util::GetBit(validity, i))) return;
      const auto& buffer = source.data->buffers[static_cast<size_t>(view.ref.buffer_index) + 2];
      std::memcpy(bytes, buffer->data() + view.ref.offset, static_cast<size_t>(view.size()));
      bytes += view.size();
    });
  }
  content_.variadic_counts.push_back(1);
  return EndBuffer();
}

Status BodyEncoder::AddDictionary(const arrow::DataType& type, Sources sources, int64_t rows) {
  const auto& dictionary = static_cast<const arrow::DictionaryType&>(type);
  const int64_t id = next_dictionary_id_;
  next_dictionary_id_ += CountDictionaries(type);
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  const int64_t width = dictionary.index_type()->byte_width();
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, StartBuffer(rows * width));
  ARROW_RETURN_NOT_OK(dictionaries_->Renumber(id, dictionary, sources, out));
  return EndBuffer();
}

Status BodyEncoder::Add(const arrow::DataType& any, Sources sources, int64_t rows) {
  const arrow::DataType& type = StorageOf(any);
  switch (type.id()) {
    case arrow::Type::NA:
      content_.nodes.push_back({rows, rows});
      return Status::OK();
    case arrow::Type::BOOL:
      return AddBool(sources, rows);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return AddBinary<int32_t>(sources, rows);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return AddBinary<int64_t>(sources, rows);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return AddViews(sources, rows);
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return AddList<int32_t>(type, sources, rows);
    case arrow::Type::LARGE_LIST:
      return AddList<int64_t>(type, sources, rows);
    case arrow::Type::LIST_VIEW:
      return AddListView<int32_t>(type, sources, rows);
    case arrow::Type::LARGE_LIST_VIEW:
      return AddListView<int64_t>(type, sources, rows);
    case arrow::Type::FIXED_SIZE_LIST:
      return AddFixedList(type, sources, rows);
    case arrow::Type::STRUCT:
      return AddStruct(type, sources, rows);
    case arrow::Type::SPARSE_UNION:
    case arrow::Type::DENSE_UNION:
      return AddUnion(type, sources, rows);
    case arrow::Type::DICTIONARY:
      return AddDictionary(type, sources, rows);
    case arrow::Type::RUN_END_ENCODED:
      return AddRunEnds(type, sources, rows);
    default:
      if (!arrow::is_fixed_width(type.id()))
        return NotImplemented("columns of type {} in shuffle blocks", type.ToString());
      return AddFixed(type.byte_width(), sources, rows);
  }
}

}  // namespace calve::ipc
