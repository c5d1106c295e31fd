#include "calve/cli/decryption_flags.h"
#include "calve/cli/json_text.h"
#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/session.h"
#include "calve/cli/target.h"
#include "calve/parquet_encryption.h"
#include "calve/parquet_verify.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

struct VerifyFlags {
  CommonFlags common;
  std::vector<std::string> files;
  DecryptionFlags decryption;
};

Json ToJson(const std::string& file, const ParquetVerification& found) {
  Json violations = Json::array();
  for (const ParquetViolation& violation : found.violations) {
    const auto number = [](int64_t value) { return value < 0 ? Json(nullptr) : Json(value); };
    violations.push_back({{"rule", violation.rule},
                          {"row_group", number(violation.row_group)},
                          {"column", violation.column.empty() ? Json(nullptr) : Json(violation.column)},
                          {"page", number(violation.page)},
                          {"offset", number(violation.offset)},
                          {"said", violation.said},
                          {"is", violation.is}});
  }
  return {{"file", file},
          {"ok", found.ok()},
          {"bytes", found.bytes},
          {"rows", found.rows},
          {"row_groups", found.row_groups},
          {"columns", found.columns},
          {"pages", found.pages},
          {"values", found.values},
          {"violation_count", found.violation_count},
          {"violations", std::move(violations)},
          {"not_checked", found.not_checked}};
}

Status PrintText(const std::string& file, const ParquetVerification& found) {
  std::string text =
      fmt::format("{}: {} ({}, {}, {}, {})\n", OneLine(file),
                  found.ok() ? "right" : Counted(found.violation_count, "violation"), Counted(found.rows, "row"),
                  Counted(found.columns, "column"), Counted(found.pages, "page"), SizeText(found.bytes));
  for (const ParquetViolation& violation : found.violations) text += "  " + OneLine(ToString(violation)) + "\n";
  const auto kept = static_cast<int64_t>(found.violations.size());
  if (kept < found.violation_count) text += fmt::format("  and {} more\n", CountText(found.violation_count - kept));
  for (const std::string& why : found.not_checked) text += fmt::format("  not checked: {}\n", OneLine(why));
  return Print(text);
}

Status RunVerify(const VerifyFlags& flags) {
  Session session(flags.common);
  ParquetVerifyOptions options;
  ARROW_ASSIGN_OR_RAISE(options.decryption, DecryptionOf(flags.decryption));
  ARROW_ASSIGN_OR_RAISE(const auto files, ExpandFiles(flags.files));
  int64_t violations = 0, wrong = 0;
  for (const std::string& file : files) {
    ARROW_ASSIGN_OR_RAISE(const ParquetVerification found, VerifyParquet(file, options, session.context()));
    session.bar().Clear();
    ARROW_RETURN_NOT_OK(flags.common.json ? session.PrintJson(ToJson(file, found)) : PrintText(file, found));
    violations += found.violation_count;
    wrong += found.ok() ? 0 : 1;
  }
  if (wrong == 0) return Status::OK();
  return Status::Invalid(fmt::format("{} in {} of {}", Counted(violations, "violation"), CountText(wrong),
                                     Counted(static_cast<int64_t>(files.size()), "file")));
}

}  // namespace

void AddVerify(CLI::App* app, Action* action) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command =
      app->add_subcommand("verify", "Check Parquet files, every page of them, against the format's rules");
  command->add_option("FILE", flags->files, "Parquet files and globs")->required();
  AddDecryptionFlags(command, "", &flags->decryption);
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Ends with 1 when a file breaks a rule. With --json, one object a file and line. docs/format/verify.md lists "
      "the\n"
      "rules.\n\n"
      "Examples:\n"
      "  calve verify part-0.parquet\n"
      "  calve verify warehouse/orders/*.parquet --json\n"
      "  calve verify secret.parquet --footer-key @footer.key --column-key salary=@salary.key");
  command->callback([flags, action] { *action = [flags] { return RunVerify(*flags); }; });
}

}  // namespace calve::cli
