#include "calve/base/status.h"
#include "calve/iceberg/scan_plan.h"

namespace calve::iceberg {
namespace {

/// Something that cannot be read yet: its name, and a file that has it.
struct Obstacle {
  std::string what;
  std::string path;
};

std::string FormatName(const std::string& format) {
  if (format == "AVRO") return "Avro";
  return format.empty() ? "an unnamed format" : format;
}

std::string DeleteKind(const DataFile& file) {
  if (file.content == FileContent::kEqualityDeletes) return "equality deletes";
  return file.file_format == "PUFFIN" ? "deletion vectors" : "position deletes";
}

std::vector<Obstacle> ObstaclesOf(const FileScanTask& task) {
  std::vector<Obstacle> obstacles;
  const DataFile& file = task.file;
  if (file.file_format != "PARQUET") {
    obstacles.push_back({fmt::format("data files in {}", FormatName(file.file_format)), file.file_path});
  }
  if (!file.key_metadata.empty()) obstacles.push_back({"encrypted data files", file.file_path});
  for (const PlannedDelete& deletes : task.deletes) {
    obstacles.push_back({DeleteKind(deletes.file), deletes.file.file_path});
  }
  return obstacles;
}

bool Has(const FileScanTask& task, const std::string& what) {
  for (const Obstacle& obstacle : ObstaclesOf(task)) {
    if (obstacle.what == what) return true;
  }
  return false;
}

}  // namespace

Status CheckSupported(const ScanPlan& plan) {
  for (const FileScanTask& task : plan.tasks) {
    const auto obstacles = ObstaclesOf(task);
    if (obstacles.empty()) continue;
    const Obstacle& first = obstacles.front();
    const auto affected = std::count_if(plan.tasks.begin(), plan.tasks.end(),
                                        [&](const FileScanTask& other) { return Has(other, first.what); });
    return NotImplemented("{} are not supported yet (file {}, {} of {} data files)", first.what, first.path, affected,
                          plan.tasks.size());
  }
  return Status::OK();
}

}  // namespace calve::iceberg
