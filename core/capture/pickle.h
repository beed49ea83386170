#pragma once

// Python's pickles as plain data: None, booleans, numbers, texts, lists, tuples and dictionaries of
// protocols 2 to 5. Nothing is ever looked up, called or built: a pickle that asks for it is
// refused.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer {

struct PickleValue {
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, bytes, list, tuple, dict };
  Kind kind = Kind::none;
  std::uint32_t size = 0;  // bytes of a text
  union {
    std::int64_t integer = 0;  // also of a boolean
    double real;
    std::uint64_t offset;     // of a text, in the input
    std::uint64_t container;  // of a list, tuple or dict
  };
};
static_assert(sizeof(PickleValue) == 16);

class Pickle {
 public:
  // `bytes` must outlive the result, which points into it. Error (input): damaged or cut off, asks
  // for code, is larger than kMostMemory once read; the message names the byte.
  static Result<Pickle> read(std::string_view name, std::string_view bytes);
  static constexpr std::size_t kMostMemory = std::size_t{4} << 30;

  [[nodiscard]] const PickleValue& root() const { return root_; }
  // Elements of a list or tuple; of a dict keys and values in turn. Empty for anything else.
  // Containers may be shared, or hold themselves: do not walk without a bound.
  [[nodiscard]] std::span<const PickleValue> elements(const PickleValue& value) const;
  [[nodiscard]] std::string_view text(const PickleValue& value) const;
  // Of a dict; null where it has no such key, or `value` is none.
  [[nodiscard]] const PickleValue* find(const PickleValue& value, std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> integer(const PickleValue& dict,
                                                    std::string_view key) const;
  [[nodiscard]] std::string_view text(const PickleValue& dict, std::string_view key) const;

 private:
  friend class PickleReader;
  std::string_view bytes_;
  std::vector<std::vector<PickleValue>> containers_;
  PickleValue root_;
};

}  // namespace jointer
