// The C++ half of the differential tests; run.py is the other.
//
//   calve_differential make SEED WRITER FOLDER < indices    makes FOLDER/INDEX.arrow for each index (one a line)
//   calve_differential compare < lines                      of INDEX, the table, the Parquet file that a writer made of
//                                                           it, and "exact" or "loose" (nullability), tab between them
//   calve_differential write SEED READERS FOLDER < indices  has calve write FOLDER/INDEX.parquet, verify and read it,
//   and
//                                                           leaves the rows in plain form in FOLDER/INDEX.arrow;
//                                                           READERS: "all" or "arrow"
//   calve_differential same < lines                         of INDEX, two Arrow files, and "exact", "loose" or "lists"
//                                                           (loose, and maps are lists), tab between them
//
// Each line is answered with INDEX, a tab, and "ok" or what differs; `write` adds, after tabs, who can
// read the file as what it was, with spaces between them, and the options. Of `compare`, every file is read whole, in
// small batches, one column alone, one row group alone, and by a random filter and ranges of rows, with each way of
// selection on or off.

#include "ipc_file.h"
#include "plain_form.h"
#include "random_filter.h"
#include "random_table.h"
#include "same_table.h"
#include "write_case.h"

#include "calve/expression.h"
#include "calve/parquet_reader.h"

#include <arrow/compute/exec.h>
#include <arrow/compute/initialize.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <fmt/format.h>

#include <algorithm>
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
    return SameTables(got, expected, {.nullability = case_.exact}, how);
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
    ARROW_ASSIGN_OR_RAISE(const TablePtr plain, PlainForm(*expected_, {.nullability = case_.exact}));
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

std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words(4);
  std::istringstream text(line);
  for (std::string& word : words) std::getline(text, word, '\t');
  return words;
}

void Answer(const std::string& index, const Status& status, const std::string& more = "") {
  std::string answer = status.ok() ? "ok" : status.ToString();
  std::replace_if(answer.begin(), answer.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  std::cout << index << '\t' << answer << more << std::endl;
}

int CompareAll() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto words = Words(line);
    Answer(words[0], Compare({words[0], words[1], words[2], words[3] == "exact"}));
  }
  return 0;
}

Status SameFiles(const std::string& got_path, const std::string& expected_path, const std::string& form) {
  ARROW_ASSIGN_OR_RAISE(const TablePtr got, ReadIpc(got_path));
  ARROW_ASSIGN_OR_RAISE(const TablePtr expected, ReadIpc(expected_path));
  return SameTables(*got, *expected, {.nullability = form == "exact", .maps_are_lists = form == "lists"}, "read");
}

int SameAll() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto words = Words(line);
    Answer(words[0], SameFiles(words[1], words[2], words[3]));
  }
  return 0;
}

int WriteAll(uint64_t seed, const std::string& folder) {
  std::string index;
  while (std::getline(std::cin, index)) {
    WrittenCase written;
    const std::string path = folder + "/" + index;
    const Status status = WriteCase(seed, std::stoll(index), path + ".parquet", path + ".arrow", &written);
    Answer(index, status, fmt::format("\t{}\t{}", written.readers, written.options));
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
  if (arguments.size() == 3 && arguments[0] == "write") return WriteAll(std::stoull(arguments[1]), arguments[2]);
  if (arguments.size() == 1 && arguments[0] == "same") return SameAll();
  std::cerr << "calve_differential make SEED WRITER FOLDER | compare | write SEED FOLDER | same\n";
  return 2;
}

}  // namespace
}  // namespace calve::differential

int main(int argc, char** argv) { return calve::differential::Run({argv + 1, argv + argc}); }
