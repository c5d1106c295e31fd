#include "calve/iceberg/json_members.h"

#include <limits>

namespace calve::iceberg {
namespace {

constexpr size_t kMaxJsonDepth = 512;
constexpr size_t kMaxDescribed = 40;

// Brackets outside strings are enough to know the depth; everything else is left to the parser.
Status CheckDepth(std::string_view text) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return Invalid("JSON nested deeper than {} at byte {}", kMaxJsonDepth, i);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return Status::OK();
}

// The parser's own message without its tag: "[json.exception.parse_error.101] parse error at ...: reason".
std::string ReasonOf(const nlohmann::json::exception& error) {
  std::string text = error.what();
  if (size_t end = text.find("] "); !text.empty() && text[0] == '[' && end != std::string::npos) text.erase(0, end + 2);
  return text;
}

Status Unexpected(const char* name, const char* expected, const nlohmann::json& got) {
  return Invalid("member '{}': expected {}, got {}", name, expected, Describe(got));
}

Result<int64_t> AsLong(const nlohmann::json& json, const char* name) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<uint64_t>();
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return static_cast<int64_t>(value);
    return Invalid("member '{}': {} is out of the range of 64-bit integers", name, Describe(json));
  }
  if (json.is_number_integer()) return json.get<int64_t>();
  return Unexpected(name, "an integer", json);
}

Result<int> AsInt(const nlohmann::json& json, const char* name) {
  ARROW_ASSIGN_OR_RAISE(int64_t value, AsLong(json, name));
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    return Invalid("member '{}': {} is out of the range of 32-bit integers", name, value);
  }
  return static_cast<int>(value);
}

}  // namespace

std::string Describe(const nlohmann::json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "an array";
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxDescribed) text = text.substr(0, kMaxDescribed) + "...";
  return text;
}

Result<nlohmann::json> ParseJson(std::string_view text) {
  ARROW_RETURN_NOT_OK(CheckDepth(text));
  try {
    return nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::parse_error& error) {
    return Invalid("not JSON at byte {} of {}: {}", error.byte, text.size(), ReasonOf(error));
  } catch (const nlohmann::json::exception& error) {
    return Invalid("not JSON: {}", ReasonOf(error));
  }
}

Result<std::string> DumpJson(const nlohmann::ordered_json& json) {
  try {
    return json.dump();
  } catch (const nlohmann::ordered_json::exception& error) {
    return Invalid("cannot be written as JSON: {}", error.what());
  }
}

const nlohmann::json* FindMember(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  auto found = object.find(name);
  if (found == object.end() || found->is_null()) return nullptr;
  return &*found;
}

Result<const nlohmann::json*> Member(const nlohmann::json& object, const char* name) {
  ARROW_RETURN_NOT_OK(ExpectObject(object));
  const nlohmann::json* member = FindMember(object, name);
  if (member == nullptr) return Invalid("missing member '{}'", name);
  return member;
}

Status ExpectObject(const nlohmann::json& json) {
  if (json.is_object()) return Status::OK();
  return Invalid("expected an object, got {}", Describe(json));
}

Result<std::string> StringMember(const nlohmann::json& object, const char* name) {
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json* member, Member(object, name));
  if (!member->is_string()) return Unexpected(name, "a string", *member);
  return member->get<std::string>();
}

Result<int64_t> LongMember(const nlohmann::json& object, const char* name) {
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json* member, Member(object, name));
  return AsLong(*member, name);
}

Result<int> IntMember(const nlohmann::json& object, const char* name) {
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json* member, Member(object, name));
  return AsInt(*member, name);
}

Result<bool> BoolMember(const nlohmann::json& object, const char* name) {
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json* member, Member(object, name));
  if (!member->is_boolean()) return Unexpected(name, "true or false", *member);
  return member->get<bool>();
}

Result<const nlohmann::json*> ArrayMember(const nlohmann::json& object, const char* name) {
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json* member, Member(object, name));
  if (!member->is_array()) return Unexpected(name, "an array", *member);
  return member;
}

Result<std::optional<std::string>> OptionalString(const nlohmann::json& object, const char* name) {
  if (FindMember(object, name) == nullptr) return std::nullopt;
  return StringMember(object, name);
}

Result<std::optional<int64_t>> OptionalLong(const nlohmann::json& object, const char* name) {
  if (FindMember(object, name) == nullptr) return std::nullopt;
  return LongMember(object, name);
}

Result<std::optional<int>> OptionalInt(const nlohmann::json& object, const char* name) {
  if (FindMember(object, name) == nullptr) return std::nullopt;
  return IntMember(object, name);
}

Result<const nlohmann::json*> OptionalArray(const nlohmann::json& object, const char* name) {
  if (FindMember(object, name) == nullptr) return nullptr;
  return ArrayMember(object, name);
}

Result<const nlohmann::json*> OptionalObject(const nlohmann::json& object, const char* name) {
  const nlohmann::json* member = FindMember(object, name);
  if (member != nullptr && !member->is_object()) return Unexpected(name, "an object", *member);
  return member;
}

Result<std::map<std::string, std::string>> OptionalStringMap(const nlohmann::json& object, const char* name) {
  std::map<std::string, std::string> result;
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json* member, OptionalObject(object, name));
  if (member == nullptr) return result;
  for (const auto& [key, value] : member->items()) {
    // Some writers put bare numbers and booleans where the specification has strings.
    if (value.is_string()) {
      result[key] = value.get<std::string>();
    } else if (value.is_number() || value.is_boolean()) {
      result[key] = value.dump();
    } else if (!value.is_null()) {
      return Invalid("member '{}': value of '{}': expected a string, got {}", name, key, Describe(value));
    }
  }
  return result;
}

Result<std::vector<int>> OptionalInts(const nlohmann::json& object, const char* name) {
  std::vector<int> result;
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json* member, OptionalArray(object, name));
  if (member == nullptr) return result;
  for (const auto& element : *member) {
    ARROW_ASSIGN_OR_RAISE(int value, AsInt(element, name));
    result.push_back(value);
  }
  return result;
}

}  // namespace calve::iceberg
