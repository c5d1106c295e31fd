// calve/rewrite.h and calve/context.h: compacts a table within 256 MiB on two threads; Ctrl-C stops it cleanly.
//   example_compact_table TABLE_FOLDER
#include <arrow/util/cancel.h>
#include <calve/catalog.h>
#include <calve/context.h>
#include <calve/rewrite.h>
#include <calve/version.h>

#include <csignal>
#include <iostream>

arrow::Status Run(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(arrow::StopSource * source, arrow::SetSignalStopSource());
  ARROW_RETURN_NOT_OK(arrow::RegisterCancellingSignalHandler({SIGINT}));
  const arrow::StopToken stop = source->token();

  calve::Context context;
  context.threads = 2;
  context.memory_budget_bytes = 256 << 20;
  context.stop = &stop;
  context.progress = [](const calve::Progress& done) { std::cerr << done.rows << " rows\n"; };

  ARROW_ASSIGN_OR_RAISE(auto table, calve::OpenTable(folder));
  calve::RewriteOptions options;
  options.min_input_files = 2;
  ARROW_ASSIGN_OR_RAISE(auto plan, calve::PlanRewrite(table, options, context));
  std::cout << "calve " << calve::kVersion << ": " << plan.groups.size() << " groups\n";
  ARROW_ASSIGN_OR_RAISE(auto result, calve::RewriteDataFiles(table, options, context));
  std::cout << result.rewritten_files << " files became " << result.added_files << "\n";
  return arrow::Status::OK();
}

int main(int argc, char** argv) {
  arrow::Status status = argc == 2 ? Run(argv[1]) : arrow::Status::Invalid("usage: example_compact_table TABLE_FOLDER");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
