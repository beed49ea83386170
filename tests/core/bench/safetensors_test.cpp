#include "core/bench/safetensors.h"
#include "tests/support/must.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace jointer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file(std::string_view header, std::size_t data) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + std::string(header) + std::string(data, 'x');
}

std::string error_of(std::string_view header, std::size_t data) {
  const auto index = read_safetensors_index("x.safetensors", file(header, data));
  return index ? "" : index.error().message;
}

TEST(Safetensors, ReadsEntriesInOrder) {
  const auto index = test::must(read_safetensors_index(
      "x",
      file(R"({"__metadata__":{"a":"b"},"w":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},
                    "i":{"dtype":"I64","shape":[],"data_offsets":[12,20]}})",
           20)));
  ASSERT_EQ(index.size(), 2U);
  EXPECT_EQ(index[0].name, "w");
  EXPECT_EQ(index[0].dtype, DType::bfloat16);
  EXPECT_THAT(index[0].shape, ElementsAre(2, 3));
  EXPECT_EQ(index[0].bytes, 12);
  EXPECT_EQ(index[1].offset - index[0].offset, 12);
  EXPECT_TRUE(index[1].shape.empty());
}

TEST(Safetensors, RefusesMalformedHeaders) {
  EXPECT_THAT(error_of("{", 0), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of("[]", 0), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4),
              HasSubstr("outside the file"));
  EXPECT_THAT(error_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
              HasSubstr("does not match the shape"));
  EXPECT_THAT(error_of(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4),
              HasSubstr("must contain only integers of at least 0"));
  EXPECT_THAT(error_of(R"({"w":{"dtype":"Q7","shape":[1],"data_offsets":[0,4]}})", 4),
              HasSubstr("unknown dtype"));
  EXPECT_THAT(
      error_of(R"({"w":{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,4]}})", 4),
      HasSubstr("does not match the shape"));
  EXPECT_FALSE(read_safetensors_index("x", "short"));
  const auto json = read_safetensors_index("x", R"({"format": "jointer"})");
  ASSERT_FALSE(json);
  EXPECT_THAT(json.error().message, HasSubstr("x: not a safetensors file: "));
  std::string truncated = file("{}", 0);
  truncated.pop_back();
  const auto cut = read_safetensors_index("x", truncated);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("should have 2 bytes, but only 1 follow"));
}

}  // namespace
}  // namespace jointer
