// Interprets pickles. A pickle is a program for a stack machine that has marks on its stack and a
// memo. Only the opcodes for plain data are implemented. Every opcode occupies at least one byte
// and creates at most one value, so time is linear in the input; memory is limited by counting the
// bytes of values.
//
// Source: CPython's Lib/pickletools.py.

#include "core/capture/pickle.h"

#include <algorithm>
#include <bit>

#include "core/base/counted.h"
#include "core/base/name_table.h"

namespace jointer {
namespace {

using ValueKind = PickleValue::Kind;

struct PickleFailure {
  std::string message;
};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw PickleFailure{fmt::format(format, std::forward<Args>(args)...)};
}

enum Opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  long1 = 0x8a,
  long4 = 0x8b,
  binfloat = 'G',
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  binstring = 'T',
  short_binstring = 'U',
  binunicode = 'X',
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes = 'B',
  short_binbytes = 'C',
  binbytes8 = 0x8e,
  bytearray8 = 0x96,
  empty_list = ']',
  list = 'l',
  append = 'a',
  appends = 'e',
  empty_tuple = ')',
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  empty_dict = '}',
  dict = 'd',
  setitem = 's',
  setitems = 'u',
  binput = 'q',
  long_binput = 'r',
  binget = 'h',
  long_binget = 'j',
  memoize = 0x94,
  proto = 0x80,
  frame = 0x95,
};

// The opcodes that look up, call or construct an object.
constexpr NameTable<std::uint8_t, 13> kCodeOpcodes{{{"GLOBAL", 'c'},
                                                    {"STACK_GLOBAL", 0x93},
                                                    {"REDUCE", 'R'},
                                                    {"BUILD", 'b'},
                                                    {"INST", 'i'},
                                                    {"OBJ", 'o'},
                                                    {"NEWOBJ", 0x81},
                                                    {"NEWOBJ_EX", 0x92},
                                                    {"EXT", 0x82},
                                                    {"EXT", 0x83},
                                                    {"EXT", 0x84},
                                                    {"PERSID", 'P'},
                                                    {"PERSID", 'Q'}}};

}  // namespace

class PickleReader {
 public:
  PickleReader(Pickle& out, std::string_view bytes) : out_(out), bytes_(bytes) {}

  [[nodiscard]] std::size_t at() const { return opcode_at_; }

