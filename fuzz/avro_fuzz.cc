// Any bytes as an Avro object container file: its header and records are read, and what is read is written and read
// again.

#include "calve/avro/reader.h"
#include "calve/avro/writer.h"

#include <cstdlib>

namespace {

using calve::avro::FileReader;
using calve::avro::Value;

/// The records up to the first error; false when there was one.
bool ReadRecords(FileReader& reader, std::vector<Value>* records) {
  constexpr size_t kMostRecords = 10000;
  while (records->size() < kMostRecords) {
    Value record;
    const auto more = reader.Next(&record);
    if (!more.ok()) return false;
    if (!*more) return true;
    records->push_back(std::move(record));
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto reader = FileReader::Make({reinterpret_cast<const char*>(data), size});
  std::vector<Value> records;
  if (!reader.ok() || !ReadRecords(**reader, &records)) return 0;

  const auto schema = calve::avro::ParseSchema((*reader)->metadata().at("avro.schema")).ValueOrDie();
  const auto writer = calve::avro::FileWriter::Make(schema, {}, "null").ValueOrDie();
  for (const auto& record : records) {
    if (!writer->Append(record).ok()) std::abort();
  }
  const auto written = writer->Finish().ValueOrDie();
  const auto again = FileReader::Make(written).ValueOrDie();
  std::vector<Value> read_again;
  if (!ReadRecords(*again, &read_again) || read_again.size() != records.size()) std::abort();
  return 0;
}
