#pragma once

#include <cstdint>
#include <span>

namespace calve {

/// Murmur3 x86 32-bit, as Iceberg's bucket transform uses it with seed 0 (Appendix B).
uint32_t Murmur3(std::span<const uint8_t> bytes, uint32_t seed);

/// CRC-32 of zlib and gzip (polynomial 0x04C11DB7, reflected): Parquet pages, Avro's snappy blocks. `crc`: that of the
/// bytes before these.
uint32_t Crc32(std::span<const uint8_t> bytes, uint32_t crc = 0);

/// CRC-32C (polynomial 0x1EDC6F41, reflected): snappy's frames, checksums of shuffle files. `crc`: that of the bytes
/// before these.
uint32_t Crc32c(std::span<const uint8_t> bytes, uint32_t crc = 0);
/// The same without the machine's instruction.
uint32_t Crc32cByTables(std::span<const uint8_t> bytes, uint32_t crc = 0);

/// XXH64: Parquet's bloom filters, with seed 0.
uint64_t Xxh64(std::span<const uint8_t> bytes, uint64_t seed);

}  // namespace calve
