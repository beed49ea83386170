#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jointer {

// The element types of torch 2.15. Source: torch.dtype and torch.utils._dtype_abbrs.
enum class DType : std::uint8_t {
  bfloat16,
  float16,
  float32,
  float64,
  float8_e4m3fn,
  float8_e4m3fnuz,
  float8_e5m2,
  float8_e5m2fnuz,
  float8_e8m0fnu,
  float4_e2m1fn_x2,
  complex32,
  bcomplex32,
  complex64,
  complex128,
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  int1,
  int2,
  int3,
  int4,
  int5,
  int6,
  int7,
  uint1,
  uint2,
  uint3,
  uint4,
  uint5,
  uint6,
  uint7,
  bits8,
  bits16,
  bits1x8,
  bits2x4,
  bits4x2,
  qint8,
  qint32,
  quint8,
  quint2x4,
  quint4x2,
};

// Returns the full name, which captures use, such as "bfloat16".
std::string_view to_string(DType type);
// Returns the short name that print_readable uses, such as "bf16", or the full name if torch has no
// short name.
std::string_view short_name(DType type);
// Bytes per element: torch's itemsize, which counts each element of a packed type as one byte.
std::int64_t item_size(DType type);
bool is_floating(DType type);  // false for complex types
bool is_complex(DType type);

// Accepts full and short names. Returns nullopt for any other text.
std::optional<DType> parse_dtype(std::string_view name);

}  // namespace jointer
