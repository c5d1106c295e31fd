#pragma once

#include "calve/base/status.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Typed access to the members of JSON objects. Every error is Invalid and names the member: "missing member
/// 'location'", "member 'schema-id': expected an integer, got \"x\"".
namespace calve::iceberg {

/// Parses `text`, which must be one JSON value and nothing else. Nesting is bounded, so that nothing that walks the
/// value can run out of stack. Invalid tells the byte where parsing stopped.
Result<nlohmann::json> ParseJson(std::string_view text);

/// JSON text; Invalid when a string in it is not UTF-8.
Result<std::string> DumpJson(const nlohmann::ordered_json& json);

/// What `json` is, shortened, for messages.
std::string Describe(const nlohmann::json& json);

/// The member, or null when it is absent or JSON null.
const nlohmann::json* FindMember(const nlohmann::json& object, const char* name);
/// The member; Invalid when it is absent or JSON null.
Result<const nlohmann::json*> Member(const nlohmann::json& object, const char* name);

Status ExpectObject(const nlohmann::json& json);

Result<std::string> StringMember(const nlohmann::json& object, const char* name);
Result<int64_t> LongMember(const nlohmann::json& object, const char* name);
Result<int> IntMember(const nlohmann::json& object, const char* name);
Result<bool> BoolMember(const nlohmann::json& object, const char* name);
/// The array; Invalid when it is something else.
Result<const nlohmann::json*> ArrayMember(const nlohmann::json& object, const char* name);

Result<std::optional<std::string>> OptionalString(const nlohmann::json& object, const char* name);
Result<std::optional<int64_t>> OptionalLong(const nlohmann::json& object, const char* name);
Result<std::optional<int>> OptionalInt(const nlohmann::json& object, const char* name);
/// The array, or null when it is absent.
Result<const nlohmann::json*> OptionalArray(const nlohmann::json& object, const char* name);
/// The object, or null when it is absent.
Result<const nlohmann::json*> OptionalObject(const nlohmann::json& object, const char* name);
/// A map of strings; empty when absent.
Result<std::map<std::string, std::string>> OptionalStringMap(const nlohmann::json& object, const char* name);
/// An array of 32-bit integers; empty when absent.
Result<std::vector<int>> OptionalInts(const nlohmann::json& object, const char* name);

}  // namespace calve::iceberg
