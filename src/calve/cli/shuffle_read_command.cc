#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/row_sink.h"
#include "calve/cli/shuffle_blocks.h"
#include "calve/cli/shuffle_command.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

struct ReadFlags {
  CommonFlags common;
  ShuffleBlocksFlags blocks;
  std::string to;
  bool force = false;
};

/// Blocks of one shuffle differ in which columns are dictionaries: the output has values.
std::shared_ptr<arrow::Schema> WithoutDictionaries(const arrow::Schema& schema) {
  arrow::FieldVector fields;
  for (const auto& field : schema.fields()) {
    const auto& type = *field->type();
    fields.push_back(type.id() == arrow::Type::DICTIONARY
                         ? field->WithType(static_cast<const arrow::DictionaryType&>(type).value_type())
                         : field);
  }
  return arrow::schema(fields, schema.metadata());
}

/// The schema of the first block, or of a folder without any.
Result<std::shared_ptr<arrow::Schema>> FindSchema(const ReadFlags& flags, const std::vector<ShuffleTaskFiles>& files,
                                                  const Context& context) {
  if (std::filesystem::is_directory(flags.blocks.data)) {
    ARROW_ASSIGN_OR_RAISE(const auto shuffle, ShuffleReader::Open(flags.blocks.data, {}, context));
    if (shuffle->schema() != nullptr) return WithoutDictionaries(*shuffle->schema());
  }
  for (const auto& file : files) {
    ARROW_ASSIGN_OR_RAISE(auto reader, ShuffleBlockReader::Open(file.data_path, 0, {}, {}, context));
    ARROW_ASSIGN_OR_RAISE(const auto batch, reader->Next());
    if (batch != nullptr) return WithoutDictionaries(*batch->schema());
  }
  return Status::Invalid(fmt::format("{}: no block tells the schema", flags.blocks.data));
}

Status RunRead(const ReadFlags& flags) {
  Session session(flags.common);
  const auto format = FormatByEnding(flags.to);
  if (!format) return UsageError(fmt::format("--to {}: end it in .parquet, .arrow, .jsonl or .csv", flags.to));
  ARROW_ASSIGN_OR_RAISE(const auto files, OpenShuffleBlocks(flags.blocks, session.context()));
  ShuffleBlockReadOptions options;
  ARROW_ASSIGN_OR_RAISE(options.schema, FindSchema(flags, files, session.context()));
  ARROW_ASSIGN_OR_RAISE(auto output, Output::Open(flags.to, flags.force));
  ARROW_ASSIGN_OR_RAISE(auto sink, RowSink::Make(*format, output->stream(), options.schema, {}, session.context()));
  int64_t blocks = 0, rows = 0;
  ARROW_RETURN_NOT_OK(
      VisitShuffleBlocks(files, flags.blocks.partition, options, &session, [&](const ShuffleBlock& block) -> Status {
        ++blocks;
        rows += block.batch->num_rows();
        return sink->Write(*block.batch);
      }));
  ARROW_RETURN_NOT_OK(sink->Finish());
  ARROW_RETURN_NOT_OK(output->Commit());
  if (flags.common.json) {
    return session.PrintJson({{"blocks", blocks}, {"rows", rows}, {"to", flags.to}, {"seconds", session.seconds()}});
  }
  session.Note(fmt::format("{} of {} to {} in {}", Counted(rows, "row"), Counted(blocks, "block"), flags.to,
                           SecondsText(session.seconds())));
  return Status::OK();
}

}  // namespace

void AddShuffleRead(CLI::App* shuffle, Action* action) {
  auto flags = std::make_shared<ReadFlags>();
  CLI::App* command = shuffle->add_subcommand("read", "Write the rows of a shuffle's blocks to a file");
  AddShuffleBlocksFlags(command, &flags->blocks);
  command->add_option("--to", flags->to, "The file: .parquet, .arrow, .jsonl or .csv")->required()->type_name("OUT");
  command->add_flag("--force", flags->force, "Replace the file where it is there");
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Examples:\n"
      "  calve shuffle read shuffle_0_1_0.data --partition 3 --to rows.parquet\n"
      "  calve shuffle read /tmp/shuffle --to all.arrow");
  command->callback([flags, action] { *action = [flags] { return RunRead(*flags); }; });
}

}  // namespace calve::cli
