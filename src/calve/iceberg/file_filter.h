#pragma once

#include "calve/expr/bounds.h"
#include "calve/expr/node.h"
#include "calve/iceberg/manifest.h"

#include <map>

namespace calve::iceberg {

/// What the metrics of `file` say of the column `field_id`. A bound that is no value of `type` is left out.
expr::ColumnBounds BoundsOf(const DataFile& file, int field_id, const Type& type);

/// Decides which manifests and files may hold rows that a filter keeps: by the partition values that the filter
/// projects to, then by the bounds of columns. Immutable once made, thread-safe. Refers to the metadata and schema it
/// was made from.
class FileFilter {
 public:
  /// `filter` is bound to the Arrow form of `schema`, or null: everything passes.
  FileFilter(const TableMetadata& metadata, const Schema& schema, expr::NodePtr filter);

  bool keeps_all() const { return filter_->op == expr::Op::kTrue; }

  /// Prepares for manifests and files of the spec `spec_id`. Invalid when the table has no such spec.
  Status AddSpec(int spec_id);

  /// False when no file of the manifest may match, by its partition summaries.
  bool MightMatch(const ManifestFile& manifest) const;

  enum class Decision { kKeep, kSkipByPartition, kSkipByBounds };
  Decision Decide(const DataFile& file) const;

  /// False when no row that `deletes` (an equality delete file) deletes may match.
  bool MightDelete(const DataFile& deletes) const;

  /// What is left of the filter for the rows of `file`: tests that all its rows pass are taken away.
  expr::NodePtr ResidualFor(const DataFile& file) const;

 private:
  struct SpecFilter {
    expr::NodePtr projection;        ///< over partition values
    std::vector<TypePtr> types;      ///< of the partition values
    std::map<int, size_t> identity;  ///< source field id -> index of its identity partition field
  };

  const SpecFilter& FilterOf(int spec_id) const { return specs_.at(spec_id); }
  expr::BoundsLookup LookupOf(const DataFile& file) const;

  const TableMetadata& metadata_;
  const Schema& schema_;
  expr::NodePtr filter_;
  std::map<int, TypePtr> column_types_;  ///< of the columns that the filter tests, by field id
  std::map<int, SpecFilter> specs_;
};

}  // namespace calve::iceberg
