#include "calve/parquet/usual_element.h"

#include "calve/parquet/metadata_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// What passes as an element like the one learnt must be what the parser makes of the same bytes.

namespace calve::parquet {
namespace {

using Bytes = std::vector<uint8_t>;

/// Long enough behind an element that all of one could stand there.
Bytes WithRest(Bytes element) {
  element.resize(element.size() + 256, 0x15);
  return element;
}

/// INT64, optional, called `name`, with a field id where `id` is not empty, and a converted type.
Bytes Element(const std::string& name, const Bytes& id, UsualElement::Parts* parts) {
  Bytes bytes = {0x15, 0x04, 0x25, 0x02, 0x18, static_cast<uint8_t>(name.size())};
  parts->name_begin = bytes.size();
  parts->name_size = name.size();
  bytes.insert(bytes.end(), name.begin(), name.end());
  bytes.insert(bytes.end(), {0x25, 0x14});  // converted type: INT_64
  if (!id.empty()) {
    bytes.push_back(0x35);
    parts->id_begin = bytes.size();
    bytes.insert(bytes.end(), id.begin(), id.end());
    parts->id_end = bytes.size();
  }
  bytes.push_back(0);
  return bytes;
}

/// Whether `bytes` pass; what does must be parsed as the same.
bool Passes(const UsualElement& usual, const Bytes& bytes, const Bytes& learnt) {
  const auto passed = usual.Pass(bytes.data(), bytes.data() + bytes.size());
  if (passed.end == nullptr) return false;
  const std::span<const uint8_t> element(bytes.data(), passed.end);
  const auto parsed = ParseSchemaElement(element), first = ParseSchemaElement(learnt);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return true;
  EXPECT_FALSE(ParseSchemaElement(element.first(element.size() - 1)).ok()) << "it ends earlier";
  EXPECT_EQ(parsed->name, std::string(reinterpret_cast<const char*>(passed.name), passed.name_size));
  EXPECT_EQ(parsed->field_id.has_value(), passed.has_field_id);
  if (parsed->field_id) EXPECT_EQ(*parsed->field_id, passed.field_id);
  EXPECT_EQ(parsed->type, first->type);
  EXPECT_EQ(parsed->repetition, first->repetition);
  EXPECT_EQ(parsed->converted_type, first->converted_type);
  return true;
}

TEST(UsualElement, OtherNamesAndIdsPass) {
  UsualElement usual;
  UsualElement::Parts parts, other;
  const Bytes learnt = Element("abc", {0x02}, &parts);
  EXPECT_FALSE(Passes(usual, WithRest(learnt), learnt));  // nothing is learnt
  usual.Learn(learnt, parts);
  EXPECT_TRUE(Passes(usual, WithRest(learnt), learnt));
  EXPECT_TRUE(Passes(usual, WithRest(Element("", {0x01}, &other)), learnt));
  EXPECT_TRUE(Passes(usual, WithRest(Element(std::string(127, 'x'), {0xfe, 0xff, 0x03}, &other)), learnt));
  EXPECT_FALSE(Passes(usual, WithRest(Element("abc", {}, &other)), learnt));
  EXPECT_FALSE(Passes(usual, WithRest(Element("abc", {0x80, 0x80, 0x80, 0x80, 0x01}, &other)), learnt));
}

TEST(UsualElement, EveryChangedByteIsReadAsTheParserReadsIt) {
  for (const Bytes& id : {Bytes{}, Bytes{0x02}, Bytes{0x80, 0x02}}) {
    UsualElement usual;
    UsualElement::Parts parts;
    const Bytes learnt = Element("name", id, &parts);
    usual.Learn(learnt, parts);
    int passed = 0;
    for (size_t i = 0; i < learnt.size(); ++i) {
      for (int value = 0; value < 256; ++value) {
        Bytes changed = WithRest(learnt);
        changed[i] = static_cast<uint8_t>(value);
        passed += Passes(usual, changed, learnt) ? 1 : 0;
      }
    }
    EXPECT_GT(passed, 4 * 256);  // of the name
  }
}

TEST(UsualElement, TooLittleLeftIsNotRead) {
  UsualElement usual;
  UsualElement::Parts parts;
  const Bytes learnt = Element("name", {0x02}, &parts);
  usual.Learn(learnt, parts);
  for (size_t size = 0; size <= learnt.size(); ++size) {
    const Bytes cut(learnt.begin(), learnt.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(Passes(usual, cut, learnt)) << size;
  }
}

TEST(UsualElement, LengthsOfMoreThanAByteAreNotLearnt) {
  // A length of 0 in two bytes, of which the last is taken for the whole one if nobody looks.
  const Bytes learnt = {0x15, 0x04, 0x25, 0x02, 0x18, 0x80, 0x00, 0x00};
  UsualElement usual;
  usual.Learn(learnt, {.name_begin = 7, .name_size = 0});
  const Bytes other = {0x15, 0x04, 0x25, 0x02, 0x18, 0x80, 0x01, 0x00};
  EXPECT_FALSE(Passes(usual, WithRest(other), learnt));
  EXPECT_FALSE(Passes(usual, WithRest(learnt), learnt));
}

TEST(UsualElement, IdsThatAreNoVarintsAreNotLearnt) {
  UsualElement usual;
  UsualElement::Parts parts;
  Bytes learnt = Element("name", {0x02}, &parts);
  learnt[parts.id_begin - 1] = 0x33;  // a byte
  parts.id_end = parts.id_begin;
  usual.Learn(learnt, parts);
  EXPECT_FALSE(Passes(usual, WithRest(learnt), learnt));
}

TEST(UsualElement, AnElementThatIsNotUsualIsForgottenWithTheOneBefore) {
  UsualElement usual;
  UsualElement::Parts parts, long_parts;
  const Bytes learnt = Element("name", {}, &parts);
  usual.Learn(learnt, parts);
  EXPECT_TRUE(Passes(usual, WithRest(learnt), learnt));
  Bytes long_one = Element(std::string(200, 'x'), {}, &long_parts);
  usual.Learn(long_one, long_parts);
  EXPECT_FALSE(Passes(usual, WithRest(learnt), learnt));
}

}  // namespace
}  // namespace calve::parquet
