#include "calve/cli/shuffle_target.h"

#include "calve/cli/quantity_text.h"
#include "calve/table_partitioner.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <CLI/Validators.hpp>

#include <algorithm>
#include <numeric>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// Takes `suffix` and the space in front of it off the end of `text`.
bool TakeSuffix(const std::string& suffix, std::string* text) {
  const std::string ending = " " + suffix;
  if (text->size() <= ending.size() || !text->ends_with(ending)) return false;
  *text = Trimmed(text->substr(0, text->size() - ending.size()));
  return true;
}

RangeKey ParseKey(std::string text) {
  RangeKey key;
  if (TakeSuffix("nulls last", &text)) {
    key.nulls_first = false;
  } else {
    TakeSuffix("nulls first", &text);
  }
  key.descending = TakeSuffix("desc", &text);
  if (!key.descending) TakeSuffix("asc", &text);
  key.column = text;
  return key;
}

Result<ShuffleWriteOptions> OptionsOf(const ShuffleTargetFlags& flags) {
  ShuffleWriteOptions options;
  if (flags.offsets_as_lengths && flags.codec != "zstd") {
    return UsageError("--offsets-as-lengths is a form of --codec zstd");
  }
  if (flags.level && flags.codec != "zstd") return UsageError("--level is zstd's, --codec is " + flags.codec);
  if (flags.codec == "none") options.blocks.codec = ShuffleCodec::kNone;
  if (flags.codec == "snappy") options.blocks.codec = ShuffleCodec::kSnappy;
  if (flags.codec == "zstd") {
    options.blocks.codec = flags.offsets_as_lengths ? ShuffleCodec::kZstdOffsetsAsLengths : ShuffleCodec::kZstd;
  }
  options.blocks.level = flags.level;
  if (flags.budget_bytes) options.memory_budget_bytes = *flags.budget_bytes;
  if (flags.block_bytes) options.block_bytes = *flags.block_bytes;
  if (options.memory_budget_bytes < 1 || options.block_bytes < 1) return UsageError("sizes must be positive");
  options.checksums = flags.checksums;
  if (flags.index_order == "little") options.index_order = ShuffleIndexOrder::kLittleEndian;
  return options;
}

std::vector<std::string> NamesOf(const std::vector<RangeKey>& keys) {
  std::vector<std::string> names;
  for (const RangeKey& key : keys) names.push_back(key.column);
  return names;
}

/// Rows at even distances, `most` of them.
Result<std::shared_ptr<arrow::RecordBatch>> Thinned(const std::shared_ptr<arrow::RecordBatch>& batch, int64_t most) {
  if (batch->num_rows() <= most) return batch;
  arrow::Int64Builder rows;
  for (int64_t i = 0; i < most; ++i) ARROW_RETURN_NOT_OK(rows.Append(batch->num_rows() * i / most));
  ARROW_ASSIGN_OR_RAISE(const auto indices, rows.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto taken, arrow::compute::Take(arrow::Datum(batch), arrow::Datum(indices)));
  return taken.record_batch();
}

/// The key columns of some rows of every batch of every source.
Result<std::shared_ptr<arrow::RecordBatch>> Sample(const std::vector<ShuffleSource>& sources,
                                                   const std::vector<RangeKey>& keys, int32_t partitions) {
  const int64_t rows_a_batch = std::clamp<int64_t>(partitions / 4, 100, 4096);
  arrow::RecordBatchVector some;
  std::shared_ptr<arrow::Schema> schema;
  for (const ShuffleSource& source : sources) {
    ARROW_ASSIGN_OR_RAISE(const auto batches, source.open(NamesOf(keys)));
    schema = batches->schema();
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto batch, batches->Next());
      if (batch == nullptr) break;
      ARROW_ASSIGN_OR_RAISE(auto thinned, Thinned(batch, rows_a_batch));
      some.push_back(std::move(thinned));
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto table, arrow::Table::FromRecordBatches(schema, some));
  return table->CombineChunksToBatch();
}

