#include "core/graph/dtype.h"

#include <gtest/gtest.h>

namespace jointer {
namespace {

TEST(DTypes, NamesAndShortNamesParseBack) {
  for (int i = 0; i <= static_cast<int>(DType::quint4x2); ++i) {
    const auto type = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(to_string(type)), type) << to_string(type);
    EXPECT_EQ(parse_dtype(short_name(type)), type) << short_name(type);
  }
  EXPECT_FALSE(parse_dtype("float12"));
  EXPECT_FALSE(parse_dtype(""));
}

TEST(DTypes, ComplexTypesAreTwiceTheirParts) {
  EXPECT_EQ(item_size(DType::complex32), 2 * item_size(DType::float16));
  EXPECT_EQ(item_size(DType::bcomplex32), 2 * item_size(DType::bfloat16));
  EXPECT_EQ(item_size(DType::complex64), 2 * item_size(DType::float32));
  EXPECT_EQ(item_size(DType::complex128), 2 * item_size(DType::float64));
  EXPECT_FALSE(is_floating(DType::bcomplex32));
}

}  // namespace
}  // namespace jointer
