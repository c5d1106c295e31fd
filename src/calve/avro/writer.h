#pragma once

#include "calve/avro/schema.h"
#include "calve/avro/value.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace calve::avro {

/// Writes an object container file into memory. Not thread-safe.
class FileWriter {
 public:
  /// `codec`: "null", "deflate", "snappy" or "zstandard"; others are NotImplemented, by name. `metadata` goes into the
  /// header beside the schema and the codec.
  static Result<std::unique_ptr<FileWriter>> Make(SchemaPtr schema,
                                                  const std::vector<std::pair<std::string, std::string>>& metadata,
                                                  std::string_view codec);

  /// Appends a record. Invalid when it is not of the schema; the file is as before then.
  Status Append(const Value& record);
  /// Bytes of the file so far, those of the open block as they are before compression.
  size_t size_bytes() const { return file_.size() + block_.size(); }
  /// Ends the file and returns its bytes. The writer is spent.
  Result<std::string> Finish();

 private:
  FileWriter(SchemaPtr schema, std::string codec);
  void WriteHeader(const std::vector<std::pair<std::string, std::string>>& metadata);
  Status EndBlock();
  Result<std::string> Pack() const;

  SchemaPtr schema_;
  std::string codec_, sync_marker_, file_, block_;
  int64_t block_records_ = 0;
};

}  // namespace calve::avro