Result<PartitionerFactory> FactoryOf(const ShuffleTargetFlags& flags, const std::shared_ptr<arrow::Schema>& schema,
                                     const std::vector<ShuffleSource>& sources, Session* session) {
  const int32_t partitions = flags.partitions;
  if (!flags.partition_spec.empty()) {
    return [=, spec = flags.partition_spec](int64_t) { return MakePartitionSpecPartitioner(schema, spec, partitions); };
  }
  if (!flags.spec_of.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto table, OpenTarget(flags.spec_of, session->flags().catalog));
    return [=](int64_t) { return MakeTablePartitioner(schema, table, partitions); };
  }
  if (flags.mode == "single") return [](int64_t) { return MakeSinglePartitioner(); };
  if (flags.mode == "round-robin") return [=](int64_t) { return MakeRoundRobinPartitioner(schema, partitions); };
  if (flags.mode == "positional") {
    return [=](int64_t task) {
      return MakePositionalRoundRobinPartitioner(partitions, static_cast<int32_t>(task % partitions));
    };
  }
  ARROW_ASSIGN_OR_RAISE(const auto keys, ParseKeys(flags.by));
  if (flags.mode == "hash") {
    return [=, names = NamesOf(keys)](int64_t) { return MakeHashPartitioner(schema, names, partitions); };
  }
  ARROW_ASSIGN_OR_RAISE(const auto sample, Sample(sources, keys, partitions));
  ARROW_ASSIGN_OR_RAISE(const auto bounds, SampleRangeBounds(sample, keys, partitions));
  return [=](int64_t) { return MakeRangePartitioner(schema, keys, bounds); };
}

Json ToJson(const ShuffleTaskResult& task) {
  return {{"task", task.task},
          {"rows", task.rows},
          {"blocks", task.blocks},
          {"bytes", task.data_bytes},
          {"encoded_bytes", task.encoded_bytes},
          {"spills", task.spills},
          {"spilled_bytes", task.spilled_bytes},
          {"peak_memory_bytes", task.peak_memory_bytes}};
}

Status Tell(const ShuffleTargetFlags& flags, const std::vector<ShuffleTaskResult>& tasks, Session* session) {
  ShuffleTaskResult sum;
  Json list = Json::array();
  for (const ShuffleTaskResult& task : tasks) {
    sum.rows += task.rows;
    sum.blocks += task.blocks;
    sum.data_bytes += task.data_bytes;
    sum.spills += task.spills;
    list.push_back(ToJson(task));
  }
  if (session->flags().json) {
    return session->PrintJson({{"rows", sum.rows},
                               {"blocks", sum.blocks},
                               {"bytes", sum.data_bytes},
                               {"spills", sum.spills},
                               {"tasks", std::move(list)},
                               {"seconds", session->seconds()}});
  }
  session->Note(fmt::format("{}: {} in {} ({}) by {}, {}, in {}", flags.to, Counted(sum.rows, "row"),
                            Counted(sum.blocks, "block"), SizeText(sum.data_bytes),
                            Counted(static_cast<int64_t>(tasks.size()), "task"), Counted(sum.spills, "spill"),
                            SecondsText(session->seconds())));
  return Status::OK();
}

Status CheckFlags(const ShuffleTargetFlags& flags) {
  const bool by_spec = !flags.partition_spec.empty() || !flags.spec_of.empty();
  if (by_spec &&
      (!flags.by.empty() || flags.mode != "hash" || (!flags.partition_spec.empty() && !flags.spec_of.empty()))) {
    return UsageError("--partition-spec and --spec-of say alone how rows are partitioned");
  }
  if (by_spec && flags.partitions == 0) return UsageError("--partitions is required");
  if (by_spec) return Status::OK();
  const bool keyed = flags.mode == "hash" || flags.mode == "range";
  if (keyed && flags.by.empty()) return UsageError("--mode " + flags.mode + " needs --by");
  if (!keyed && !flags.by.empty()) return UsageError("--mode " + flags.mode + " has no keys, --by was given");
  if (flags.mode != "single" && flags.partitions == 0) return UsageError("--partitions is required");
  if (flags.mode == "single" && flags.partitions > 1) return UsageError("--mode single makes one partition");
  return Status::OK();
}

}  // namespace

