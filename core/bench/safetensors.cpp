#include "core/bench/safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/checked.h"
#include "core/base/json_text.h"
#include "core/base/name_table.h"

namespace jointer {
namespace {

constexpr NameTable<DType, 17> kDtypes{{
    {"BF16", DType::bfloat16},
    {"F16", DType::float16},
    {"F32", DType::float32},
    {"F64", DType::float64},
    {"BOOL", DType::boolean},
    {"I8", DType::int8},
    {"I16", DType::int16},
    {"I32", DType::int32},
    {"I64", DType::int64},
    {"U8", DType::uint8},
    {"U16", DType::uint16},
    {"U32", DType::uint32},
    {"U64", DType::uint64},
    {"C64", DType::complex64},
    {"F8_E4M3", DType::float8_e4m3fn},
    {"F8_E5M2", DType::float8_e5m2},
    {"F8_E8M0", DType::float8_e8m0fnu},
}};

// Returns the value of an integer of at least 0; nullopt for anything else.
std::optional<std::int64_t> size_of(const OrderedJson& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  const auto number = json.get<std::int64_t>();
  return number < 0 ? std::nullopt : std::optional(number);
}

Result<SafetensorsEntry> read_entry(std::string_view file, const std::string& name,
                                    const OrderedJson& json, std::int64_t data, std::int64_t size) {
  const auto bad = [&](std::string_view what) {
    return input_error("{}: tensor {}: {}", file, name, what);
  };
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      !json.contains("shape") || !json["shape"].is_array() || !json.contains("data_offsets") ||
      !json["data_offsets"].is_array() || json["data_offsets"].size() != 2)
    return bad("expected `dtype`, `shape` and `data_offsets`");
  SafetensorsEntry entry;
  entry.name = name;
  const auto& dtype = json["dtype"].get_ref<const std::string&>();
  const auto known = value_in(kDtypes, dtype);
  if (!known) return bad("unknown dtype " + dtype);
  entry.dtype = *known;
  std::optional<std::int64_t> wanted = item_size(entry.dtype);
  for (const OrderedJson& dim : json["shape"]) {
    const auto number = size_of(dim);
    if (!number) return bad("`shape` must contain only integers of at least 0");
    entry.shape.push_back(*number);
    if (wanted) wanted = checked_mul(*wanted, *number);
  }
  const auto begin = size_of(json["data_offsets"][0]), end = size_of(json["data_offsets"][1]);
  if (!begin || !end || *begin > *end)
    return bad("`data_offsets` must be two integers of at least 0 in ascending order");
  if (*end > size - data) return bad("the data is outside the file; is the file truncated?");
  if (!wanted || *end - *begin != *wanted)
    return bad("the number of bytes does not match the shape and dtype");
  entry.offset = data + *begin;
  entry.bytes = *end - *begin;
  return entry;
}

}  // namespace

Result<std::vector<SafetensorsEntry>> read_safetensors_index(std::string_view name,
                                                             std::string_view bytes) {
  if (bytes.size() < 8) return input_error("{}: too short for a safetensors file", name);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  // The limit of the format, which the first bytes of a file in another format usually exceed.
  constexpr std::uint64_t kMaxHeader = 100'000'000;
  if (length > kMaxHeader)
    return input_error(
        "{}: not a safetensors file: the header would have {} bytes, but the maximum is {}", name,
        length, kMaxHeader);
  if (length > bytes.size() - 8)
    return input_error(
        "{}: the header should have {} bytes, but only {} follow; is the file truncated?", name,
        length, bytes.size() - 8);
  const OrderedJson header =
      OrderedJson::parse(bytes.substr(8, length), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return input_error("{}: the header is not a JSON object", name);
  std::vector<SafetensorsEntry> entries;
  for (const auto& [tensor, json] : header.items()) {
    if (tensor == "__metadata__") continue;
    JOINTER_TRY(SafetensorsEntry entry,
                read_entry(name, tensor, json, static_cast<std::int64_t>(8 + length),
                           static_cast<std::int64_t>(bytes.size())));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace jointer
