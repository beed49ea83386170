#pragma once

// What each operator is, from the schemas that torch registers (resources/ops/operators.tsv, made
// by generate_operators.py and built into the program) and from those that a capture brings along.
// A line is parsed when an operator is first asked for; nothing is read at start.
//
// The table holds the schemas of the newest supported torch, and of older ones where they differ.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jointer {

enum class OperatorTag : std::uint32_t {
  pointwise = 1 << 0,
  reduction = 1 << 1,
  random = 1 << 2,          // draws from a generator
  view_copy = 1 << 3,       // the copying twin of a view
  inplace_view = 1 << 4,    // changes its argument's shape
  data_dependent = 1 << 5,  // the output depends on values: the CPU must wait for them
  dynamic_shape = 1 << 6,   // the output's shape does
  silent_alias = 1 << 7,    // returns a view although the schema is silent (_unsafe_view)
  higher_order = 1 << 8,
  python = 1 << 9,  // a Python function on sizes and conditions
  // What torch's partitioners take it for.
  recomputable = 1 << 10,  // on the list of what the minimum cut may make again
  fusible = 1 << 11,
  compute_intensive = 1 << 12,
  cheap_view = 1 << 13,  // a view that the minimum cut never keeps from being made again
  impure = 1 << 14,      // stays although nobody reads it and it writes to nothing
  unmerged = 1 << 15,    // two equal calls are not one
};

enum class CollectiveKind : std::uint8_t {
  none,
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  broadcast,
};
std::string_view to_string(CollectiveKind kind);

struct SchemaArgument {
  std::string_view name;
  std::string_view type;           // "Tensor", "Tensor?[]", "SymInt[]", "ScalarType?", ...
  std::string_view default_value;  // as registered; empty if the argument must be given
  char alias_set = 0;              // 'a' in Tensor(a), 0 without one
  bool alias_is_wildcard = false;  // Tensor(a -> *)
  bool writes = false;             // Tensor(a!)
  bool keyword_only = false;

  [[nodiscard]] bool is_tensor() const { return type.substr(0, 6) == "Tensor"; }
};

struct SchemaReturn {
  std::string_view type;
  char alias_set = 0;
  bool writes = false;
};

struct OperatorInfo {
  std::string name;    // as captures write it: aten.mm.default
  bool known = false;  // it is in the table
  bool has_schema = false;
  std::uint32_t tags = 0;
  CollectiveKind collective = CollectiveKind::none;
  bool is_wait = false;      // _c10d_functional.wait_tensor, ao.wait_tensor
  bool is_transfer = false;  // ao.offload, ao.reload: to the host and back, on a stream of its own
  bool is_getitem = false;
  // An all_gather, reduce_scatter, ... over a list of tensors at once.
  bool is_coalesced = false;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaReturn> returns;
  // The text that the views in `arguments` and `returns` point into, if it is not the table's.
  std::shared_ptr<const std::string> own_schema;

  [[nodiscard]] bool has(OperatorTag tag) const {
    return (tags & static_cast<std::uint32_t>(tag)) != 0;
  }
  // Returns a tensor that shares an argument's storage, and writes to none.
  [[nodiscard]] bool is_view() const;
  [[nodiscard]] bool mutates() const;
  // Nothing says what it takes, returns or writes: neither the table nor the capture.
  [[nodiscard]] bool is_opaque() const { return !known && !has_schema; }
  // A result may lie in an argument's memory: the schema says so, or there is none to ask.
  [[nodiscard]] bool may_share_memory() const;
  // aten.mm of aten.mm.default: what formulas are registered under.
  [[nodiscard]] std::string_view packet() const;
  [[nodiscard]] std::string_view space() const;
  // Position of an argument in the schema, or -1.
  [[nodiscard]] int argument_index(std::string_view argument) const;
};

// Facts of `target` as torch `version` ("2.11.0+cu130") registers it; without a version, the newest
// torch that does. An operator that is not in the table comes back with `known` false.
OperatorInfo describe_operator(std::string_view target, std::string_view version = {});

// The same, with the schema that a capture gives: "(Tensor self) -> Tensor". It decides where the
// table has another one, or none. Text that is no schema is passed over.
OperatorInfo describe_operator(std::string_view target, std::string_view version,
                               std::string_view schema);

// Whether an operator may be missing from the table: one of a namespace that torch itself does not
// register (a custom operator), so that its absence says nothing. So are the Python calls of text
// captures: `call_method.view`, `call_function.torch.rms_norm`.
bool is_custom_operator(std::string_view target);

// The newest torch version whose schemas the table holds: "2.15.0".
std::string_view operator_table_version();

}  // namespace jointer