Result<std::vector<RangeKey>> ParseKeys(const std::string& by) {
  std::vector<RangeKey> keys;
  size_t begin = 0;
  while (begin <= by.size()) {
    const size_t comma = std::min(by.find(',', begin), by.size());
    RangeKey key = ParseKey(Trimmed(by.substr(begin, comma - begin)));
    if (key.column.empty()) return UsageError(fmt::format("--by names no column between commas: '{}'", by));
    keys.push_back(std::move(key));
    begin = comma + 1;
  }
  return keys;
}

void AddShuffleTargetFlags(CLI::App* command, ShuffleTargetFlags* flags) {
  command->add_option("--partitions", flags->partitions, "Number of partitions")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  command->add_option("--by", flags->by, "Key columns, such as \"a,b\"; for ranges also \"a desc nulls last\"")
      ->type_name("COLUMNS");
  command
      ->add_option("--mode", flags->mode,
                   "hash (Spark's, the default), range (bounds from a sample), round-robin (by content), positional "
                   "(round robin by position), single")
      ->check(CLI::IsMember({"hash", "range", "round-robin", "positional", "single"}))
      ->type_name("MODE");
  command
      ->add_option("--partition-spec", flags->partition_spec,
                   "Partition by transforms as Iceberg does, such as \"bucket[16](id), day(ts)\"")
      ->type_name("SPEC");
  command->add_option("--spec-of", flags->spec_of, "Partition as this Iceberg table does")->type_name("TABLE");
  command->add_option("--codec", flags->codec, "none, lz4 (default), zstd, snappy")
      ->check(CLI::IsMember({"none", "lz4", "zstd", "snappy"}))
      ->type_name("CODEC");
  command->add_option("--level", flags->level, "zstd's level (default: 1)")->type_name("N");
  command->add_flag("--offsets-as-lengths", flags->offsets_as_lengths,
                    "Store string and list offsets as Comet does by default with zstd");
  AddSize(command, "--budget", &flags->budget_bytes,
          "Memory for rows that wait, of all tasks together (default: 256MiB)");
  AddSize(command, "--block-size", &flags->block_bytes, "Largest block, before the codec (default: 1MiB)");
  command->add_flag("--checksums", flags->checksums, "Keep a CRC-32C a partition, which readers verify");
  command->add_option("--index-order", flags->index_order, "Byte order of indexes: big (Spark's, default) or little")
      ->check(CLI::IsMember({"big", "little"}))
      ->type_name("ORDER");
  command->add_option("--to", flags->to, "The folder of the shuffle; made where it is missing")
      ->required()
      ->type_name("DIR");
}

Status WriteShuffleTarget(const ShuffleTargetFlags& flags, const std::shared_ptr<arrow::Schema>& schema,
                          const std::vector<ShuffleSource>& sources, Session* session) {
  ARROW_RETURN_NOT_OK(CheckFlags(flags));
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf(flags));
  ARROW_ASSIGN_OR_RAISE(const auto partitioner, FactoryOf(flags, schema, sources, session));
  std::vector<ShuffleInput> inputs;
  for (const ShuffleSource& source : sources) {
    inputs.push_back({source.task, [open = source.open] { return open({}); }});
  }
  ARROW_ASSIGN_OR_RAISE(const auto tasks,
                        WriteShuffle(flags.to, schema, inputs, partitioner, options, session->context()));
  return Tell(flags, tasks, session);
}

}  // namespace calve::cli
