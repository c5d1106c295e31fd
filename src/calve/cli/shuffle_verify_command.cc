#include "calve/cli/quantity_text.h"
#include "calve/cli/shuffle_blocks.h"
#include "calve/cli/shuffle_command.h"

#include <arrow/record_batch.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>

namespace calve::cli {

namespace {

using arrow::Status;

struct VerifyFlags {
  CommonFlags common;
  ShuffleBlocksFlags blocks;
};

/// Opening a partition checks its checksum, where there is one.
Status VerifyChecksums(const VerifyFlags& flags, const std::vector<ShuffleTaskFiles>& files, const Context& context,
                       int64_t* checked) {
  if (!std::filesystem::is_directory(flags.blocks.data)) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto shuffle, ShuffleReader::Open(flags.blocks.data, {}, context));
  for (size_t task = 0; task < files.size(); ++task) {
    if (files[task].checksums.empty()) continue;
    const int32_t begin = flags.blocks.partition.value_or(0);
    const int32_t end = flags.blocks.partition ? begin + 1 : shuffle->partitions();
    for (int32_t partition = begin; partition < end; ++partition) {
      ARROW_ASSIGN_OR_RAISE(const auto rows, shuffle->ReadPartition(partition, task));
      std::shared_ptr<arrow::RecordBatch> first;
      ARROW_RETURN_NOT_OK(rows->ReadNext(&first));
      ++*checked;
    }
  }
  return Status::OK();
}

Status RunVerify(const VerifyFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(const auto files, OpenShuffleBlocks(flags.blocks, session.context()));
  int64_t blocks = 0, rows = 0, checksums = 0;
  ARROW_RETURN_NOT_OK(
      VisitShuffleBlocks(files, flags.blocks.partition, {}, &session, [&](const ShuffleBlock& block) -> Status {
        ++blocks;
        rows += block.batch->num_rows();
        return Status::OK();
      }));
  ARROW_RETURN_NOT_OK(VerifyChecksums(flags, files, session.context(), &checksums));
  if (flags.common.json) {
    return session.PrintJson({{"files", files.size()},
                              {"blocks", blocks},
                              {"rows", rows},
                              {"checksums", checksums},
                              {"seconds", session.seconds()}});
  }
  session.Note(fmt::format("{}: {} of {} are good, {} verified, in {}", flags.blocks.data, Counted(blocks, "block"),
                           Counted(rows, "row"), Counted(checksums, "checksum"), SecondsText(session.seconds())));
  return Status::OK();
}

}  // namespace

void AddShuffleVerify(CLI::App* shuffle, Action* action) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command = shuffle->add_subcommand("verify", "Check every block of a shuffle, and its checksums");
  AddShuffleBlocksFlags(command, &flags->blocks);
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Example:\n"
      "  calve shuffle verify shuffle_0_1_0.data --index shuffle_0_1_0.index");
  command->callback([flags, action] { *action = [flags] { return RunVerify(*flags); }; });
}

}  // namespace calve::cli
