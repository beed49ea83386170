#include "core/base/json_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace jointer {
namespace {

using Json = nlohmann::json;

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
  JsonWriter json;
  json.begin_object();
  json.key("a");
  json.begin_array();
  json.integer(1);
  json.begin_array();
  json.end_array();
  json.null();
  json.boolean(true);
  json.end_array();
  json.raw_members("");
  json.raw_members(R"("b":2,"c":3)");
  json.key("d");
  json.begin_object();
  json.end_object();
  json.key("e");
  json.string("x");
  json.end_object();
  EXPECT_EQ(json.text(), R"({"a":[1,[],null,true],"b":2,"c":3,"d":{},"e":"x"})");
}

std::string real(double number) {
  JsonWriter json;
  json.real(number);
  return json.take();
}

TEST(JsonWriter, WritesTheShortestFormOfReals) {
  EXPECT_EQ(real(0.1), "0.1");
  EXPECT_EQ(real(3), "3.0");
  EXPECT_EQ(real(-0.0), "-0.0");
  EXPECT_EQ(real(1e300), "1e+300");
}

RC_GTEST_PROP(JsonWriterProperty, RealsRoundTripExactly, (std::uint64_t bits)) {
  const auto number = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(number));
  const Json read = Json::parse(real(number));
  RC_ASSERT(read.is_number_float());
  RC_ASSERT(std::bit_cast<std::uint64_t>(read.get<double>()) == bits);
}

// Any characters: control characters, quotes, characters outside the Basic Multilingual Plane.
std::string utf8() {
  std::string text;
  for (const auto code : *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::oneOf(
           rc::gen::inRange<std::uint32_t>(0, 0x80), rc::gen::inRange<std::uint32_t>(0x80, 0xd800),
           rc::gen::inRange<std::uint32_t>(0x10000, 0x110000)))) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6);
      put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    }
  }
  return text;
}

RC_GTEST_PROP(JsonWriterProperty, StringsRoundTrip, ()) {
  const std::string text = utf8(), key = utf8();
  const auto number = *rc::gen::arbitrary<std::int64_t>();
  JsonWriter json;
  json.begin_object();
  json.key(key);
  json.begin_array();
  json.string(text);
  json.integer(number);
  json.end_array();
  json.end_object();
  const Json read = Json::parse(json.text());
  RC_ASSERT(read.size() == 1U);
  RC_ASSERT(read.begin().key() == key);
  RC_ASSERT(read.begin().value()[0].get<std::string>() == text);
  RC_ASSERT(read.begin().value()[1].get<std::int64_t>() == number);
}

}  // namespace
}  // namespace jointer
