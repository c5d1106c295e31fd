#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Bounds made shorter that stay bounds: a lower one gets no larger, an upper one no smaller. Text is ordered by code
/// points, which is the order of its UTF-8 bytes; what is returned is always well-formed, though `text` may be cut
/// inside a character.
namespace calve::iceberg {

/// The first `length` code points of `text`.
std::string TruncateTextDown(std::string_view text, size_t length);
/// `text`, or its first `length` code points with the last that can be raised raised by one, the rest left out; nothing
/// when none can be.
std::optional<std::string> TruncateTextUp(std::string_view text, size_t length);

std::string TruncateBytesDown(std::string_view bytes, size_t length);
std::optional<std::string> TruncateBytesUp(std::string_view bytes, size_t length);

}  // namespace calve::iceberg
