#pragma once

#include "calve/expr/bounds.h"
#include "calve/parquet_reader.h"
#include "calve/pipeline/exact_cast.h"
#include "calve/pipeline/source_schema.h"
#include "calve/pipeline/target_field.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calve::pipeline {

/// What is known of a data file's rows beside its columns.
struct FileValues {
  std::string path;                         ///< as the table names it: "_file"
  std::optional<int64_t> first_row_id;      ///< none: rows without a stored id have none
  int64_t sequence_number = 0;              ///< data sequence number
  std::map<int, Value> identity_partition;  ///< source field id -> partition value
};

struct ProjectionRules {
  CastRules casts = CastRules::kRead;
  /// A column that is missing is an error when the source's fields are known by name only: nothing tells that it is
  /// new.
  bool missing_by_name_is_error = false;
  /// A required top-level column that the table's name mapping leaves out is null: the mapping is what decides.
  bool unmapped_is_null = false;
  /// A null in a required field is an error that names the column.
  bool check_required = false;
  /// Batches have all of the source's columns, not only leaves().
  bool whole_source = false;
};

/// Turns batches of a file into batches of the columns asked for ("Column Projection").
///
/// Fields are found by id, at any depth. One that the file lacks takes the file's identity partition value, else its
/// default, else null; without either a required one is Invalid (but see ProjectionRules). Types are cast exactly.
/// Immutable, thread-safe.
class ColumnProjection {
 public:
  /// Invalid (naming file and column) when a column cannot be made from what the source has.
  static arrow::Result<ColumnProjection> Make(const SourceSchema& source, const std::vector<TargetField>& targets,
                                              FileValues values, const ProjectionRules& rules = {});

  /// The columns to read, sorted.
  const std::vector<int>& leaves() const { return leaves_; }
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  /// True when the i-th column is required and all null nevertheless.
  bool is_null_though_required(size_t i) const;

  /// `batch` has the source's schema pruned to leaves(); `rows` are the positions of its rows in the file.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Apply(const arrow::RecordBatch& batch,
                                                           const std::vector<RowRange>& rows,
                                                           arrow::MemoryPool* pool) const;
  /// The same for rows that stand one after another from `first_row` on.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Apply(const arrow::RecordBatch& batch, int64_t first_row,
                                                           arrow::MemoryPool* pool) const;

  /// Where a primitive field that is not inside a list or map comes from.
  struct Origin {
    int leaf = -1;  ///< -1: every row holds `constant`
    Value constant;
    std::shared_ptr<arrow::DataType> source_type, type;
    bool is_int96 = false;
  };
  std::optional<Origin> OriginOf(int field_id) const;

 private:
  enum class Action { kRead, kConstant, kRowId, kLastUpdatedSequenceNumber, kFilePath, kRowPosition };

  struct Node {
    Action action = Action::kConstant;
    TargetField target;                   ///< without its children
    std::string path;                     ///< dotted, for messages
    const SourceField* source = nullptr;  ///< while being made
    std::shared_ptr<arrow::DataType> source_type;
    int source_leaf = -1;
    bool is_int96 = false;
    int child = -1;  ///< kRead: index among the children (or columns) that are read
    Value constant;
    std::vector<Node> children;
  };
  struct Resolver;
  struct Maker;

  static const Node* Find(const std::vector<Node>& nodes, int field_id);

  std::vector<Node> nodes_;
  std::vector<int> leaves_;
  std::shared_ptr<arrow::Schema> schema_;
  FileValues values_;
  ProjectionRules rules_;
};

}  // namespace calve::pipeline
