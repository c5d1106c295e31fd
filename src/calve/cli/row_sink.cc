#include "calve/cli/row_sink.h"

#include "calve/cli/json_text.h"
#include "calve/cli/table_text.h"
#include "calve/cli/value_writer.h"
#include "calve/parquet_writer.h"

#include <arrow/io/interfaces.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

constexpr size_t kFlushBytes = 256 << 10;

Result<std::vector<std::unique_ptr<ValueWriter>>> MakeWriters(const arrow::Schema& schema, ValueWriter::Style style) {
  std::vector<std::unique_ptr<ValueWriter>> writers;
  for (const auto& field : schema.fields()) {
    ARROW_ASSIGN_OR_RAISE(auto writer, ValueWriter::Make(field->type(), style));
    writers.push_back(std::move(writer));
  }
  return writers;
}

// What the two text formats share: values by column, rows gathered into large writes.
class TextSink : public RowSink {
 public:
  Status Write(const arrow::RecordBatch& batch) override {
    for (size_t k = 0; k < writers_.size(); ++k) writers_[k]->Bind(*batch.column(static_cast<int>(k)));
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      AppendRow(row, &text_);
      if (text_.size() >= kFlushBytes) ARROW_RETURN_NOT_OK(Flush());
    }
    return Flush();
  }
  Status Finish() override { return Flush(); }

 protected:
  TextSink(arrow::io::OutputStream* stream, std::vector<std::unique_ptr<ValueWriter>> writers)
      : writers_(std::move(writers)), stream_(stream) {}
  virtual void AppendRow(int64_t row, std::string* out) = 0;
  Status Flush() {
    ARROW_RETURN_NOT_OK(stream_->Write(text_.data(), static_cast<int64_t>(text_.size())));
    text_.clear();
    return Status::OK();
  }

  std::vector<std::unique_ptr<ValueWriter>> writers_;
  std::string text_;

 private:
  arrow::io::OutputStream* stream_;
};

class JsonLinesSink : public TextSink {
 public:
  JsonLinesSink(arrow::io::OutputStream* stream, const arrow::Schema& schema,
                std::vector<std::unique_ptr<ValueWriter>> writers)
      : TextSink(stream, std::move(writers)) {
    for (const auto& field : schema.fields()) {
      std::string prefix = prefixes_.empty() ? "{" : ",";
      AppendJsonString(field->name(), &prefix);
      prefixes_.push_back(prefix + ":");
    }
  }

 protected:
  void AppendRow(int64_t row, std::string* out) override {
    if (writers_.empty()) out->push_back('{');
    for (size_t k = 0; k < writers_.size(); ++k) {
      out->append(prefixes_[k]);
      writers_[k]->Append(row, out);
    }
    out->append("}\n");
  }

 private:
  std::vector<std::string> prefixes_;
};

class CsvSink : public TextSink {
 public:
  CsvSink(arrow::io::OutputStream* stream, const arrow::Schema& schema,
          std::vector<std::unique_ptr<ValueWriter>> writers)
      : TextSink(stream, std::move(writers)) {
    for (const auto& field : schema.fields()) {
      if (field != schema.field(0)) text_.push_back(',');
      AppendCell(field->name(), &text_);
    }
    text_.push_back('\n');
  }

 protected:
  void AppendRow(int64_t row, std::string* out) override {
    for (size_t k = 0; k < writers_.size(); ++k) {
      if (k > 0) out->push_back(',');
      if (writers_[k]->IsNull(row)) continue;
      cell_.clear();
      writers_[k]->Append(row, &cell_);
      AppendCell(cell_, out);
    }
    out->push_back('\n');
  }

 private:
  // An empty text is "" in quotes, so that it is not taken for a null.
  static void AppendCell(std::string_view cell, std::string* out) {
    if (!cell.empty() && cell.find_first_of(",\"\r\n") == std::string_view::npos) {
      out->append(cell);
      return;
    }
    out->push_back('"');
    for (const char c : cell) {
      if (c == '"') out->push_back('"');
      out->push_back(c);
    }
    out->push_back('"');
  }

  std::string cell_;
};

