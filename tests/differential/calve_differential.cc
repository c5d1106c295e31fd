// The C++ half of the differential tests; run.py is the other.
//
//   calve_differential make SEED WRITER FOLDER < indices    makes FOLDER/INDEX.arrow for each index (one a line)
//   calve_differential compare < lines                      of INDEX, the table, the Parquet file that a writer made of
//                                                           it, and "exact" or "loose" (nullability), tab between them
//
// `compare` answers each line with INDEX, a tab, and "ok" or what differs. Every file is read whole, in small batches,
// one column alone, one row group alone, and by a random filter and ranges of rows, with each way of selection on or
// off.

#include "plain_form.h"
#include "random_filter.h"
#include "random_table.h"

#include "calve/expression.h"
#include "calve/parquet_reader.h"

#include <arrow/compute/exec.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <fmt/format.h>

#include <iostream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace calve::differential {
namespace {

using arrow::Result;
using arrow::Status;
using TablePtr = std::shared_ptr<arrow::Table>;

Status WriteIpc(const arrow::Table& table, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::FileOutputStream::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(file, table.schema()));
  ARROW_RETURN_NOT_OK(writer->WriteTable(table));
  ARROW_RETURN_NOT_OK(writer->Close());
  return file->Close();
}

Result<TablePtr> ReadIpc(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
  return reader->ToTable();
}

struct Case {
  std::string index, table, file;
  bool exact = false;
};

/// One file against one table.
class Comparison {
 public:
  Comparison(const Case& at, TablePtr expected)
      : case_(at), expected_(std::move(expected)), random_(std::stoul(at.index)) {}

  Status Run() {
    ARROW_RETURN_NOT_OK(Whole(65536));
    const int64_t rows[] = {1, 3, 7, 64, 1000};
    ARROW_RETURN_NOT_OK(Whole(rows[random_() % 5]));
    ARROW_RETURN_NOT_OK(OneColumn());
    ARROW_RETURN_NOT_OK(OneRowGroup());
    return Filtered();
  }

 private:
  Result<std::shared_ptr<ParquetReader>> Open(int64_t batch_rows) const {
    ParquetReadOptions options;
    options.batch_rows = batch_rows;
    options.verify_crc = true;
    return ParquetReader::Open(case_.file, options);
  }

  /// `got` against rows of columns of the table.
  Status Same(const arrow::Table& got, const arrow::Table& expected, const std::string& how) const {
    ARROW_RETURN_NOT_OK(got.ValidateFull());
    ARROW_RETURN_NOT_OK(got.ValidateFull());
    ARROW_ASSIGN_OR_RAISE(const TablePtr plain, PlainForm(got, case_.exact));
    ARROW_ASSIGN_OR_RAISE(const TablePtr want, PlainForm(expected, case_.exact));
    if (!plain->schema()->Equals(*want->schema())) {
      return Status::Invalid(how, ": schema ", plain->schema()->ToString(), " expected ", want->schema()->ToString());
    }
    if (plain->num_rows() != want->num_rows()) {
      return Status::Invalid(how, ": ", plain->num_rows(), " rows, expected ", want->num_rows());
    }
    const auto equal = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
    for (int i = 0; i < plain->num_columns(); ++i) {
      if (!plain->column(i)->Equals(*want->column(i), equal)) {
        return Status::Invalid(how, ": column ", want->field(i)->ToString(), " differs");
      }
    }
    return Status::OK();
  }

  Status Whole(int64_t batch_rows) const {
    ARROW_ASSIGN_OR_RAISE(auto reader, Open(batch_rows));
    ARROW_ASSIGN_OR_RAISE(auto batches, reader->ReadAll());
    ARROW_ASSIGN_OR_RAISE(const TablePtr got, batches->ToTable());
    return Same(*got, *expected_, fmt::format("batches of {}", batch_rows));
  }

  Status OneColumn() {
    const int column = static_cast<int>(random_() % static_cast<uint64_t>(expected_->num_columns()));
    ARROW_ASSIGN_OR_RAISE(auto reader, Open(65536));
    ARROW_ASSIGN_OR_RAISE(auto batches, reader->ReadAll({expected_->field(column)->name()}));
    ARROW_ASSIGN_OR_RAISE(const TablePtr got, batches->ToTable());
    ARROW_ASSIGN_OR_RAISE(const TablePtr want, expected_->SelectColumns({column}));
    return Same(*got, *want, "one column");
  }

