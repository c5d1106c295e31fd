#pragma once

#include "calve/hash/hash.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/page_index.h"

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace calve::testing {

/// A Parquet file taken apart, to be changed and put together again. What is changed stays where it was or goes to the
/// end of the body, with all that points to it; so what a test does not change stays right.
struct EditedParquet {
  std::string body;  ///< everything before the footer
  parquet::FileMetadata metadata;

  explicit EditedParquet(const arrow::Buffer& file) {
    const std::string bytes = file.ToString();
    uint32_t size = 0;
    std::memcpy(&size, bytes.data() + bytes.size() - 8, sizeof(size));
    body = bytes.substr(0, bytes.size() - 8 - size);
    metadata = parquet::ParseFileMetadata(Bytes(std::string_view(bytes).substr(body.size(), size))).ValueOrDie();
  }

  static std::span<const uint8_t> Bytes(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }

  parquet::RowGroup& group(size_t i = 0) { return metadata.row_groups[i]; }
  parquet::ColumnChunk& chunk(size_t leaf, size_t i = 0) { return group(i).columns[leaf]; }
  parquet::ColumnMetadata& column(size_t leaf, size_t i = 0) { return *chunk(leaf, i).metadata; }
  parquet::Statistics& statistics(size_t leaf) { return *column(leaf).statistics; }

  parquet::OffsetIndex offsets(size_t leaf) {
    return parquet::ParseOffsetIndex(Part(*chunk(leaf).offset_index_offset, *chunk(leaf).offset_index_length))
        .ValueOrDie();
  }
  void SetOffsets(size_t leaf, const parquet::OffsetIndex& index) {
    Append(Serialize(index), &chunk(leaf).offset_index_offset, &chunk(leaf).offset_index_length);
  }
  parquet::ColumnIndex columns(size_t leaf) {
    return parquet::ParseColumnIndex(Part(*chunk(leaf).column_index_offset, *chunk(leaf).column_index_length))
        .ValueOrDie();
  }
  void SetColumns(size_t leaf, const parquet::ColumnIndex& index) {
    Append(Serialize(index), &chunk(leaf).column_index_offset, &chunk(leaf).column_index_length);
  }
  void EditOffsets(size_t leaf, const std::function<void(parquet::OffsetIndex*)>& edit) {
    auto index = offsets(leaf);
    edit(&index);
    SetOffsets(leaf, index);
  }
  void EditColumns(size_t leaf, const std::function<void(parquet::ColumnIndex*)>& edit) {
    auto index = columns(leaf);
    edit(&index);
    SetColumns(leaf, index);
  }

  /// Writes the pages of a chunk of the first row group anew, each as `edit` leaves its header and body. Sizes, offsets
  /// and the checksum follow the body; an edit that wants a wrong checksum sets `*keep_crc`.
  using Edit = std::function<void(int64_t page, parquet::PageHeader* header, std::string* body, bool* keep_crc)>;
  void EditPages(size_t leaf, const Edit& edit) {
    parquet::ColumnMetadata& meta = column(leaf);
    auto index = offsets(leaf);
    const int64_t dictionary = meta.dictionary_page_offset.value_or(0);
    int64_t at = dictionary > 0 && dictionary < meta.data_page_offset ? dictionary : meta.data_page_offset;
    const int64_t end = at + meta.total_compressed_size, old_bytes = meta.total_compressed_size,
                  old_uncompressed = meta.total_uncompressed_size;
    const auto begin = static_cast<int64_t>(body.size());
    meta.total_uncompressed_size = 0;
    size_t data_pages = 0;
    for (int64_t page = 0; at < end; ++page) {
      size_t header_bytes = 0;
      auto header = parquet::ParsePageHeader(Part(at, end - at), &header_bytes).ValueOrDie();
      std::string content =
          body.substr(static_cast<size_t>(at) + header_bytes, static_cast<size_t>(header.compressed_page_size));
      at += static_cast<int64_t>(header_bytes + content.size());
      const size_t old_size = content.size();
      bool keep_crc = false;
      edit(page, &header, &content, &keep_crc);
      header.compressed_page_size = static_cast<int32_t>(content.size());
      header.uncompressed_page_size += static_cast<int32_t>(content.size()) - static_cast<int32_t>(old_size);
      if (header.crc && !keep_crc) header.crc = static_cast<int32_t>(Crc32(Bytes(content)));
      const auto offset = static_cast<int64_t>(body.size());
      const std::string thrift = Serialize(header);
      body += thrift + content;
      meta.total_uncompressed_size += static_cast<int64_t>(thrift.size()) + header.uncompressed_page_size;
      if (header.type == parquet::PageType::kDictionaryPage) {
        meta.dictionary_page_offset = offset;
        continue;
      }
      if (data_pages == 0) meta.data_page_offset = offset;
      auto& location = index.page_locations.at(data_pages++);
      location.offset = offset;
      location.compressed_page_size = static_cast<int32_t>(thrift.size() + content.size());
    }
    meta.total_compressed_size = static_cast<int64_t>(body.size()) - begin;
    group().total_byte_size += meta.total_uncompressed_size - old_uncompressed;
    if (group().total_compressed_size) *group().total_compressed_size += meta.total_compressed_size - old_bytes;
    if (leaf == 0) group().file_offset.reset();
    SetOffsets(leaf, index);
  }

  std::shared_ptr<arrow::Buffer> Finish() const {
    const std::string footer = Serialize(metadata);
    const auto size = static_cast<uint32_t>(footer.size());
    return arrow::Buffer::FromString(body + footer + std::string(reinterpret_cast<const char*>(&size), 4) + "PAR1");
  }

 private:
  std::span<const uint8_t> Part(int64_t offset, int64_t length) const {
    return Bytes(std::string_view(body).substr(static_cast<size_t>(offset), static_cast<size_t>(length)));
  }
  void Append(const std::string& bytes, std::optional<int64_t>* offset, std::optional<int32_t>* length) {
    *offset = static_cast<int64_t>(body.size());
    *length = static_cast<int32_t>(bytes.size());
    body += bytes;
  }
};

}  // namespace calve::testing