class ArrowSink : public RowSink {
 public:
  explicit ArrowSink(std::shared_ptr<arrow::ipc::RecordBatchWriter> writer) : writer_(std::move(writer)) {}
  Status Write(const arrow::RecordBatch& batch) override { return writer_->WriteRecordBatch(batch); }
  Status Finish() override { return writer_->Close(); }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

class ParquetSink : public RowSink {
 public:
  explicit ParquetSink(std::unique_ptr<ParquetWriter> writer) : writer_(std::move(writer)) {}
  Status Write(const arrow::RecordBatch& batch) override { return writer_->Write(batch); }
  Status Finish() override { return writer_->Close().status(); }

 private:
  std::unique_ptr<ParquetWriter> writer_;
};

class TableSink : public RowSink {
 public:
  TableSink(arrow::io::OutputStream* stream, std::unique_ptr<TableText> table)
      : stream_(stream), table_(std::move(table)) {}
  Status Write(const arrow::RecordBatch& batch) override {
    table_->Add(batch, &text_);
    return Flush();
  }
  Status Finish() override {
    table_->Finish(&text_);
    return Flush();
  }

 private:
  Status Flush() {
    ARROW_RETURN_NOT_OK(stream_->Write(text_.data(), static_cast<int64_t>(text_.size())));
    text_.clear();
    return Status::OK();
  }

  arrow::io::OutputStream* stream_;
  std::unique_ptr<TableText> table_;
  std::string text_;
};

struct NamedFormat {
  std::string_view name;
  Format format;
};

constexpr std::array<NamedFormat, 5> kNames = {{{"table", Format::kTable},
                                                {"jsonl", Format::kJsonLines},
                                                {"csv", Format::kCsv},
                                                {"arrow", Format::kArrow},
                                                {"parquet", Format::kParquet}}};
constexpr std::array<NamedFormat, 9> kEndings = {{{".jsonl", Format::kJsonLines},
                                                  {".ndjson", Format::kJsonLines},
                                                  {".json", Format::kJsonLines},
                                                  {".csv", Format::kCsv},
                                                  {".arrow", Format::kArrow},
                                                  {".ipc", Format::kArrow},
                                                  {".feather", Format::kArrow},
                                                  {".parquet", Format::kParquet},
                                                  {".txt", Format::kTable}}};

Result<std::unique_ptr<RowSink>> MakeText(Format format, arrow::io::OutputStream* stream, const arrow::Schema& schema) {
  const bool json = format == Format::kJsonLines;
  ARROW_ASSIGN_OR_RAISE(auto writers,
                        MakeWriters(schema, json ? ValueWriter::Style::kJson : ValueWriter::Style::kPlain));
  if (json) return std::make_unique<JsonLinesSink>(stream, schema, std::move(writers));
  return std::make_unique<CsvSink>(stream, schema, std::move(writers));
}

}  // namespace

std::optional<Format> FormatByName(std::string_view name) {
  for (const NamedFormat& known : kNames) {
    if (known.name == name) return known.format;
  }
  return std::nullopt;
}

std::optional<Format> FormatByEnding(std::string_view path) {
  for (const NamedFormat& known : kEndings) {
    if (path.size() > known.name.size() && path.ends_with(known.name)) return known.format;
  }
  return std::nullopt;
}

std::string_view NameOf(Format format) {
  for (const NamedFormat& known : kNames) {
    if (known.format == format) return known.name;
  }
  return "";
}

Result<std::unique_ptr<RowSink>> RowSink::Make(Format format, arrow::io::OutputStream* stream,
                                               const std::shared_ptr<arrow::Schema>& schema, const Options& options,
                                               const Context& context) {
  switch (format) {
    case Format::kJsonLines:
    case Format::kCsv:
      return MakeText(format, stream, *schema);
    case Format::kTable: {
      ARROW_ASSIGN_OR_RAISE(auto table, TableText::Make(*schema, options.table_width));
      return std::make_unique<TableSink>(stream, std::move(table));
    }
    case Format::kArrow: {
      auto write_options = arrow::ipc::IpcWriteOptions::Defaults();
      if (context.pool != nullptr) write_options.memory_pool = context.pool;
      ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(stream, schema, write_options));
      return std::make_unique<ArrowSink>(std::move(writer));
    }
    case Format::kParquet: {
      ARROW_ASSIGN_OR_RAISE(auto writer, ParquetWriter::Make(stream, schema, {}, context));
      return std::make_unique<ParquetSink>(std::move(writer));
    }
  }
  return Status::Invalid("unknown format");
}

}  // namespace calve::cli
