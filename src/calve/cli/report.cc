#include "calve/cli/report.h"

#include "calve/cli/batch_text.h"
#include "calve/cli/iso_text.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/size_chart.h"
#include "calve/version.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

constexpr size_t kGroupsShown = 200, kSnapshotsShown = 500;

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6575; --line: #d9dee6; --card: #f6f8fa; --page: #ffffff;
  --before: #c2703d; --after: #2f7d6b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --soft: #98a2b3; --line: #313947; --card: #1b212b; --page: #12161d;
    --before: #e09a62; --after: #5bb8a0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 62rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { margin: 0; font-size: 1.7rem; overflow-wrap: anywhere; }
h2 { margin: 2.6rem 0 .8rem; font-size: 1.15rem; }
p { margin: .3rem 0; } .soft, th { color: var(--soft); } code { font-size: .88em; overflow-wrap: anywhere; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.6rem 0 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; flex: 1 1 auto; }
.tile b { display: block; font-size: 1.3rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; } .n { text-align: right; }
tr.new td { font-weight: 600; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg text { fill: var(--soft); } svg .title { fill: var(--ink); font-size: 14px; font-weight: 600; }
svg .label { fill: var(--ink); font-size: 13px; } svg .count, svg .tick { text-anchor: middle; font-size: 11px; }
svg .axis { stroke: var(--line); } svg .before { fill: var(--before); } svg .after { fill: var(--after); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem; font-size: .85rem; }
)css";

int64_t Sum(const std::vector<int64_t>& values) { return std::accumulate(values.begin(), values.end(), int64_t{0}); }

int64_t RowsOf(const RewritePlan& plan) {
  int64_t rows = 0;
  for (const RewriteGroup& group : plan.groups) rows += group.rows;
  return rows;
}

std::string Tile(std::string_view id, std::string_view label, const std::string& value) {
  return fmt::format("<div class=\"tile\"><span class=\"soft\">{}</span><b id=\"{}\">{}</b></div>\n", label, id,
                     EscapeHtml(value));
}

// "300 -> 2" with an arrow; one number when there is no after.
std::string Change(const std::string& before, const std::string& after) {
  return after.empty() ? before : fmt::format("{} → {}", before, after);
}

std::string Tiles(const RewriteReport& report) {
  const bool ran = report.result.has_value();
  const auto count = [](const std::vector<int64_t>& sizes) { return CountText(static_cast<int64_t>(sizes.size())); };
  std::string html = "<div class=\"tiles\" id=\"summary\">\n";
  html += Tile("files", "data files", Change(count(report.sizes_before), ran ? count(report.sizes_after) : ""));
  html +=
      Tile("bytes", "size", Change(SizeText(Sum(report.sizes_before)), ran ? SizeText(Sum(report.sizes_after)) : ""));
  html += Tile("rows", ran ? "rows rewritten" : "rows to rewrite",
               CountText(ran ? report.result->rows : RowsOf(report.plan)));
  if (ran) {
    html += Tile("seconds", "time", SecondsText(report.seconds));
    html += Tile("peak-memory", "peak memory", SizeText(report.result->peak_memory_bytes));
  }
  return html + "</div>\n";
}

std::string PlanSection(const RewriteReport& report) {
  const auto& groups = report.plan.groups;
  std::string html = "<h2>Plan</h2>\n";
  if (groups.empty()) return html + "<p id=\"plan-empty\">Nothing to rewrite: no group of files is worth it.</p>\n";
  html += fmt::format("<p class=\"soft\">{}, in a table of {}. Target file size: {}.</p>\n",
                      Counted(static_cast<int64_t>(groups.size()), "group"),
                      Counted(report.plan.files_total, "data file"), SizeText(report.plan.target_file_size_bytes));
  html +=
      "<div class=\"scroll\"><table id=\"plan\"><thead><tr><th>Partition</th><th class=\"n\">Files</th>"
      "<th class=\"n\">Bytes</th><th class=\"n\">Rows</th><th class=\"n\">Files expected</th></tr></thead><tbody>\n";
  for (size_t i = 0; i < std::min(groups.size(), kGroupsShown); ++i) {
    const RewriteGroup& group = groups[i];
    html += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td></tr>\n",
        group.partition.empty() ? "(all)" : EscapeHtml(group.partition),
        CountText(static_cast<int64_t>(group.files.size())), SizeText(group.bytes), CountText(group.rows),
        CountText(group.expected_output_files));
  }
  html += "</tbody></table></div>\n";
  if (groups.size() > kGroupsShown) {
    html += fmt::format("<p class=\"soft\">and {} more</p>\n",
                        Counted(static_cast<int64_t>(groups.size() - kGroupsShown), "group"));
  }
  return html;
}

std::string SizesSection(const RewriteReport& report) {
  std::string html = "<h2>File sizes</h2>\n<figure>\n";
  html += SizeChart(report.sizes_before, report.result ? report.sizes_after : std::vector<int64_t>{});
  return html + "</figure>\n";
}

