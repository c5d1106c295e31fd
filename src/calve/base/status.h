#pragma once

#include <arrow/result.h>
#include <arrow/status.h>
#include <fmt/format.h>

#include <string>
#include <utility>

namespace calve {

using arrow::Result;
using arrow::Status;

/// Status::Invalid with a message made by fmt: the bytes, or the request, are wrong.
template <typename... Args>
Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return Status::Invalid(fmt::format(format, std::forward<Args>(args)...));
}

/// Status::NotImplemented: legal by the specification, not supported here yet. Names the thing.
template <typename... Args>
Status NotImplemented(fmt::format_string<Args...> format, Args&&... args) {
  return Status::NotImplemented(fmt::format(format, std::forward<Args>(args)...));
}

/// Status::IOError: the storage is at fault.
template <typename... Args>
Status IOError(fmt::format_string<Args...> format, Args&&... args) {
  return Status::IOError(fmt::format(format, std::forward<Args>(args)...));
}

/// `status` with `context` in front of its message ("context: message"), its code and detail kept. OK stays OK.
Status WithContext(const Status& status, std::string_view context);

template <typename T>
Result<T> WithContext(Result<T> result, std::string_view context) {
  if (result.ok()) return result;
  return WithContext(result.status(), context);
}

/// Why a commit failed; found in a Status by CommitFailureOf.
enum class CommitFailure {
  kNone,
  kConflict,      ///< another writer committed first: refresh and try again
  kStateUnknown,  ///< the commit may or may not have happened: look before trying again
};

/// An IOError that carries `failure`.
Status CommitError(CommitFailure failure, std::string message);

/// The commit failure that `status` carries, kNone for any other status.
CommitFailure CommitFailureOf(const Status& status);

}  // namespace calve
