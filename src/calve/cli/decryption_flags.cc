#include "calve/cli/decryption_flags.h"

#include "calve/cli/key_text.h"

#include <CLI/App.hpp>

namespace calve::cli {

void AddDecryptionFlags(CLI::App* command, const std::string& prefix, DecryptionFlags* flags) {
  flags->prefix = prefix;
  const std::string group = "Encrypted inputs (KEY: hexadecimal digits, or @FILE that holds them)";
  command->add_option("--" + prefix + "footer-key", flags->footer_key, "Key of the footers of encrypted Parquet files")
      ->type_name("KEY")
      ->group(group);
  command->add_option("--" + prefix + "column-key", flags->column_keys, "Key of an encrypted column; repeatable")
      ->allow_extra_args(false)
      ->type_name("COLUMN=KEY")
      ->group(group);
}

arrow::Result<std::shared_ptr<const ParquetDecryption>> DecryptionOf(const DecryptionFlags& flags) {
  if (flags.footer_key.empty() && flags.column_keys.empty()) return nullptr;
  auto keys = std::make_shared<ParquetDecryption>();
  keys->allow_plaintext_files = true;
  if (!flags.footer_key.empty()) {
    ARROW_ASSIGN_OR_RAISE(keys->footer_key, ParseKeyText(flags.footer_key));
  }
  for (const std::string& pair : flags.column_keys) {
    ARROW_ASSIGN_OR_RAISE(auto column_key, ParseColumnKey("--" + flags.prefix + "column-key", pair));
    keys->column_keys.insert(std::move(column_key));
  }
  return keys;
}

}  // namespace calve::cli
