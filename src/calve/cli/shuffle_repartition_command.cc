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

struct RepartitionFlags {
  CommonFlags common;
  std::string from;
  ShuffleTargetFlags target;
};

/// The rows of one task, partition after partition, or some of their columns.
class TaskRows final : public arrow::RecordBatchReader {
 public:
  TaskRows(std::shared_ptr<const ShuffleReader> shuffle, size_t task, const std::vector<std::string>& columns)
      : shuffle_(std::move(shuffle)), task_(task) {
    arrow::FieldVector fields;
    for (int i = 0; i < shuffle_->schema()->num_fields(); ++i) {
      const auto& field = shuffle_->schema()->field(i);
      if (!columns.empty() && std::find(columns.begin(), columns.end(), field->name()) == columns.end()) continue;
      fields.push_back(field);
      columns_.push_back(i);
    }
    schema_ = arrow::schema(std::move(fields), shuffle_->schema()->metadata());
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    out->reset();
    while (rows_ != nullptr || next_ < shuffle_->partitions()) {
      if (rows_ == nullptr) {
        ARROW_ASSIGN_OR_RAISE(rows_, shuffle_->ReadPartition(next_++, task_));
      }
      ARROW_ASSIGN_OR_RAISE(const auto batch, rows_->Next());
      if (batch != nullptr) {
        ARROW_ASSIGN_OR_RAISE(*out, batch->SelectColumns(columns_));
        return Status::OK();
      }
      rows_.reset();
    }
    return Status::OK();
  }

 private:
  std::shared_ptr<const ShuffleReader> shuffle_;
  size_t task_;
  std::vector<int> columns_;
  std::shared_ptr<arrow::Schema> schema_;
  int32_t next_ = 0;
  std::shared_ptr<arrow::RecordBatchReader> rows_;
};

Status RunRepartition(const RepartitionFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<const ShuffleReader> shuffle,
                        ShuffleReader::Open(flags.from, {}, session.context()));
  if (shuffle->schema() == nullptr) {
    return Status::Invalid(fmt::format("{} holds no shuffle whose schema is known", flags.from));
  }
  std::vector<ShuffleSource> sources;
  for (size_t i = 0; i < shuffle->tasks().size(); ++i) {
    sources.push_back(
        {shuffle->tasks()[i].task,
         [shuffle, i](const std::vector<std::string>& columns) -> Result<std::shared_ptr<arrow::RecordBatchReader>> {
           return std::make_shared<TaskRows>(shuffle, i, columns);
         }});
  }
  return WriteShuffleTarget(flags.target, shuffle->schema(), sources, &session);
}

}  // namespace

void AddShuffleRepartition(CLI::App* shuffle, Action* action) {
  auto flags = std::make_shared<RepartitionFlags>();
  CLI::App* command = shuffle->add_subcommand("repartition", "Write the rows of a shuffle as another one");
  command->add_option("FROM", flags->from, "The folder of a shuffle, calve's or Comet's")->required();
  AddShuffleTargetFlags(command, &flags->target);
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Example:\n  calve shuffle repartition /tmp/shuffle --partitions 50 --by customer_id --to /tmp/other");
  command->callback([flags, action] { *action = [flags] { return RunRepartition(*flags); }; });
}

}  // namespace calve::cli
