#include "calve/parquet/rle_boolean_decoder.h"

#include "calve/base/status.h"

namespace calve::parquet {

Status RleBooleanDecoder::Start() {
  ByteCursor cursor(bytes_);
  const uint32_t size = cursor.Little<uint32_t>();
  const auto runs = cursor.Bytes(size);
  if (!cursor.ok()) return Invalid("{} bytes of RLE booleans, the page has {}", size, bytes_.size());
  runs_ = RunReader(runs, 1);
  started_ = true;
  return Status::OK();
}

Status RleBooleanDecoder::Decode(int64_t count, uint8_t* out) {
  // A page without values may leave out the length.
  if (count > 0 && !started_) ARROW_RETURN_NOT_OK(Start());
  while (count > 0) {
    Run run;
    ARROW_RETURN_NOT_OK(runs_.Next(count, &run));
    if (run.packed != nullptr) {
      UnpackRun(run, 1, out);
    } else if (run.value <= 1) {
      std::memset(out, static_cast<int>(run.value), static_cast<size_t>(run.count));
    } else {
      return Invalid("an RLE boolean of value {}", run.value);
    }
    out += run.count;
    count -= run.count;
  }
  return Status::OK();
}

Status RleBooleanDecoder::Skip(int64_t count) {
  if (count > 0 && !started_) ARROW_RETURN_NOT_OK(Start());
  for (Run run; count > 0; count -= run.count) ARROW_RETURN_NOT_OK(runs_.Next(count, &run));
  return Status::OK();
}

}  // namespace calve::parquet
