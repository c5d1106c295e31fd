// Files of a shuffle's folder. S: the shuffle, M: the map task, P: partitions.
//
//   shuffle_S.schema                   an Arrow IPC schema message
//   shuffle_S_M_0.data                 the blocks of partition 0, of partition 1, ..
//   shuffle_S_M_0.index                P + 1 offsets (i64) into the data file
//   shuffle_S_M_0.checksum.CRC32C      P checksums (i64, big-endian), each of a partition's bytes in the data file
#include "calve/shuffle/shuffle_files.h"

#include "calve/base/status.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/type.h>

#include <bit>
#include <charconv>
#include <cstring>

namespace calve {

namespace {

uint64_t Reversed(uint64_t value) { return __builtin_bswap64(value); }

std::vector<int64_t> OffsetsOf(std::span<const uint8_t> bytes, ShuffleIndexOrder order) {
  static_assert(std::endian::native == std::endian::little);
  std::vector<int64_t> offsets(bytes.size() / 8);
  for (size_t i = 0; i < offsets.size(); ++i) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + 8 * i, 8);
    offsets[i] = static_cast<int64_t>(order == ShuffleIndexOrder::kBigEndian ? Reversed(value) : value);
  }
  return offsets;
}

Status CheckAscending(const std::vector<int64_t>& offsets) {
  if (offsets.front() != 0) return Invalid("the first offset is {}, not 0", offsets.front());
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) {
      return Invalid("offset {} at byte {} is smaller than the one before, {}", offsets[i], 8 * i, offsets[i - 1]);
    }
  }
  return Status::OK();
}

}  // namespace

Result<ShuffleIndex> ParseShuffleIndex(std::span<const uint8_t> bytes, int64_t data_size) {
  if (bytes.size() % 8 != 0 || bytes.size() < 16) {
    return Invalid("a shuffle index of {} bytes: it must hold at least two offsets of 8 bytes", bytes.size());
  }
  for (const auto order : {ShuffleIndexOrder::kBigEndian, ShuffleIndexOrder::kLittleEndian}) {
    auto offsets = OffsetsOf(bytes, order);
    if (offsets.back() != data_size) continue;
    ARROW_RETURN_NOT_OK(WithContext(CheckAscending(offsets), "shuffle index"));
    return ShuffleIndex{std::move(offsets), order};
  }
  return Invalid("shuffle index: the last offset is {} (or {} in the other byte order), the data file has {} bytes",
                 OffsetsOf(bytes, ShuffleIndexOrder::kBigEndian).back(),
                 OffsetsOf(bytes, ShuffleIndexOrder::kLittleEndian).back(), data_size);
}

namespace shuffle {

namespace {

void AppendNumber(uint64_t value, ShuffleIndexOrder order, std::string* out) {
  if (order == ShuffleIndexOrder::kBigEndian) value = Reversed(value);
  out->append(reinterpret_cast<const char*>(&value), 8);
}

/// Takes a number from the front of `text`.
std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || value < 0 || text->front() == '-') return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return value;
}

bool TakeText(std::string_view expected, std::string_view* text) {
  if (!text->starts_with(expected)) return false;
  text->remove_prefix(expected.size());
  return true;
}

}  // namespace

TaskPaths PathsOf(const std::string& folder, int64_t task) {
  const std::string stem = fmt::format("{}/shuffle_0_{}_0", folder, task);
  return {stem + ".data", stem + ".index", stem + ".checksum.CRC32C"};
}

std::string SchemaPathOf(const std::string& folder, int64_t shuffle) {
  return fmt::format("{}/shuffle_{}.schema", folder, shuffle);
}

std::optional<TaskName> ParseIndexName(std::string_view name) {
  if (!TakeText("shuffle_", &name)) return std::nullopt;
  const auto shuffle = TakeNumber(&name);
  if (!shuffle || !TakeText("_", &name)) return std::nullopt;
  const auto task = TakeNumber(&name);
  if (!task || name != "_0.index") return std::nullopt;
  return TaskName{*shuffle, *task};
}

std::string IndexBytes(const ShuffleIndex& index) {
  std::string bytes;
  for (const int64_t offset : index.offsets) AppendNumber(static_cast<uint64_t>(offset), index.order, &bytes);
  return bytes;
}

std::string ChecksumBytes(const std::vector<uint32_t>& checksums) {
  std::string bytes;
  for (const uint32_t checksum : checksums) AppendNumber(checksum, ShuffleIndexOrder::kBigEndian, &bytes);
  return bytes;
}

Result<std::vector<uint32_t>> ParseChecksums(std::string_view bytes, int32_t partitions) {
  if (bytes.size() != static_cast<size_t>(partitions) * 8) {
    return Invalid("{} bytes of checksums, {} partitions need {}", bytes.size(), partitions, int64_t{8} * partitions);
  }
  std::vector<uint32_t> checksums;
  const std::span span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  for (const int64_t value : OffsetsOf(span, ShuffleIndexOrder::kBigEndian)) {
    if (value < 0 || value > UINT32_MAX) return Invalid("checksum {} has more than 32 bits", value);
    checksums.push_back(static_cast<uint32_t>(value));
  }
  return checksums;
}

Result<std::string> SchemaBytes(const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(const auto message, arrow::ipc::SerializeSchema(schema));
  return message->ToString();
}

Result<std::shared_ptr<arrow::Schema>> ParseSchemaBytes(std::string bytes) {
  arrow::io::BufferReader input(arrow::Buffer::FromString(std::move(bytes)));
  arrow::ipc::DictionaryMemo memo;
  return arrow::ipc::ReadSchema(&input, &memo);
}

}  // namespace shuffle

}  // namespace calve
