#pragma once

#include "calve/parquet_encryption.h"

#include "calve/crypto/aes.h"

#include "temp_folder.h"

#include <arrow/util/base64.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace calve::testing {

/// Unwraps a key: base64 of nonce, AES-GCM ciphertext and tag.
inline std::string UnwrappedKey(const std::string& wrapped, const std::string& with, const std::string& aad) {
  const std::string text = arrow::util::base64_decode(wrapped).ValueOrDie();
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const size_t size = bytes.size() - crypto::kNonceBytes - crypto::kTagBytes;
  std::string key(size, '\0');
  auto gcm = crypto::GcmDecryptor::Make(crypto::AesKey::Make(with).ValueOrDie()).ValueOrDie();
  const arrow::Status status =
      gcm.Decrypt(bytes.first<crypto::kNonceBytes>(), {reinterpret_cast<const uint8_t*>(aad.data()), aad.size()},
                  bytes.subspan(crypto::kNonceBytes, size), bytes.last<crypto::kTagBytes>(),
                  {reinterpret_cast<uint8_t*>(key.data()), key.size()});
  EXPECT_TRUE(status.ok()) << status;
  return key;
}

/// A key out of the key material that parquet-java's key tools leave beside a file: wrapped twice, the second time with
/// a master key of its test service.
inline std::string KeyOfMaterial(const std::string& material) {
  const auto json = nlohmann::json::parse(material);
  const std::string master_id = json.at("masterKeyID"), kek_id = json.at("keyEncryptionKeyID");
  const std::string master = master_id == "kf"    ? "0123456789012345"
                             : master_id == "kc1" ? "1234567890123450"
                                                  : "1234567890123451";
  const std::string kek = UnwrappedKey(json.at("wrappedKEK"), master, master_id);
  return UnwrappedKey(json.at("wrappedDEK"), kek, arrow::util::base64_decode(kek_id).ValueOrDie());
}

/// The keys of an encrypted file of apache/parquet-testing, from that repository's documentation. `path`: of the file.
inline ParquetDecryption ParquetTestingKeys(const std::string& path) {
  const auto has = [&](const char* part) { return path.find(part) != std::string::npos; };
  ParquetDecryption keys;
  if (has("disable_aad_storage")) keys.aad_prefix = "tester";
  if (has("external_key_material")) {
    const std::filesystem::path file = path;
    const auto material = nlohmann::json::parse(
        ReadText(file.parent_path() / ("_KEY_MATERIAL_FOR_" + file.filename().string() + ".json")));
    keys.find_key = [material](const ParquetKeyRequest& request) -> arrow::Result<std::optional<std::string>> {
      const auto reference = nlohmann::json::parse(request.key_metadata).at("keyReference").get<std::string>();
      return KeyOfMaterial(material.at(reference));
    };
    return keys;
  }
  if (!has("aes256")) {
    keys.footer_key = "0123456789012345";
    keys.column_keys = {{"double_field", "1234567890123450"}, {"float_field", "1234567890123451"}};
    return keys;
  }
  keys.footer_key = "01234567890123456789012345678901";
  const std::string begin = "1234567890123456789012345678901";
  keys.column_keys = {{"double_field", begin + "2"},
                      {"float_field", begin + "3"},
                      {"boolean_field", begin + "4"},
                      {"int32_field", begin + "5"},
                      {"ba_field", begin + "6"},
                      {"flba_field", begin + "7"},
                      {"int64_field.list.element", begin + "8"},
                      {"int96_field", begin + "9"}};
  return keys;
}

}  // namespace calve::testing
