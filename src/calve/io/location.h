#pragma once

#include <string_view>

namespace calve {

/// The scheme of `location` ("s3" of "s3://bucket/key", "file" of "file:/x"), empty for a bare path. A colon alone
/// makes no scheme: "a:b" is a path.
std::string_view SchemeOf(std::string_view location);

}  // namespace calve
