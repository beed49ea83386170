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

TEST(DTypes, ShortNamesOfBitTypesAreThoseOfTorch215) {
  EXPECT_EQ(short_name(DType::bits8), "b8x1");
  EXPECT_EQ(short_name(DType::bits16), "b16x1");
  EXPECT_EQ(short_name(DType::bits1x8), "b1x8");
  EXPECT_EQ(short_name(DType::bits2x4), "b2x4");
  EXPECT_EQ(short_name(DType::bits4x2), "b4x2");
  // As torch 2.11 prints it.
  EXPECT_EQ(parse_dtype("b16"), DType::bits16);
}

TEST(DTypes, ComplexTypesAreTwiceTheirParts) {
  EXPECT_EQ(item_size(DType::complex32), 2 * item_size(DType::float16));
  EXPECT_EQ(item_size(DType::bcomplex32), 2 * item_size(DType::bfloat16));
  EXPECT_EQ(item_size(DType::complex64), 2 * item_size(DType::float32));
  EXPECT_EQ(item_size(DType::complex128), 2 * item_size(DType::float64));
  EXPECT_FALSE(is_floating(DType::bcomplex32));
  for (const DType type :
       {DType::complex32, DType::bcomplex32, DType::complex64, DType::complex128})
    EXPECT_TRUE(is_complex(type)) << to_string(type);
  EXPECT_FALSE(is_complex(DType::float64));
}

}  // namespace
}  // namespace jointer
