// Nested columns of a body: which rows of their children the chosen rows have.
#include "calve/base/status.h"
#include "calve/ipc/body_encoder.h"

#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include <limits>

namespace calve::ipc {

namespace {

template <typename Offset>
int64_t OffsetAt(const ColumnRows& source, int64_t i) {
  return source.Buffer<Offset>(1)[i];
}

Status CheckChildRows(Sources sources, size_t child) {
  for (const ColumnRows& source : sources) {
    if (source.data->child_data[child]->length <= std::numeric_limits<uint32_t>::max()) continue;
    return NotImplemented("nested arrays of more than {} elements in shuffle blocks",
                          std::numeric_limits<uint32_t>::max());
  }
  return Status::OK();
}

/// The same rows of the children with index `child`, as structs and sparse unions have them.
std::vector<ColumnRows> SameRows(Sources sources, size_t child) {
  std::vector<ColumnRows> result;
  result.reserve(sources.size());
  for (const ColumnRows& source : sources) {
    const arrow::ArrayData& data = *source.data->child_data[child];
    result.push_back({&data, source.rows, source.count, data.offset + source.base});
  }
  return result;
}

}  // namespace

template <typename Offset>
Status BodyEncoder::AddList(const arrow::DataType& type, Sources sources, int64_t rows) {
  ARROW_RETURN_NOT_OK(CheckChildRows(sources, 0));
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  ARROW_ASSIGN_OR_RAISE(const int64_t elements, WriteOffsets<Offset>(sources, rows));
  ChildRows children(sources.size(), elements);
  for (const ColumnRows& source : sources) {
    if (source.count == 0) continue;
    children.Begin(*source.data->child_data[0]);
    source.ForEach([&](int64_t i) {
      for (int64_t j = OffsetAt<Offset>(source, i); j < OffsetAt<Offset>(source, i + 1); ++j) children.Add(j);
    });
  }
  return Add(*type.field(0)->type(), children.sources(), elements);
}

template <typename Offset>
Status BodyEncoder::AddListView(const arrow::DataType& type, Sources sources, int64_t rows) {
  ARROW_RETURN_NOT_OK(CheckChildRows(sources, 0));
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  const auto size_at = [](const ColumnRows& source, int64_t i) -> int64_t {
    const uint8_t* validity = source.Validity();
    if (validity != nullptr && !arrow::bit_util::GetBit(validity, i)) return 0;
    return source.Buffer<Offset>(2)[i];
  };
  const int64_t size = rows * static_cast<int64_t>(sizeof(Offset));
  ARROW_ASSIGN_OR_RAISE(uint8_t* at, StartBuffer(size));
  auto* out = reinterpret_cast<Offset*>(at);
  int64_t elements = 0;
  for (const ColumnRows& source : sources) {
    source.ForEach([&](int64_t i) {
      *out++ = static_cast<Offset>(elements);
      elements += size_at(source, i);
    });
  }
  if (elements > std::numeric_limits<Offset>::max()) {
    return Status::CapacityError(fmt::format("{} elements of one column do not fit a shuffle block", elements));
  }
  ARROW_RETURN_NOT_OK(EndBuffer());
  ARROW_ASSIGN_OR_RAISE(at, StartBuffer(size));
  out = reinterpret_cast<Offset*>(at);
  ChildRows children(sources.size(), elements);
  for (const ColumnRows& source : sources) {
    if (source.count == 0) continue;
    children.Begin(*source.data->child_data[0]);
    source.ForEach([&](int64_t i) {
      const int64_t count = size_at(source, i), first = OffsetAt<Offset>(source, i);
      *out++ = static_cast<Offset>(count);
      for (int64_t j = first; j < first + count; ++j) children.Add(j);
    });
  }
  ARROW_RETURN_NOT_OK(EndBuffer());
  return Add(*type.field(0)->type(), children.sources(), elements);
}

Status BodyEncoder::AddFixedList(const arrow::DataType& type, Sources sources, int64_t rows) {
  const int64_t size = static_cast<const arrow::FixedSizeListType&>(type).list_size();
  ARROW_RETURN_NOT_OK(CheckChildRows(sources, 0));
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  ChildRows children(sources.size(), rows * size);
  for (const ColumnRows& source : sources) {
    children.Begin(*source.data->child_data[0]);
    source.ForEach([&](int64_t i) {
      for (int64_t j = i * size; j < (i + 1) * size; ++j) children.Add(j);
    });
  }
  return Add(*type.field(0)->type(), children.sources(), rows * size);
}

Status BodyEncoder::AddStruct(const arrow::DataType& type, Sources sources, int64_t rows) {
  ARROW_RETURN_NOT_OK(AddNode(sources, rows));
  for (int child = 0; child < type.num_fields(); ++child) {
    ARROW_RETURN_NOT_OK(Add(*type.field(child)->type(), SameRows(sources, static_cast<size_t>(child)), rows));
  }
  return Status::OK();
}

Status BodyEncoder::AddUnion(const arrow::DataType& type, Sources sources, int64_t rows) {
  content_.nodes.push_back({rows, 0});
  ARROW_ASSIGN_OR_RAISE(uint8_t* codes, StartBuffer(rows));
  for (const ColumnRows& source : sources) {
    source.ForEach([&](int64_t i) { *codes++ = source.Buffer<uint8_t>(1)[i]; });
  }
  ARROW_RETURN_NOT_OK(EndBuffer());
  if (type.id() == arrow::Type::DENSE_UNION) return AddDenseChildren(type, sources, rows);
  for (int child = 0; child < type.num_fields(); ++child) {
    ARROW_RETURN_NOT_OK(Add(*type.field(child)->type(), SameRows(sources, static_cast<size_t>(child)), rows));
  }
  return Status::OK();
}

// Rows of a child come in the order in which they are used; those that are used twice come twice.
Status BodyEncoder::AddDenseChildren(const arrow::DataType& type, Sources sources, int64_t rows) {
  const auto& child_of_code = static_cast<const arrow::UnionType&>(type).child_ids();
  const auto fields = static_cast<size_t>(type.num_fields());
  std::vector<ChildRows> children;
  for (size_t child = 0; child < fields; ++child) {
    ARROW_RETURN_NOT_OK(CheckChildRows(sources, child));
    children.emplace_back(sources.size(), rows);
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* at, StartBuffer(rows * 4));
  auto* out = reinterpret_cast<int32_t*>(at);
  for (const ColumnRows& source : sources) {
    for (size_t child = 0; child < fields; ++child) children[child].Begin(*source.data->child_data[child]);
    source.ForEach([&](int64_t i) {
      const auto code = static_cast<size_t>(source.Buffer<int8_t>(1)[i]);
      ChildRows& child = children[static_cast<size_t>(child_of_code[code])];
      *out++ = static_cast<int32_t>(child.count());
      child.Add(source.Buffer<int32_t>(2)[i]);
    });
  }
  ARROW_RETURN_NOT_OK(EndBuffer());
  for (size_t child = 0; child < fields; ++child) {
    const auto& field = *type.field(static_cast<int>(child));
    ARROW_RETURN_NOT_OK(Add(*field.type(), children[child].sources(), children[child].count()));
  }
  return Status::OK();
}

template Status BodyEncoder::AddList<int32_t>(const arrow::DataType&, Sources, int64_t);
template Status BodyEncoder::AddList<int64_t>(const arrow::DataType&, Sources, int64_t);
template Status BodyEncoder::AddListView<int32_t>(const arrow::DataType&, Sources, int64_t);
template Status BodyEncoder::AddListView<int64_t>(const arrow::DataType&, Sources, int64_t);

}  // namespace calve::ipc
