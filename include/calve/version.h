#pragma once

namespace calve {

/// The version of the library, as in `calve --version` and in the `created_by` of the files it writes.
inline constexpr const char kVersion[] = "0.1.0";

}  // namespace calve
