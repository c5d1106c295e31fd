#include "calve/cli/batch_text.h"

#include "calve/cli/output.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>

#include <unistd.h>

namespace calve::cli {

using arrow::Result;
using arrow::Status;

Result<std::string> JsonRows(const arrow::RecordBatch& batch) {
  ARROW_ASSIGN_OR_RAISE(auto stream, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(auto sink, RowSink::Make(Format::kJsonLines, stream.get(), batch.schema(), {}, {}));
  ARROW_RETURN_NOT_OK(sink->Write(batch));
  ARROW_RETURN_NOT_OK(sink->Finish());
  ARROW_ASSIGN_OR_RAISE(auto buffer, stream->Finish());
  std::string lines = buffer->ToString();
  if (!lines.empty()) lines.pop_back();
  // Inside JSON text a newline is always escaped: those that are left stand between rows.
  std::string array = "[";
  for (const char c : lines) array.append(c == '\n' ? std::string_view(",\n") : std::string_view(&c, 1));
  return array + "]";
}

Status PrintBatch(const arrow::RecordBatch& batch, Format format, Session* session) {
  session->bar().Clear();
  if (session->flags().json) {
    ARROW_ASSIGN_OR_RAISE(auto text, JsonRows(batch));
    return Print(text + "\n");
  }
  ARROW_ASSIGN_OR_RAISE(auto output, Output::Open("", false));
  RowSink::Options options;
  options.table_width = IsTerminal(STDOUT_FILENO) ? TerminalWidth(STDOUT_FILENO) : 0;
  ARROW_ASSIGN_OR_RAISE(auto sink,
                        RowSink::Make(format, output->stream(), batch.schema(), options, session->context()));
  ARROW_RETURN_NOT_OK(sink->Write(batch));
  return sink->Finish();
}

}  // namespace calve::cli
