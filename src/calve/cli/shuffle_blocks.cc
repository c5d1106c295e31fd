#include "calve/cli/shuffle_blocks.h"

#include "calve/cli/interrupt.h"

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <filesystem>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

Result<ShuffleIndex> ReadIndex(const std::string& path, int64_t data_size) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(const auto bytes, file->Read(size));
  auto index = ParseShuffleIndex({bytes->data(), static_cast<size_t>(bytes->size())}, data_size);
  if (index.ok()) return index;
  return Status(index.status().code(), fmt::format("{}: {}", path, index.status().message()));
}

Result<ShuffleTaskFiles> OpenFile(const ShuffleBlocksFlags& flags) {
  ShuffleTaskFiles file;
  file.data_path = flags.data;
  ARROW_ASSIGN_OR_RAISE(auto data, arrow::io::ReadableFile::Open(flags.data));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, data->GetSize());
  std::filesystem::path index = flags.index;
  if (index.empty()) index = std::filesystem::path(flags.data).replace_extension(".index");
  if (!flags.index.empty() || (std::filesystem::exists(index) && index != flags.data)) {
    ARROW_ASSIGN_OR_RAISE(file.index, ReadIndex(index.string(), size));
  } else {
    file.index.offsets = {0, size};
  }
  return file;
}

int64_t BytesOf(const std::vector<ShuffleTaskFiles>& files, std::optional<int32_t> partition) {
  int64_t bytes = 0;
  for (const auto& file : files) {
    const auto& offsets = file.index.offsets;
    if (partition) {
      bytes += offsets[static_cast<size_t>(*partition) + 1] - offsets[static_cast<size_t>(*partition)];
    } else {
      bytes += offsets.back();
    }
  }
  return bytes;
}

/// The blocks of one partition of one file.
class PartVisit {
 public:
  PartVisit(const std::function<Status(const ShuffleBlock&)>& visit, Session* session, Progress* progress)
      : visit_(visit), session_(session), progress_(progress) {}

  Status Run(const ShuffleTaskFiles& file, int32_t partition, const ShuffleBlockReadOptions& options) {
    const auto& offsets = file.index.offsets;
    const int64_t begin = offsets[static_cast<size_t>(partition)], end = offsets[static_cast<size_t>(partition) + 1];
    if (begin == end) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto reader,
                          ShuffleBlockReader::Open(file.data_path, begin, end - begin, options, session_->context()));
    ShuffleBlock block{&file, partition, 0, reader.get(), nullptr};
    while (true) {
      ARROW_RETURN_NOT_OK(InterruptToken().Poll());
      const int64_t decoded_before = reader->metrics().decoded_bytes;
      ARROW_ASSIGN_OR_RAISE(block.batch, reader->Next());
      if (block.batch == nullptr) return Status::OK();
      block.decoded_bytes = reader->metrics().decoded_bytes - decoded_before;
      ARROW_RETURN_NOT_OK(visit_(block));
      progress_->rows += block.batch->num_rows();
      progress_->bytes += reader->header().block_size();
      if (session_->context().progress) session_->context().progress(*progress_);
    }
  }

 private:
  const std::function<Status(const ShuffleBlock&)>& visit_;
  Session* session_;
  Progress* progress_;
};

}  // namespace

void AddShuffleBlocksFlags(CLI::App* command, ShuffleBlocksFlags* flags) {
  command->add_option("DATA", flags->data, "A shuffle's folder, calve's or Comet's, or one data file")->required();
  command
      ->add_option("--index", flags->index,
                   "The index of a data file (default: the same name with .index; both byte orders)")
      ->type_name("FILE");
  command->add_option("--partition", flags->partition, "Only this partition, from 0 on")->type_name("K");
}

Result<std::vector<ShuffleTaskFiles>> OpenShuffleBlocks(const ShuffleBlocksFlags& flags, const Context& context) {
  std::vector<ShuffleTaskFiles> files;
  if (std::filesystem::is_directory(flags.data)) {
    if (!flags.index.empty()) return UsageError("--index goes with one data file, not with a folder");
    ARROW_ASSIGN_OR_RAISE(const auto shuffle, ShuffleReader::Open(flags.data, {}, context));
    files = shuffle->tasks();
    if (files.empty()) return Status::Invalid(fmt::format("{} holds no shuffle", flags.data));
  } else {
    ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(flags));
    files.push_back(std::move(file));
  }
  for (const auto& file : files) {
    if (!flags.partition || (*flags.partition >= 0 && *flags.partition < file.index.partitions())) continue;
    return UsageError(
        fmt::format("no partition {}: {} has {}", *flags.partition, file.data_path, file.index.partitions()));
  }
  return files;
}

Status VisitShuffleBlocks(const std::vector<ShuffleTaskFiles>& files, std::optional<int32_t> partition,
                          const ShuffleBlockReadOptions& options, Session* session,
                          const std::function<Status(const ShuffleBlock&)>& visit) {
  Progress progress;
  progress.total_bytes = BytesOf(files, partition);
  PartVisit part(visit, session, &progress);
  for (const auto& file : files) {
    const int32_t begin = partition.value_or(0), end = partition ? *partition + 1 : file.index.partitions();
    for (int32_t p = begin; p < end; ++p) ARROW_RETURN_NOT_OK(part.Run(file, p, options));
  }
  session->bar().Clear();
  return Status::OK();
}

}  // namespace calve::cli
