#include "calve/base/status.h"

namespace calve {
namespace {

constexpr char kCommitDetailType[] = "calve::CommitFailure";

class CommitDetail : public arrow::StatusDetail {
 public:
  explicit CommitDetail(CommitFailure failure) : failure_(failure) {}
  const char* type_id() const override { return kCommitDetailType; }
  std::string ToString() const override {
    return failure_ == CommitFailure::kConflict ? "commit conflict" : "commit state unknown";
  }
  CommitFailure failure() const { return failure_; }

 private:
  CommitFailure failure_;
};

}  // namespace

Status WithContext(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  return Status(status.code(), fmt::format("{}: {}", context, status.message()), status.detail());
}

Status CommitError(CommitFailure failure, std::string message) {
  return Status(arrow::StatusCode::IOError, std::move(message), std::make_shared<CommitDetail>(failure));
}

CommitFailure CommitFailureOf(const Status& status) {
  const auto& detail = status.detail();
  if (!detail || std::string_view(detail->type_id()) != kCommitDetailType) return CommitFailure::kNone;
  return static_cast<const CommitDetail&>(*detail).failure();
}

}  // namespace calve
