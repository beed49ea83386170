#include "core/graph/dtype.h"

#include <array>
#include <cstddef>

namespace jointer {
namespace {

struct Entry {
  std::string_view name, abbreviation;
  std::uint8_t bytes;
  bool floating = false;
};

// In the order of DType.
constexpr std::array<Entry, 47> kTypes{{
    {"bfloat16", "bf16", 2, true},
    {"float16", "f16", 2, true},
    {"float32", "f32", 4, true},
    {"float64", "f64", 8, true},
    {"float8_e4m3fn", "f8e4m3fn", 1, true},
    {"float8_e4m3fnuz", "f8e4m3fnuz", 1, true},
    {"float8_e5m2", "f8e5m2", 1, true},
    {"float8_e5m2fnuz", "f8e5m2fnuz", 1, true},
    {"float8_e8m0fnu", "f8e8m0fnu", 1, true},
    {"float4_e2m1fn_x2", "f4e2m1fnx2", 1, true},
    {"complex32", "c32", 4},
    {"bcomplex32", "bc32", 4},
    {"complex64", "c64", 8},
    {"complex128", "c128", 16},
    {"bool", "b8", 1},
    {"int8", "i8", 1},
    {"int16", "i16", 2},
    {"int32", "i32", 4},
    {"int64", "i64", 8},
    {"uint8", "u8", 1},
    {"uint16", "u16", 2},
    {"uint32", "u32", 4},
    {"uint64", "u64", 8},
    {"int1", "int1", 1},
    {"int2", "int2", 1},
    {"int3", "int3", 1},
    {"int4", "int4", 1},
    {"int5", "int5", 1},
    {"int6", "int6", 1},
    {"int7", "int7", 1},
    {"uint1", "uint1", 1},
    {"uint2", "uint2", 1},
    {"uint3", "uint3", 1},
    {"uint4", "uint4", 1},
    {"uint5", "uint5", 1},
    {"uint6", "uint6", 1},
    {"uint7", "uint7", 1},
    {"bits8", "b8x1", 1},
    {"bits16", "b16x1", 2},
    {"bits1x8", "b1x8", 1},
    {"bits2x4", "b2x4", 1},
    {"bits4x2", "b4x2", 1},
    {"qint8", "qint8", 1},
    {"qint32", "qint32", 4},
    {"quint8", "quint8", 1},
    {"quint2x4", "quint2x4", 1},
    {"quint4x2", "quint4x2", 1},
}};
static_assert(kTypes.size() == static_cast<std::size_t>(DType::quint4x2) + 1);

const Entry& entry(DType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view to_string(DType type) {
  return entry(type).name;
}
std::string_view short_name(DType type) {
  return entry(type).abbreviation;
}
std::int64_t item_size(DType type) {
  return entry(type).bytes;
}
bool is_floating(DType type) {
  return entry(type).floating;
}

bool is_complex(DType type) {
  return type == DType::complex32 || type == DType::bcomplex32 || type == DType::complex64 ||
         type == DType::complex128;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name || kTypes[i].abbreviation == name) return static_cast<DType>(i);
  if (name == "b16") return DType::bits16;  // its short name in torch 2.11
  return std::nullopt;
}

}  // namespace jointer
