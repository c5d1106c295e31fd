#include "calve/cli/json_text.h"

#include <fmt/format.h>

#include <cstdint>

namespace calve::cli {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsPlain(unsigned char byte) { return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\'; }

void AppendControl(unsigned char byte, std::string* out) {
  switch (byte) {
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    case '\b':
      out->append("\\b");
      return;
    case '\f':
      out->append("\\f");
      return;
    default:
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", byte);
  }
}

// What both forms do with a byte that stands for no printable ASCII character: returns the bytes taken.
size_t AppendOther(std::string_view text, std::string* out) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x20 || byte == 0x7F) {
    AppendControl(byte, out);
    return 1;
  }
  const size_t length = Utf8SequenceLength(text);
  if (length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) {  // U+0080 to U+009F
    AppendControl(static_cast<unsigned char>(text[1]), out);
    return 2;
  }
  out->append(length == 0 ? kReplacement : text.substr(0, length));
  return length == 0 ? 1 : length;
}

}  // namespace

size_t Utf8SequenceLength(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](size_t i) { return (at(i) & 0xC0) == 0x80; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && at(1) < 0xA0;
    const bool surrogate = first == 0xED && at(1) > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && at(1) < 0x90;
    const bool too_high = first == 0xF4 && at(1) > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !too_high ? 4 : 0;
  }
  return 0;
}

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t done = 0;
  while (done < text.size()) {
    size_t end = done;
    while (end < text.size() && IsPlain(static_cast<unsigned char>(text[end]))) ++end;
    out->append(text.substr(done, end - done));
    done = end;
    if (done == text.size()) break;
    if (text[done] == '"' || text[done] == '\\') {
      out->push_back('\\');
      out->push_back(text[done++]);
    } else {
      done += AppendOther(text.substr(done), out);
    }
  }
  out->push_back('"');
}

std::string OneLine(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte >= 0x20 && byte < 0x7F) {
      out.push_back(text.front());
      text.remove_prefix(1);
    } else {
      text.remove_prefix(AppendOther(text, &out));
    }
  }
  return out;
}

}  // namespace calve::cli