std::string TimingsSection(const RewriteReport& report) {
  if (!report.result) return "";
  const RewriteResult& result = *report.result;
  return "<h2>Time</h2>\n<figure>\n" +
         TimingChart(
             {{"plan", result.plan_seconds}, {"write", result.write_seconds}, {"commit", result.commit_seconds}}) +
         "</figure>\n";
}

std::string HistorySection(const RewriteReport& report) {
  const size_t skipped = report.history.size() - std::min(report.history.size(), kSnapshotsShown);
  const std::vector<int64_t> fresh = report.result ? report.result->snapshot_ids : std::vector<int64_t>{};
  std::string html =
      "<h2>Snapshots</h2>\n<div class=\"scroll\"><table id=\"history\"><thead><tr><th>Snapshot</th><th>Committed</th>"
      "<th>Operation</th><th>Added</th><th>Removed</th></tr></thead><tbody>\n";
  for (size_t i = report.history.size(); i > skipped; --i) {
    const HistoryEntry& entry = report.history[i - 1];
    const bool is_fresh = std::find(fresh.begin(), fresh.end(), entry.snapshot_id) != fresh.end();
    html += fmt::format("<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        is_fresh ? " class=\"new\"" : "", entry.snapshot_id, EscapeHtml(entry.committed_at),
                        EscapeHtml(entry.operation), EscapeHtml(entry.added), EscapeHtml(entry.removed));
  }
  html += "</tbody></table></div>\n";
  if (skipped > 0)
    html += fmt::format("<p class=\"soft\">and {} before</p>\n", Counted(static_cast<int64_t>(skipped), "snapshot"));
  return html;
}

std::string Changes(const Json& summary, const std::string& verb) {
  const auto number = [&](const std::string& key) {
    const auto found = summary.find(verb + key);
    return found == summary.end() ? int64_t{0} : std::atoll(found->get<std::string>().c_str());
  };
  const int64_t files = number("-data-files"), rows = number("-records");
  return files == 0 && rows == 0 ? "" : fmt::format("{}, {}", Counted(files, "file"), Counted(rows, "row"));
}

// A summary column as JSON: [["key", "value"], ...].
Json SummaryObject(const Json& pairs) {
  Json object = Json::object();
  for (const Json& pair : pairs) {
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string()) {
      object[pair[0].get<std::string>()] = pair[1];
    }
  }
  return object;
}

HistoryEntry EntryOf(const Json& row) {
  const auto text = [&](const char* name) {
    const auto found = row.find(name);
    return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const Json summary = SummaryObject(row.value("summary", Json::array()));
  HistoryEntry entry;
  entry.snapshot_id = row.value("snapshot_id", int64_t{0});
  entry.committed_at = text("committed_at").substr(0, 19);
  entry.operation = text("operation");
  entry.added = Changes(summary, "added");
  entry.removed = Changes(summary, "deleted");
  return entry;
}

}  // namespace

Result<std::vector<int64_t>> DataFileSizes(const Table& table) {
  ARROW_ASSIGN_OR_RAISE(auto files, table.Files());
  ARROW_ASSIGN_OR_RAISE(const std::string text, JsonRows(*files));
  std::vector<int64_t> sizes;
  for (const Json& file : Json::parse(text)) {
    const Json content = file.value("content", Json());
    const bool is_data = content == Json(0) || content == Json("data");
    if (is_data) sizes.push_back(file.value("file_size_in_bytes", int64_t{0}));
  }
  return sizes;
}

Result<std::vector<HistoryEntry>> HistoryOf(const Table& table) {
  ARROW_ASSIGN_OR_RAISE(auto snapshots, table.Snapshots());
  ARROW_ASSIGN_OR_RAISE(const std::string text, JsonRows(*snapshots));
  std::vector<HistoryEntry> history;
  for (const Json& row : Json::parse(text)) history.push_back(EntryOf(row));
  return history;
}

std::string ReportPage(const RewriteReport& report) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += fmt::format("<title>{}: {}</title>\n<style>{}</style>\n</head>\n<body>\n", EscapeHtml(report.table),
                      report.result ? "rewritten" : "rewrite planned", kStyle);
  html += fmt::format(
      "<header>\n<p class=\"soft\">{}</p>\n<h1 id=\"table\">{}</h1>\n<p class=\"soft\"><code "
      "id=\"location\">{}</code></p>\n",
      report.result ? "Data files rewritten" : "Rewrite planned (dry run)", EscapeHtml(report.table),
      EscapeHtml(report.location));
  if (!report.command.empty())
    html += fmt::format("<p class=\"soft\"><code id=\"options\">{}</code></p>\n", EscapeHtml(report.command));
  html += "</header>\n" + Tiles(report) + SizesSection(report) + PlanSection(report) + TimingsSection(report) +
          HistorySection(report);
  html += fmt::format("<footer class=\"soft\">calve {}, <time id=\"made-at\">{}</time></footer>\n</body>\n</html>\n",
                      kVersion, EscapeHtml(report.made_at));
  return html;
}

}  // namespace calve::cli
