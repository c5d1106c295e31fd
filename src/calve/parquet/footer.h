#pragma once

#include "calve/parquet/field_lookup.h"
#include "calve/parquet/footer_index.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/selection.h"

#include <arrow/io/interfaces.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace calve {
struct ParquetDecryption;
}

namespace calve::parquet {

class FileDecryptor;

/// What is read of a file's footer, to be used again for the same file. Immutable, but for what its lookup learns.
struct StoredFooter {
  std::shared_ptr<const FooterIndex> index;
  std::shared_ptr<const FieldLookup> lookup;  ///< of the index
  int64_t file_size = 0;
  int64_t begin = 0;  ///< where the footer's thrift begins in the file
};

/// A file's footer. Its bytes are indexed when it is read; what they say of a column is parsed when it is asked for,
/// so that one column of ten thousand costs about what one of ten does. Thread-safe.
class Footer {
 public:
  /// Reads the footer at the end of a file. Invalid for what is no Parquet file or is cut short, and for an encrypted
  /// one that `keys`, which may be null, do not open.
  static Result<std::shared_ptr<const Footer>> Read(arrow::io::RandomAccessFile* file,
                                                    std::shared_ptr<const ParquetDecryption> keys = nullptr,
                                                    const TypeOptions& types = {});

  using Stored = StoredFooter;
  /// `types`: for the schemas; their metadata is filled in.
  explicit Footer(Stored stored, std::shared_ptr<FileDecryptor> decryptor = nullptr, TypeOptions types = {});

  /// Such a footer is good for those only who have its keys, and its chunks for those who have theirs.
  bool is_encrypted() const { return decryptor_ != nullptr; }
  const Stored& stored() const { return stored_; }
  const FooterIndex& index() const { return *stored_.index; }
  int64_t file_size() const { return stored_.file_size; }
  /// Where the footer begins: the pages end before it.
  int64_t begin() const { return stored_.begin; }
  int num_columns() const { return index().num_columns(); }
  int num_row_groups() const { return static_cast<int>(index().row_groups().size()); }
  /// Of all row groups; the footer's own count is not relied on, since writers have got it wrong.
  int64_t num_rows() const { return index().num_rows(); }
  const FooterIndex::RowGroup& row_group(int i) const { return index().row_groups()[static_cast<size_t>(i)]; }
  /// parquet-mr before 1.2.9 left the dictionary page's header out of the chunk's size.
  bool omits_dictionary_header() const { return omits_dictionary_header_; }

  /// Parses one column chunk, and decrypts its metadata; what keeps that from being done is in the chunk's `crypto`.
  Result<ColumnChunk> Chunk(int row_group, int leaf) const;

  /// Builds the part of the schema that holds `leaves`; see Select in selection.h.
  Result<Selection> SelectLeaves(const std::vector<int>& leaves) const;
  /// As LeavesOfName and LeavesOfFieldId in selection.h.
  Result<std::vector<int>> LeavesOf(const std::string& name) const;
  std::vector<int> LeavesOfId(int field_id) const;

  /// Everything, parsed at the first call.
  const FileMetadata& metadata() const;
  const FileSchema& schema() const;

  /// What was parsed so far, apart from the index.
  struct Counts {
    std::atomic<int64_t> schema_elements{0}, column_chunks{0};
    std::atomic<int64_t> whole{0};  ///< calls that parsed everything
  };
  const Counts& counts() const { return counts_; }

 private:
  /// Some top-level fields.
  struct PartialSchema {
    FileSchema schema;
    std::vector<int> leaves;  ///< of the file, parallel to the schema's
  };
  Result<PartialSchema> SchemaOf(const std::vector<size_t>& fields) const;
  Result<FileSchema> MakeSchema(const std::vector<size_t>& fields) const;
  /// What "ARROW:schema" has for these fields; empty when nothing fits.
  arrow::FieldVector StoredFields(const std::vector<size_t>& fields) const;
  Result<std::vector<SchemaElement>> ElementsOf(const std::vector<size_t>& fields) const;
  std::string PathOf(int leaf) const;
  void Decrypt(int row_group, int leaf, ColumnChunk* chunk) const;

  const Stored stored_;
  const std::shared_ptr<FileDecryptor> decryptor_;  ///< null: not encrypted
  const bool omits_dictionary_header_;
  mutable Counts counts_;
  const TypeOptions types_;
  mutable std::once_flag metadata_parsed_, schema_built_, arrow_schema_parsed_;
  mutable std::shared_ptr<arrow::Schema> arrow_schema_;  ///< as the writer left it; null: none, or not asked for
  mutable FileMetadata metadata_;
  mutable FileSchema schema_;
};

}  // namespace calve::parquet