  Status OneRowGroup() {
    ARROW_ASSIGN_OR_RAISE(auto file, Open(100));
    if (file->num_row_groups() == 0) return Status::OK();
    const int group = static_cast<int>(random_() % static_cast<uint64_t>(file->num_row_groups()));
    ARROW_ASSIGN_OR_RAISE(const auto leaves, Leaves(*file));
    ARROW_ASSIGN_OR_RAISE(auto reader, file->Read(leaves, {group}));
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
      if (batch == nullptr) return Status::OK();
      ARROW_ASSIGN_OR_RAISE(const TablePtr got, arrow::Table::FromRecordBatches({batch}));
      ARROW_RETURN_NOT_OK(
          Same(*got, *expected_->Slice(reader->first_row(), batch->num_rows()), fmt::format("row group {}", group)));
    }
  }

  /// Some ranges of the rows, or all of them.
  std::vector<RowRange> Ranges() {
    const auto below = [&](int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); };
    const int64_t rows = expected_->num_rows();
    if (below(2) == 0) return {{0, rows}};
    std::vector<RowRange> ranges;
    for (int64_t begin = below(rows); begin < rows; begin += 1 + below(rows)) {
      const int64_t end = begin + 1 + below(rows - begin);
      ranges.push_back({begin, end});
      begin = end;
    }
    return ranges;
  }

  /// What is left of the table by ranges and filter, without calve.
  static Result<TablePtr> Kept(const TablePtr& table, const RandomFilter& filter, const std::vector<RowRange>& ranges) {
    std::vector<TablePtr> parts = {table->Slice(0, 0)};
    for (const RowRange& range : ranges) {
      const arrow::Datum mask = filter.mask->Slice(range.begin, range.count());
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum part,
                            arrow::compute::CallFunction("filter", {table->Slice(range.begin, range.count()), mask}));
      parts.push_back(part.table());
    }
    return arrow::ConcatenateTables(parts);
  }

  /// A filter and ranges of rows, by ways of selection that are on or off, give what a full read and Arrow's filter
  /// give.
  Status Filtered() {
    ARROW_ASSIGN_OR_RAISE(const TablePtr plain, PlainForm(*expected_, case_.exact));
    ARROW_ASSIGN_OR_RAISE(const auto filter, MakeRandomFilter(*plain, &random_));
    if (!filter) return Status::OK();
    const std::vector<RowRange> ranges = Ranges();
    ParquetReadOptions options;
    options.batch_rows = 1 + static_cast<int64_t>(random_() % 100);
    auto& ways = options.selection;
    for (bool* way :
         {&ways.statistics, &ways.bloom_filters, &ways.dictionaries, &ways.page_index, &ways.late_materialization}) {
      *way = random_() % 4 != 0;
    }
    ARROW_ASSIGN_OR_RAISE(auto file, ParquetReader::Open(case_.file, options));
    ParquetReadRequest request;
    ARROW_ASSIGN_OR_RAISE(request.leaves, Leaves(*file));
    request.rows = ranges;
    ARROW_ASSIGN_OR_RAISE(request.filter, Expression::Parse(filter->text));
    ARROW_ASSIGN_OR_RAISE(auto reader, file->Read(request));
    arrow::RecordBatchVector batches;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
      if (batch == nullptr) break;
      batches.push_back(std::move(batch));
    }
    ARROW_ASSIGN_OR_RAISE(const TablePtr got, arrow::Table::FromRecordBatches(reader->schema(), batches));
    ARROW_ASSIGN_OR_RAISE(const TablePtr want, Kept(plain, *filter, ranges));
    return Same(*got, *want, fmt::format("filter {} of {} ranges", filter->text, ranges.size()));
  }

  Result<std::vector<int>> Leaves(const ParquetReader& file) const {
    std::vector<int> leaves;
    for (int column = 0; column < expected_->num_columns(); ++column) {
      ARROW_ASSIGN_OR_RAISE(const auto of, file.LeavesOf(expected_->field(column)->name()));
      leaves.insert(leaves.end(), of.begin(), of.end());
    }
    return leaves;
  }

  const Case& case_;
  TablePtr expected_;
  std::mt19937_64 random_;
};

Status Compare(const Case& at) {
  ARROW_ASSIGN_OR_RAISE(TablePtr expected, ReadIpc(at.table));
  return Comparison(at, std::move(expected)).Run();
}

int CompareAll() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    Case at;
    std::string nullability;
    std::getline(words, at.index, '\t');
    std::getline(words, at.table, '\t');
    std::getline(words, at.file, '\t');
    std::getline(words, nullability, '\t');
    at.exact = nullability == "exact";
    std::string answer = "ok";
    if (const Status status = Compare(at); !status.ok()) answer = status.ToString();
    std::replace(answer.begin(), answer.end(), '\n', ' ');
    std::cout << at.index << '\t' << answer << std::endl;
  }
  return 0;
}

int MakeAll(uint64_t seed, const std::string& writer, const std::string& folder) {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto table = RandomTable(seed, std::stoll(line), writer);
    const Status status = table.ok() ? WriteIpc(**table, folder + "/" + line + ".arrow") : table.status();
    if (!status.ok()) {
      std::cerr << "case " << line << ": " << status.ToString() << "\n";
      return 1;
    }
  }
  return 0;
}

int Run(const std::vector<std::string>& arguments) {
  if (!arrow::compute::Initialize().ok()) return 1;
  if (arguments.size() == 4 && arguments[0] == "make") {
    return MakeAll(std::stoull(arguments[1]), arguments[2], arguments[3]);
  }
  if (arguments.size() == 1 && arguments[0] == "compare") return CompareAll();
  std::cerr << "calve_differential make SEED WRITER FOLDER | compare\n";
  return 2;
}

}  // namespace
}  // namespace calve::differential

int main(int argc, char** argv) { return calve::differential::Run({argv + 1, argv + argc}); }
