#include "calve/base/status.h"
#include "calve/iceberg/scan_plan.h"

#include <algorithm>

namespace calve::iceberg {
namespace {

std::string_view DeleteKind(const DataFile& file) {
  if (file.content == FileContent::kEqualityDeletes) return "equality deletes";
  return file.file_format == "PUFFIN" ? "deletion vectors" : "position deletes";
}

std::string_view FormatName(const DataFile& file) {
  return file.file_format == "AVRO" ? std::string_view("Avro") : file.file_format;
}

/// What of a task cannot be read yet, the first found, and the file that has it.
struct Obstacle {
  std::string what;
  const DataFile* file = nullptr;
};

Obstacle FirstObstacle(const FileScanTask& task) {
  if (task.file.file_format != "PARQUET") return {fmt::format("data files in {}", FormatName(task.file)), &task.file};
  if (!task.file.key_metadata.empty()) return {"encrypted data files", &task.file};
  if (task.deletes.empty()) return {};
  const DataFile& deletes = *task.deletes.front().file;
  return {std::string(DeleteKind(deletes)), &deletes};
}

bool Has(const FileScanTask& task, const std::string& what) {
  if (FirstObstacle(task).what == what) return true;
  return std::any_of(task.deletes.begin(), task.deletes.end(),
                     [&](const PlannedDelete& deletes) { return DeleteKind(*deletes.file) == what; });
}

}  // namespace

Status CheckSupported(const ScanPlan& plan) {
  for (const FileScanTask& task : plan.tasks) {
    const Obstacle obstacle = FirstObstacle(task);
    if (obstacle.file == nullptr) continue;
    const auto affected = std::count_if(plan.tasks.begin(), plan.tasks.end(),
                                        [&](const FileScanTask& other) { return Has(other, obstacle.what); });
    return NotImplemented("{} are not supported yet (file {}, {} of {} data files)", obstacle.what,
                          obstacle.file->file_path, affected, plan.tasks.size());
  }
  return Status::OK();
}

}  // namespace calve::iceberg
