#pragma once

// Reads Python pickles of protocols 2 to 5 that contain plain data: None, booleans, numbers,
// strings, bytes, lists, tuples and dictionaries. Refuses pickles that look up, call or construct
// anything, or that use other opcodes, such as those of sets.

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
  std::uint32_t size = 0;  // length of a text or bytes object
  union {
    std::int64_t integer = 0;  // also of a boolean
    double real;
    std::uint64_t offset;     // of a text or bytes object, in the input
    std::uint64_t container;  // of a list, tuple or dict
  };
};
static_assert(sizeof(PickleValue) == 16);

class Pickle {
 public:
  // `bytes` must outlive the result, which points into them. Error (input): the pickle is damaged
  // or truncated, has an opcode that is refused, an integer of more than 9 bytes or a string of 4
  // GiB or more, or exceeds the memory limit below. The message gives the byte offset of the
  // opcode.
  static Result<Pickle> read(std::string_view name, std::string_view bytes);
  static constexpr std::size_t kMaxMemory = std::size_t{4} << 30;

  [[nodiscard]] const PickleValue& root() const { return root_; }
  // Returns the elements of a list or tuple, or the alternating keys and values of a dict. Empty
  // for anything else. A container may be shared or contain itself: limit the depth of a traversal.
  [[nodiscard]] std::span<const PickleValue> elements(const PickleValue& value) const;
  // Empty if the value is not a string.
  [[nodiscard]] std::string_view text(const PickleValue& value) const;
  // Returns the value of a key in a dict; null if there is no such key or `value` is not a dict.
  [[nodiscard]] const PickleValue* find(const PickleValue& value, std::string_view key) const;
  // Look up a key like `find`. nullopt or empty if there is none, or its value has another type.
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