  void read() {
    if (bytes_.size() < 2 || static_cast<std::uint8_t>(bytes_[0]) != proto)
      refuse("missing header of pickle protocol 2 to 5");
    while (true) {
      opcode_at_ = next_;
      const auto opcode = static_cast<std::uint8_t>(take(1)[0]);
      if (opcode == stop) break;
      step(opcode);
    }
    if (!marks_.empty()) refuse("ends with a mark on the stack");
    if (stack_.size() != 1)
      refuse("ends with {} on the stack instead of 1", counted(stack_.size(), "value"));
    out_.root_ = stack_.back();
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - next_) refuse("the data is truncated");
    const std::string_view taken = bytes_.substr(next_, static_cast<std::size_t>(count));
    next_ += taken.size();
    return taken;
  }

  // Reads a little-endian number of `width` bytes.
  std::uint64_t number(std::size_t width) {
    std::uint64_t value = 0;
    const std::string_view digits = take(width);
    for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(digits[i]);
    return value;
  }

  void count_memory(std::size_t bytes) {
    memory_ += bytes;
    if (memory_ > Pickle::kMaxMemory)
      refuse("the unpickled data exceeds {} MiB", Pickle::kMaxMemory >> 20);
  }

  void push(PickleValue value) {
    count_memory(sizeof value);
    stack_.push_back(value);
  }
  void push_int(std::int64_t value, ValueKind kind = ValueKind::integer) {
    PickleValue v;
    v.kind = kind;
    v.integer = value;
    push(v);
  }

  // A number in two's complement, `width` bytes long. Sizes and addresses fit in 64 bits.
  void push_long(std::uint64_t width) {
    const std::string_view digits = take(width);
    if (width > 9) refuse("an integer of {} bytes is longer than any address", width);
    std::uint64_t value = 0;
    for (std::size_t i = std::min<std::size_t>(digits.size(), 8); i-- > 0;)
      value = value << 8 | static_cast<std::uint8_t>(digits[i]);
    const bool negative = !digits.empty() && (static_cast<std::uint8_t>(digits.back()) & 0x80) != 0;
    if (digits.size() < 8 && negative) value |= ~std::uint64_t{0} << (8 * digits.size());
    // A ninth byte of zeros marks a 64-bit address as positive; the bits of the address are kept.
    push_int(static_cast<std::int64_t>(value));
  }

  void push_text(std::uint64_t size, ValueKind kind) {
    if (size > 0xffffffffU)
      refuse("a string has {} bytes; strings of 4 GiB or more cannot be read", size);
    PickleValue v;
    v.kind = kind;
    v.offset = next_;
    v.size = static_cast<std::uint32_t>(size);
    take(size);
    push(v);
  }

  PickleValue& top() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) refuse("pop from an empty stack");
    return stack_.back();
  }
  PickleValue pop_value() {
    const PickleValue value = top();
    stack_.pop_back();
    memory_ -= sizeof value;
    return value;
  }
  // Pops the last mark and the values above it.
  std::vector<PickleValue> pop_to_mark() {
    if (marks_.empty()) refuse("pop to a mark that was not set");
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleValue> values(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    memory_ -= values.size() * sizeof(PickleValue) + sizeof(std::size_t);
    return values;
  }

  void push_container(ValueKind kind, std::vector<PickleValue> elements) {
    if (kind == ValueKind::dict && elements.size() % 2 != 0) refuse("a dict key has no value");
    count_memory(sizeof(std::vector<PickleValue>) + elements.size() * sizeof(PickleValue));
    PickleValue v;
    v.kind = kind;
    v.container = out_.containers_.size();
    out_.containers_.push_back(std::move(elements));
    push(v);
  }
  void push_tuple(std::size_t count) {
    std::vector<PickleValue> elements(count);
    for (std::size_t i = count; i-- > 0;) elements[i] = pop_value();
    push_container(ValueKind::tuple, std::move(elements));
  }
  // Adds elements to the list or dict on top of the stack.
  void extend(ValueKind kind, const std::vector<PickleValue>& elements) {
    const PickleValue& target = top();
    if (target.kind != kind)
      refuse("elements added to a value that is not a {}",
             kind == ValueKind::list ? "list" : "dict");
    if (kind == ValueKind::dict && elements.size() % 2 != 0) refuse("a dict key has no value");
    count_memory(elements.size() * sizeof(PickleValue));
    auto& container = out_.containers_[target.container];
    container.insert(container.end(), elements.begin(), elements.end());
  }

  void put(std::uint64_t index) {
    if (index > memo_.size()) refuse("memo entry {} is set before entry {}", index, memo_.size());
    if (index == memo_.size()) {
      count_memory(sizeof(PickleValue));
      memo_.push_back(top());
    } else {
      memo_[index] = top();
    }
  }
  void get(std::uint64_t index) {
    if (index >= memo_.size()) refuse("memo entry {} is not set", index);
    push(memo_[index]);
  }

  void step(std::uint8_t opcode) {
    switch (opcode) {
      case proto:
        if (const auto version = number(1); version < 2 || version > 5)
          refuse("pickle protocol {} is not supported: expected 2 to 5", version);
        return;
      case frame:
        take(8);
        return;
      case pop:
        if (!marks_.empty() && stack_.size() == marks_.back())
          pop_to_mark();
        else
          pop_value();
        return;
      case pop_mark:
        pop_to_mark();
        return;
      case dup:
        return push(top());
      case mark:
        count_memory(sizeof(std::size_t));
        marks_.push_back(stack_.size());
        return;
      case binput:
        return put(number(1));
      case long_binput:
        return put(number(4));
      case memoize:
        return put(memo_.size());
      case binget:
        return get(number(1));
      case long_binget:
        return get(number(4));
      case none:
        return push({});
      case new_true:
        return push_int(1, ValueKind::boolean);
      case new_false:
        return push_int(0, ValueKind::boolean);
      case binint:
        return push_int(static_cast<std::int32_t>(static_cast<std::uint32_t>(number(4))));
      case binint1:
        return push_int(static_cast<std::int64_t>(number(1)));
      case binint2:
        return push_int(static_cast<std::int64_t>(number(2)));
      case long1:
        return push_long(number(1));
      case long4:
        return push_long(number(4));
      case binfloat: {
        std::uint64_t bits = 0;
        for (const char c : take(8)) bits = bits << 8 | static_cast<std::uint8_t>(c);
        PickleValue v;
        v.kind = ValueKind::real;
        v.real = std::bit_cast<double>(bits);
        return push(v);
      }
      case short_binstring:
      case short_binunicode:
        return push_text(number(1), ValueKind::text);
      case binstring:
      case binunicode:
        return push_text(number(4), ValueKind::text);
      case binunicode8:
        return push_text(number(8), ValueKind::text);
      case short_binbytes:
        return push_text(number(1), ValueKind::bytes);
      case binbytes:
        return push_text(number(4), ValueKind::bytes);
      case binbytes8:
      case bytearray8:
        return push_text(number(8), ValueKind::bytes);
      case empty_list:
        return push_container(ValueKind::list, {});
      case list:
        return push_container(ValueKind::list, pop_to_mark());
      case append: {
        const PickleValue value = pop_value();
        return extend(ValueKind::list, {value});
      }
      case appends:
        return extend(ValueKind::list, pop_to_mark());
      case empty_tuple:
        return push_container(ValueKind::tuple, {});
      case tuple:
        return push_container(ValueKind::tuple, pop_to_mark());
      case tuple1:
        return push_tuple(1);
      case tuple2:
        return push_tuple(2);
      case tuple3:
        return push_tuple(3);
      case empty_dict:
        return push_container(ValueKind::dict, {});
      case dict:
        return push_container(ValueKind::dict, pop_to_mark());
      case setitem: {
        const PickleValue value = pop_value(), key = pop_value();
        return extend(ValueKind::dict, {key, value});
      }
      case setitems:
        return extend(ValueKind::dict, pop_to_mark());
      default:
        break;
    }
    if (const std::string_view code = name_in(kCodeOpcodes, opcode); !code.empty())
      refuse("the pickle would run code ({}); only plain values are supported", code);
    refuse("opcode 0x{:02x} does not create a plain value", opcode);
  }

  Pickle& out_;
  std::string_view bytes_;
  std::size_t next_ = 0, opcode_at_ = 0, memory_ = 0;
  std::vector<PickleValue> stack_, memo_;
  std::vector<std::size_t> marks_;  // height of the stack at each mark
};

