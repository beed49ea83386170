#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/id.h"
#include "core/graph/node.h"
#include "core/graph/symbols.h"

namespace jointer {

enum class CaptureKind : std::uint8_t { joint, forward, backward, train_step, subgraph };
std::string_view to_string(CaptureKind kind);

struct ProcessGroup {
  StringId name;
  std::vector<std::int32_t> ranks;
  StringId desc, backend;
  StringId extra;        // JSON members that this version does not know
  bool derived = false;  // not in the capture, but derived from a group_size argument
};

// One element of the output of a graph.
struct OutputEntry {
  NodeId node;  // none for None
  Role role = Role::result;
  std::string target;  // of a gradient: the parameter's name
};

// One captured FX graph. A Graph has one part, or two if a forward and a backward were joined into
// a pair. Node names are unique within a part.
struct Part {
  // Which tables the capture has, even if empty, so that a round trip writes the same ones.
  struct Present {
    bool name = false, groups = false, storages = false, modules = false, stacks = false;
  };

  CaptureKind kind = CaptureKind::joint;
  std::string name;
  std::string torch_version;
  std::optional<std::int64_t> rank, world_size;
  SymbolTable symbols;
  std::vector<GroupId> groups;
  std::vector<OutputEntry> outputs;  // derived, in the output node's order
  // JSON as it is in the file; empty if the capture has no such member.
  std::string info, symbols_json, triton_kernels, constants;
  Present present;
  std::string extra;  // members that this version does not know: `"key":value,...`
};

}  // namespace jointer
