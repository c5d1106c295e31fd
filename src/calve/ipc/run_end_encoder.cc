// Run-end encoded columns of a body: the runs that the chosen rows fall into, numbered anew.
#include "calve/base/status.h"
#include "calve/ipc/body_encoder.h"

#include <arrow/type.h>
#include <arrow/util/ree_util.h>

#include <limits>

namespace calve::ipc {

namespace {

/// The runs of a block: where each ends, and the value that it repeats.
struct Runs {
  std::vector<int64_t> ends;
  std::vector<std::pair<size_t, int64_t>> values;  ///< source, index in its values
};

Runs RunsOf(Sources sources) {
  Runs runs;
  int64_t end = 0;
  for (size_t s = 0; s < sources.size(); ++s) {
    const ColumnRows& source = sources[s];
    const arrow::ArraySpan span(*source.data);
    source.ForEach([&](int64_t i) {
      const std::pair<size_t, int64_t> value(s, arrow::ree_util::FindPhysicalIndex(span, i - span.offset, span.offset));
      ++end;
      if (!runs.values.empty() && runs.values.back() == value) {
        runs.ends.back() = end;
      } else {
        runs.values.push_back(value);
        runs.ends.push_back(end);
      }
    });
  }
  return runs;
}

template <typename T>
void Write(const std::vector<int64_t>& ends, uint8_t* at) {
  auto* out = reinterpret_cast<T*>(at);
  for (const int64_t end : ends) *out++ = static_cast<T>(end);
}

void WriteEnds(const std::vector<int64_t>& ends, int width, uint8_t* out) {
  if (width == 2) return Write<int16_t>(ends, out);
  if (width == 4) return Write<int32_t>(ends, out);
  Write<int64_t>(ends, out);
}

Status CheckEnds(int64_t rows, int width) {
  const int64_t most = width == 2   ? std::numeric_limits<int16_t>::max()
                       : width == 4 ? std::numeric_limits<int32_t>::max()
                                    : std::numeric_limits<int64_t>::max();
  if (rows <= most) return Status::OK();
  return Status::CapacityError(fmt::format("run ends of {} bits do not count {} rows of a block", width * 8, rows));
}

}  // namespace

Status BodyEncoder::AddRunEnds(const arrow::DataType& type, Sources sources, int64_t rows) {
  const int width = type.field(0)->type()->byte_width();
  ARROW_RETURN_NOT_OK(CheckEnds(rows, width));
  const Runs runs = RunsOf(sources);
  const auto count = static_cast<int64_t>(runs.ends.size());
  content_.nodes.push_back({rows, 0});
  content_.nodes.push_back({count, 0});
  ARROW_RETURN_NOT_OK(StartBuffer(0).status());  // run ends are never null
  ARROW_RETURN_NOT_OK(EndBuffer());
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, StartBuffer(count * width));
  WriteEnds(runs.ends, width, out);
  ARROW_RETURN_NOT_OK(EndBuffer());
  ChildRows values(sources.size(), count);
  size_t begun = 0;
  for (const auto& [source, index] : runs.values) {
    for (; begun <= source; ++begun) values.Begin(*sources[begun].data->child_data[1]);
    values.Add(index);
  }
  return Add(*type.field(1)->type(), values.sources(), count);
}

}  // namespace calve::ipc
