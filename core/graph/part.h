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
  StringId extra;        // JSON members unknown to this version
  bool derived = false;  // not in the capture; `ranks` follow from group_size, or are empty
};

// One element of a graph's output.
struct OutputEntry {
  NodeId node;  // none for a constant such as None
  Role role = Role::result;
  std::string target;  // for a gradient: the parameter's name
};

// One captured FX graph. A Graph has one part, or two if a forward and a backward were joined into
// a pair. Node names are unique within a part.
struct Part {
  // The optional members that the capture contains, even empty ones, so that a round trip writes
  // the same members.
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
  // Raw JSON from the file; empty if the capture has no such member.
  std::string info, symbols_json, triton_kernels, constants;
  Present present;
  std::string extra;  // members unknown to this version: `"key":value,...`
};

}  // namespace jointer
