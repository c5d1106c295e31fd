#include "calve/parquet/encryption_metadata.h"

#include "calve/parquet/thrift_reader.h"
#include "calve/parquet/thrift_writer.h"

// EncryptionAlgorithm, ColumnCryptoMetaData and FileCryptoMetaData; the numbers are the members' ids in parquet.thrift.

namespace calve::parquet {
namespace {

using Field = ThriftReader::Field;

void ReadAlgorithmMembers(ThriftReader& in, EncryptionAlgorithm* out) {
  in.Struct("AesGcmV1/AesGcmCtrV1", [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "aad_prefix", &out->aad_prefix);
      case 2:
        return in.Read(field, "aad_file_unique", &out->aad_file_unique);
      case 3:
        return in.Read(field, "supply_aad_prefix", &out->supply_aad_prefix);
      default:
        return false;
    }
  });
}

void ReadColumnKey(ThriftReader& in, ColumnCryptoMetadata* out) {
  in.Struct("EncryptionWithColumnKey", [&](Field field) {
    // The path (1) is that of the schema.
    return field.id == 2 && in.Read(field, "key_metadata", &out->key_metadata);
  });
}

}  // namespace

void ReadEncryptionAlgorithm(ThriftReader& in, EncryptionAlgorithm* out) {
  in.Struct("EncryptionAlgorithm", [&](Field field) {
    if (field.id != 1 && field.id != 2) return false;
    out->kind = static_cast<EncryptionAlgorithm::Kind>(field.id);
    return in.ReadStruct(field, "algorithm", [&] { ReadAlgorithmMembers(in, out); });
  });
}

void ReadColumnCryptoMetadata(ThriftReader& in, ColumnCryptoMetadata* out) {
  in.Struct("ColumnCryptoMetaData", [&](Field field) {
    if (field.id == 1) out->kind = ColumnCryptoMetadata::Kind::kFooterKey;
    if (field.id != 2) return false;
    out->kind = ColumnCryptoMetadata::Kind::kColumnKey;
    return in.ReadStruct(field, "ENCRYPTION_WITH_COLUMN_KEY", [&] { ReadColumnKey(in, out); });
  });
}

arrow::Result<FileCryptoMetadata> ParseFooterCrypto(std::span<const uint8_t> bytes) {
  ThriftReader in(bytes);
  FileCryptoMetadata out;
  in.Struct("FileMetaData", [&](Field field) {
    switch (field.id) {
      case 8:
        return in.ReadStruct(field, "encryption_algorithm", [&] { ReadEncryptionAlgorithm(in, &out.algorithm); });
      case 9:
        return in.Read(field, "footer_signing_key_metadata", &out.key_metadata);
      default:
        return false;
    }
  });
  ARROW_RETURN_NOT_OK(in.status());
  return out;
}

arrow::Result<FileCryptoMetadata> ParseFileCryptoMetadata(std::span<const uint8_t> bytes, size_t* size_bytes) {
  static constexpr char kName[] = "FileCryptoMetaData";
  ThriftReader in(bytes);
  FileCryptoMetadata out;
  const auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return in.ReadStruct(field, "encryption_algorithm", [&] { ReadEncryptionAlgorithm(in, &out.algorithm); });
      case 2:
        return in.Read(field, "key_metadata", &out.key_metadata);
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "encryption_algorithm");
  *size_bytes = in.offset();
  ARROW_RETURN_NOT_OK(in.status());
  return out;
}

void WriteEncryptionAlgorithm(ThriftWriter* out, const EncryptionAlgorithm& algorithm) {
  out->Struct(static_cast<int16_t>(algorithm.kind), [&] {
    if (algorithm.aad_prefix) out->Binary(1, *algorithm.aad_prefix);
    out->Binary(2, algorithm.aad_file_unique);
    if (algorithm.supply_aad_prefix) out->Bool(3, true);
  });
}

void WriteColumnCryptoMetadata(ThriftWriter* out, const ColumnCryptoMetadata& crypto) {
  out->Struct(static_cast<int16_t>(crypto.kind), [&] {
    if (crypto.kind != ColumnCryptoMetadata::Kind::kColumnKey) return;
    out->List(1, ThriftWriter::Type::kBinary, crypto.path_in_schema,
              [&](const std::string& name) { out->BinaryElement(name); });
    if (!crypto.key_metadata.empty()) out->Binary(2, crypto.key_metadata);
  });
}

std::string Serialize(const FileCryptoMetadata& file) {
  ThriftWriter out;
  out.Struct(1, [&] { WriteEncryptionAlgorithm(&out, file.algorithm); });
  if (!file.key_metadata.empty()) out.Binary(2, file.key_metadata);
  return out.Finish();
}

}  // namespace calve::parquet
