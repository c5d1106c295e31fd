#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace calve::cli {

/// Bytes of "67108864", "64MiB", "64 MB", "1.5g": a number and an optional unit in any case. K, M, G, T and KiB .. TiB
/// count in 1024s, KB .. TB in 1000s.
arrow::Result<int64_t> ParseSize(std::string_view text);

std::string SizeText(int64_t bytes);      ///< "512 B", "1.4 MiB"
std::string CountText(int64_t count);     ///< "60,175"
std::string SecondsText(double seconds);  ///< "0.034 s", "4.2 s", "3 min 12 s"
/// "1 file", "5 files": the count and the noun, with an s where there is not one.
std::string Counted(int64_t count, std::string_view noun);

}  // namespace calve::cli
