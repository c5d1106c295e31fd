#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/pipeline/arrow_file_scan.h"
#include "calve/pipeline/file_set_scan.h"
#include "calve/pipeline/filter_target.h"
#include "calve/pipeline/unified_schema.h"
#include "calve/scan.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <set>

namespace calve {

using pipeline::TargetField;
using pipeline::WithChildren;

namespace {

/// The targets under `targets` that the dotted `path` names, pruned to it; nothing when there is none.
std::optional<TargetField> Prune(const TargetField& target, std::string_view path);

std::optional<TargetField> PruneChildren(const TargetField& target, std::string_view path) {
  const bool is_map = target.field->type()->id() == arrow::Type::MAP;
  TargetField result = target;
  result.children.clear();
  bool found = false;
  for (const TargetField& child : target.children) {
    auto kept = Prune(child, path);
    found |= kept.has_value();
    if (!kept && is_map) kept = child;  // A map is not a map without both.
    if (kept) result.children.push_back(std::move(*kept));
  }
  if (!found) return std::nullopt;
  result.field = WithChildren(result);
  return result;
}

std::optional<TargetField> Prune(const TargetField& target, std::string_view path) {
  const std::string& name = target.field->name();
  if (path == name) return target;
  if (path.size() <= name.size() || !path.starts_with(name) || path[name.size()] != '.') return std::nullopt;
  return PruneChildren(target, path.substr(name.size() + 1));
}

/// Adds what `extra` keeps to `base`; both are prunings of the same target.
TargetField Merge(const TargetField& base, const TargetField& extra, const TargetField& whole) {
  if (whole.children.empty()) return whole;
  TargetField result = whole;
  result.children.clear();
  auto find = [](const TargetField& in, int id) -> const TargetField* {
    for (const auto& child : in.children) {
      if (child.id == id) return &child;
    }
    return nullptr;
  };
  for (const TargetField& child : whole.children) {
    const TargetField* left = find(base, child.id);
    const TargetField* right = find(extra, child.id);
    if (left != nullptr && right != nullptr)
      result.children.push_back(Merge(*left, *right, child));
    else if (left != nullptr || right != nullptr)
      result.children.push_back(left != nullptr ? *left : *right);
  }
  result.field = WithChildren(result);
  return result;
}

/// True for "_file" and "_pos": the others are of tables.
bool IsOfFiles(const TargetField& metadata_column) {
  return metadata_column.kind == TargetField::Kind::kFilePath ||
         metadata_column.kind == TargetField::Kind::kRowPosition;
}

/// The columns that a filter may name: those of the files, and the metadata columns that it does name.
std::vector<TargetField> TestableColumns(const expr::NodePtr& filter, const std::vector<TargetField>& all,
                                         const arrow::Schema& schema) {
  auto result = pipeline::FilterTargets(all);
  for (TargetField& special : pipeline::MetadataColumnsOf(filter, schema)) {
    if (IsOfFiles(special)) result.push_back(std::move(special));
  }
  return result;
}

Result<std::vector<TargetField>> SelectColumns(const std::vector<TargetField>& all,
                                               const std::vector<std::string>& names, const arrow::Schema& schema) {
  if (names.empty()) return all;
  std::vector<TargetField> result;
  for (const std::string& name : names) {
    bool found = false;
    for (const TargetField& whole : all) {
      auto kept = Prune(whole, name);
      if (!kept) continue;
      found = true;
      auto known = std::find_if(result.begin(), result.end(), [&](const auto& t) { return t.id == whole.id; });
      if (known == result.end()) {
        result.push_back(std::move(*kept));
      } else {
        *known = Merge(*known, *kept, whole);
      }
    }
    auto special = found ? std::nullopt : pipeline::MetadataColumn(name);
    if (special && IsOfFiles(*special)) {
      result.push_back(std::move(*special));
    } else if (!found) {
      return Invalid("no column '{}': the files have {}", name, fmt::join(schema.field_names(), ", "));
    }
  }
  return result;
}

/// The schema that the files are read as; of kFirst and of a single file only the first is opened.
Result<std::shared_ptr<arrow::Schema>> SchemaOfFiles(const FileIO& io, const std::vector<std::string>& paths,
                                                     const ScanOptions& options, const Context& context) {
  ParquetReadOptions read = pipeline::TableFileOptions();
  read.decryption = options.decryption;
  std::vector<pipeline::SchemaOfFile> schemas(options.file_schemas == FileSchemas::kFirst ? 1 : paths.size());
  ARROW_RETURN_NOT_OK(ParallelFor(context, static_cast<int64_t>(schemas.size()), [&](int64_t i) -> Status {
    const std::string& path = paths[static_cast<size_t>(i)];
    ARROW_ASSIGN_OR_RAISE(auto file, io.Open(path));
    ARROW_ASSIGN_OR_RAISE(auto reader, ParquetReader::Open(std::move(file), path, read, context));
    schemas[static_cast<size_t>(i)] = {path, reader->schema()};
    return Status::OK();
  }));
  return schemas.size() == 1 ? schemas[0].schema : pipeline::UnifySchemas(schemas, options.file_schemas);
}

Status CheckOptions(const std::vector<std::string>& paths, const ScanOptions& options) {
  if (paths.empty()) return Invalid("no file to scan");
  if (options.snapshot_id || options.ref || options.as_of_ms) return Invalid("files have no snapshots");
  return Status::OK();
}

}  // namespace

Result<std::unique_ptr<Scan>> ScanFiles(const std::vector<std::string>& paths, const ScanOptions& options,
                                        const Context& context) {
  ARROW_RETURN_NOT_OK(CheckOptions(paths, options));
  ARROW_ASSIGN_OR_RAISE(const bool of_arrow, pipeline::IsArrowFile(paths[0]));
  if (of_arrow) return pipeline::ScanArrowFiles(paths, options, context);
  const auto io = std::make_shared<FileIO>();
  pipeline::ScanSetup setup;
  setup.pool = OperationPool::Make(context);
  ARROW_ASSIGN_OR_RAISE(const auto schema,
                        SchemaOfFiles(*io, paths, options, ContextWithPool(context, setup.pool.get())));
  const auto all = pipeline::TargetsOf(*schema);

  pipeline::FileSetOptions read;
  read.batch_rows = options.batch_rows;
  read.decryption = options.decryption;
  ARROW_ASSIGN_OR_RAISE(read.output, SelectColumns(all, options.columns, *schema));
  expr::NodePtr filter;
  if (!options.filter.always_true()) {
    const auto testable = TestableColumns(options.filter.root(), all, *schema);
    ARROW_ASSIGN_OR_RAISE(filter, expr::Bind(options.filter.root(), *pipeline::SchemaOf(testable)));
    read.filter_columns = pipeline::TargetsWith(testable, expr::FieldIdsOf(filter));
  }
  read.identify = [all, by_id = options.file_schemas == FileSchemas::kUnionById](const ParquetReader&,
                                                                                 pipeline::SourceSchema* source) {
    if (by_id) {
      pipeline::AssignIdsByFieldId(all, source);
    } else {
      source->AssignIdsByName(all, pipeline::SameNames::kInOrder);
    }
    return Status::OK();
  };

  std::vector<pipeline::FileToRead> files;
  std::vector<pipeline::PlanRow> rows;
  for (const std::string& path : paths) {
    pipeline::FileToRead file;
    file.location = path;
    file.values.path = path;
    file.filter = filter;
    files.push_back(std::move(file));
    ARROW_ASSIGN_OR_RAISE(const int64_t size, io->Size(path));
    setup.planned.bytes_planned += size;
    rows.push_back({path, 0, size, "", filter ? expr::ToString(filter) : "TRUE"});
  }
  setup.planned.data_files_total = static_cast<int64_t>(paths.size());
  ARROW_ASSIGN_OR_RAISE(setup.files,
                        pipeline::FileSet::Open(io, std::move(files), std::move(read), setup.pool, context));
  for (size_t i = 0; i < rows.size(); ++i) rows[i].record_count = setup.files->rows_of_file(i);
  ARROW_ASSIGN_OR_RAISE(setup.plan, pipeline::PlanBatch(rows));
  return pipeline::MakeFileSetScan(std::move(setup), context);
}

}  // namespace calve