Result<Pickle> Pickle::read(std::string_view name, std::string_view bytes) {
  Pickle pickle;
  pickle.bytes_ = bytes;
  PickleReader reader(pickle, bytes);
  try {
    reader.read();
  } catch (const PickleFailure& failure) {
    return input_error("{}: not a pickle of plain values: byte {}: {}", name, reader.at(),
                       failure.message);
  } catch (const std::bad_alloc&) {
    return input_error("{}: not enough memory to read the file", name);
  }
  return pickle;
}

std::span<const PickleValue> Pickle::elements(const PickleValue& value) const {
  if (value.kind != ValueKind::list && value.kind != ValueKind::tuple &&
      value.kind != ValueKind::dict)
    return {};
  return containers_[value.container];
}

std::string_view Pickle::text(const PickleValue& value) const {
  if (value.kind != ValueKind::text) return {};
  return bytes_.substr(value.offset, value.size);
}

const PickleValue* Pickle::find(const PickleValue& value, std::string_view key) const {
  if (value.kind != ValueKind::dict) return nullptr;
  const auto items = elements(value);
  // If a key was set twice, the last value wins.
  for (std::size_t i = items.size(); i >= 2; i -= 2)
    if (items[i - 2].kind == ValueKind::text && text(items[i - 2]) == key) return &items[i - 1];
  return nullptr;
}

std::optional<std::int64_t> Pickle::integer(const PickleValue& dict, std::string_view key) const {
  const PickleValue* value = find(dict, key);
  if (value == nullptr || value->kind != ValueKind::integer) return std::nullopt;
  return value->integer;
}

std::string_view Pickle::text(const PickleValue& dict, std::string_view key) const {
  const PickleValue* value = find(dict, key);
  return value == nullptr ? std::string_view{} : text(*value);
}

}  // namespace jointer
