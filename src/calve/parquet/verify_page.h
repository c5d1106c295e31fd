#pragma once

#include "calve/parquet/dictionary.h"
#include "calve/parquet/page.h"
#include "calve/parquet/page_description.h"
#include "calve/parquet/schema.h"
#include "calve/parquet/value_order.h"
#include "calve/parquet/verify_report.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace calve::parquet {

/// What a data page really holds.
struct VerifiedPage {
  PageHeader header;
  int64_t offset = 0;                             ///< of its header, in the file
  int64_t index = 0;                              ///< in the chunk, a dictionary page included
  int64_t bytes = 0;                              ///< header included
  bool levels_read = false, values_read = false;  ///< what of `facts` holds
  bool begins_with_row = true;
  PageDescription facts;
};

/// Decodes the pages of one column chunk and describes them. What is wrong with a page goes to the report; statuses are
/// about memory.
class PageVerifier {
 public:
  /// `leaf`, `order` and `report` outlive this. `take` gets all values, PLAIN, block by block.
  PageVerifier(const LeafColumn& leaf, const ValueOrder& order, VerifyReport* report, arrow::MemoryPool* pool,
               std::function<void(std::span<const std::string_view>)> take);

  Status ReadDictionary(const Page& page);
  /// Fills what can be told of `page` in `out`.
  Status ReadData(const Page& page, VerifiedPage* out);
  int64_t dictionary_values() const { return dictionary_ == nullptr ? 0 : dictionary_->count; }

 private:
  struct Body;

  Result<Body> Split(const Page& page) const;
  Status ReadLevels(Body* body, int64_t count, VerifiedPage* out);
  Status ReadValues(const Page& page, std::span<const uint8_t> bytes, PageDescription* facts);
  Status ReadFixed(const Page& page, std::span<const uint8_t> bytes, PageDescription* facts);
  Status ReadBinary(const Page& page, std::span<const uint8_t> bytes, PageDescription* facts);
  void Take(std::span<const std::string_view> values, PageDescription* facts);
  void TakeBounds(std::string_view value, PageDescription* facts) const;
  void CheckPlainSize(const Page& page, size_t bytes, const PageDescription& facts);
  void CheckDictionary(const DictionaryPageHeader& header);
  std::string_view DictionaryValue(int64_t i) const;
  /// Reports what is the page's fault and returns OK; passes on what is not.
  Status Report(std::string_view rule, const Status& status);

  const LeafColumn& leaf_;
  const ValueOrder& order_;
  VerifyReport* report_;
  arrow::MemoryPool* pool_;
  const std::function<void(std::span<const std::string_view>)> take_;
  const LeafLayout layout_;
  std::shared_ptr<const Dictionary> dictionary_;
  bool seen_data_page_ = false, dictionary_failed_ = false;
};

}  // namespace calve::parquet
