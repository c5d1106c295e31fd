#include "calve/cli/batch_source.h"
#include "calve/cli/shuffle_command.h"
#include "calve/cli/shuffle_target.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <memory>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

struct ShuffleWriteFlags {
  CommonFlags common;
  std::vector<std::string> files;
  ShuffleTargetFlags target;
};

/// The schema that all files have; metadata may differ.
Result<std::shared_ptr<arrow::Schema>> CommonSchema(const std::vector<std::string>& files, const Context& context) {
  std::shared_ptr<arrow::Schema> common;
  for (const std::string& file : files) {
    ARROW_ASSIGN_OR_RAISE(const auto batches, OpenBatches(file, {}, context));
    if (common == nullptr) common = batches->schema();
    if (common->Equals(*batches->schema(), false)) continue;
    return Status::Invalid(fmt::format("{} has other columns than {}: [{}], not [{}]", file, files.front(),
                                       batches->schema()->ToString(), common->ToString()));
  }
  return common;
}

Status RunShuffleWrite(const ShuffleWriteFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(const auto files, ExpandFiles(flags.files));
  ARROW_ASSIGN_OR_RAISE(const auto schema, CommonSchema(files, session.context()));
  std::vector<ShuffleSource> sources;
  for (const std::string& file : files) {
    sources.push_back({static_cast<int64_t>(sources.size()), [&session, file](const std::vector<std::string>& columns) {
                         return OpenBatches(file, columns, session.context());
                       }});
  }
  return WriteShuffleTarget(flags.target, schema, sources, &session);
}

}  // namespace

void AddShuffleWrite(CLI::App* shuffle, Action* action) {
  auto flags = std::make_shared<ShuffleWriteFlags>();
  CLI::App* command = shuffle->add_subcommand("write", "Write the rows of files as a shuffle, one map task a file");
  command->add_option("IN", flags->files, "Parquet and Arrow IPC files, and globs")->required();
  AddShuffleTargetFlags(command, &flags->target);
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Examples:\n"
      "  calve shuffle write 'orders-*.parquet' --partitions 200 --by customer_id --to /tmp/shuffle\n"
      "  calve shuffle write day.arrow --partitions 16 --by \"ts desc\" --mode range --codec zstd --to out");
  command->callback([flags, action] { *action = [flags] { return RunShuffleWrite(*flags); }; });
}

}  // namespace calve::cli
