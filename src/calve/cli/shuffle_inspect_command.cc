#include "calve/cli/batch_text.h"
#include "calve/cli/json_text.h"
#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/shuffle_blocks.h"
#include "calve/cli/shuffle_command.h"

#include <arrow/api.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

struct InspectFlags {
  CommonFlags common;
  ShuffleBlocksFlags blocks;
  std::string view;
};

struct CodecTotals {
  int64_t blocks = 0, rows = 0, bytes = 0, decoded_bytes = 0;
};

/// What is known of all blocks.
struct Summary {
  CodecTotals all;
  std::map<std::string, CodecTotals> codecs;
  std::vector<std::shared_ptr<arrow::Schema>> schemas;
  std::vector<int64_t> schema_blocks;

  size_t Add(const ShuffleBlock& block) {
    const ShuffleBlockHeader& header = block.reader->header();
    for (CodecTotals* totals : {&all, &codecs[std::string(ToString(header.codec))]}) {
      ++totals->blocks;
      totals->rows += block.batch->num_rows();
      totals->bytes += header.block_size();
      totals->decoded_bytes += block.decoded_bytes;
    }
    size_t which = 0;
    while (which < schemas.size() && !schemas[which]->Equals(*block.batch->schema(), true)) ++which;
    if (which == schemas.size()) {
      schemas.push_back(block.batch->schema());
      schema_blocks.push_back(0);
    }
    ++schema_blocks[which];
    return which;
  }
};

double Ratio(const CodecTotals& totals) {
  return totals.bytes == 0 ? 0 : static_cast<double>(totals.decoded_bytes) / static_cast<double>(totals.bytes);
}

Json ToJson(const CodecTotals& totals) {
  return {{"blocks", totals.blocks},
          {"rows", totals.rows},
          {"bytes", totals.bytes},
          {"decoded_bytes", totals.decoded_bytes},
          {"ratio", Ratio(totals)}};
}

Json ToJson(const std::vector<ShuffleTaskFiles>& files, const Summary& summary) {
  Json json = ToJson(summary.all);
  json["files"] = Json::array();
  for (const auto& file : files) {
    json["files"].push_back(
        {{"data", file.data_path},
         {"bytes", file.index.offsets.back()},
         {"partitions", file.index.partitions()},
         {"index_order", file.index.order == ShuffleIndexOrder::kBigEndian ? "big-endian" : "little-endian"},
         {"checksums", !file.checksums.empty()}});
  }
  json["codecs"] = Json::object();
  for (const auto& [codec, totals] : summary.codecs) json["codecs"][codec] = ToJson(totals);
  json["schemas"] = Json::array();
  for (size_t i = 0; i < summary.schemas.size(); ++i) {
    Json fields = Json::array();
    for (const auto& field : summary.schemas[i]->fields()) {
      fields.push_back({{"name", field->name()}, {"type", field->type()->ToString()}, {"nullable", field->nullable()}});
    }
    json["schemas"].push_back({{"blocks", summary.schema_blocks[i]}, {"fields", std::move(fields)}});
  }
  return json;
}

std::string TotalsText(const CodecTotals& totals) {
  return fmt::format("{}, {}, {} decoded to {} ({:.2f} x)", Counted(totals.blocks, "block"),
                     Counted(totals.rows, "row"), SizeText(totals.bytes), SizeText(totals.decoded_bytes),
                     Ratio(totals));
}

std::string SummaryText(const std::vector<ShuffleTaskFiles>& files, const Summary& summary) {
  std::string text = fmt::format("{} of {}: {}\n", Counted(static_cast<int64_t>(files.size()), "data file"),
                                 Counted(files.front().index.partitions(), "partition"), TotalsText(summary.all));
  for (const auto& [codec, totals] : summary.codecs) text += fmt::format("  {}: {}\n", codec, TotalsText(totals));
  for (size_t i = 0; i < summary.schemas.size(); ++i) {
    text += fmt::format("\nschema {}, of {}:\n", i, Counted(summary.schema_blocks[i], "block"));
    for (const auto& field : summary.schemas[i]->fields()) text += "  " + OneLine(field->ToString()) + "\n";
  }
  return text;
}

/// One row a block.
class BlockRows {
 public:
  Status Add(const ShuffleBlock& block, size_t schema) {
    const ShuffleBlockHeader& header = block.reader->header();
    ARROW_RETURN_NOT_OK(file_.Append(block.file->data_path));
    ARROW_RETURN_NOT_OK(codec_.Append(std::string(ToString(header.codec))));
    const std::array<int64_t, 7> numbers = {
        block.partition,         block.reader->block_offset(), header.block_size(),         block.decoded_bytes,
        block.batch->num_rows(), header.field_count,           static_cast<int64_t>(schema)};
    for (size_t i = 0; i < numbers.size(); ++i) ARROW_RETURN_NOT_OK(numbers_[i].Append(numbers[i]));
    return Status::OK();
  }

  Result<std::shared_ptr<arrow::RecordBatch>> Finish() {
    arrow::FieldVector fields = {arrow::field("file", arrow::utf8()), arrow::field("codec", arrow::utf8())};
    arrow::ArrayVector columns(2);
    ARROW_RETURN_NOT_OK(file_.Finish(&columns[0]));
    ARROW_RETURN_NOT_OK(codec_.Finish(&columns[1]));
    for (size_t i = 0; i < numbers_.size(); ++i) {
      fields.push_back(arrow::field(kNames[i], arrow::int64()));
      columns.emplace_back();
      ARROW_RETURN_NOT_OK(numbers_[i].Finish(&columns.back()));
    }
    return arrow::RecordBatch::Make(arrow::schema(fields), columns[0]->length(), columns);
  }

 private:
  static constexpr std::array<const char*, 7> kNames = {"partition", "offset",      "bytes", "decoded_bytes",
                                                        "rows",      "field_count", "schema"};
  arrow::StringBuilder file_, codec_;
  std::array<arrow::Int64Builder, 7> numbers_;
};

Status RunInspect(const InspectFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(const auto files, OpenShuffleBlocks(flags.blocks, session.context()));
  Summary summary;
  BlockRows rows;
  ARROW_RETURN_NOT_OK(
      VisitShuffleBlocks(files, flags.blocks.partition, {}, &session, [&](const ShuffleBlock& block) -> Status {
        const size_t schema = summary.Add(block);
        return flags.view == "blocks" ? rows.Add(block, schema) : Status::OK();
      }));
  if (flags.view == "blocks") {
    ARROW_ASSIGN_OR_RAISE(const auto batch, rows.Finish());
    return PrintBatch(*batch, Format::kTable, &session);
  }
  if (flags.common.json) return session.PrintJson(ToJson(files, summary));
  return Print(SummaryText(files, summary));
}

}  // namespace

void AddShuffleInspect(CLI::App* shuffle, Action* action) {
  auto flags = std::make_shared<InspectFlags>();
  CLI::App* command = shuffle->add_subcommand("inspect", "Show the blocks of a shuffle: tags, sizes, schemas, ratios");
  AddShuffleBlocksFlags(command, &flags->blocks);
  command->add_option("--view", flags->view, "summary (default), or blocks: a row a block")
      ->check(CLI::IsMember({"summary", "blocks"}));
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Examples:\n"
      "  calve shuffle inspect blockmgr-1/0c/shuffle_0_1_0.data\n"
      "  calve shuffle inspect /tmp/shuffle --partition 7 --view blocks");
  command->callback([flags, action] { *action = [flags] { return RunInspect(*flags); }; });
}

}  // namespace calve::cli
