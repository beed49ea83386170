#pragma once

// Who tags what before a partitioner runs: upstream's operator lists, policies and FSDP tags, each
// as an edit of SetPolicy changes, so that it is shown, undone and replayed like any other. Rules
// and sources are at the top of each .cpp.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Of every nth call of an operator one is recomputed; the others are saved.
struct EveryNth {
  enum class Counter : std::uint8_t {
    global,     // over the whole graph: torchtitan's compiler toolkit
    per_layer,  // anew in each layer: torchtitan's graph trainer
  };
  std::string op = "aten.mm.default";
  std::int64_t n = 2;
  Counter counter = Counter::global;
};

struct SacOptions {
  // Operators, with or without overload, or `FQN_PATTERN::operator` (core/edit/select.h). Empty:
  // upstream's default list.
  std::vector<std::string> save;
  std::vector<EveryNth> every_nth = {EveryNth{}};
};

// Upstream's apply_sac. Error (usage): a selector selects nothing.
Result<Edit> apply_sac(const Graph& graph, const SacOptions& options = {});

// Upstream's memory policies: default, full, eager, sac_and_offload.
struct MemoryPolicyPreset {
  std::string name, summary;
};
const std::vector<MemoryPolicyPreset>& memory_policy_presets();
// `save_ops`: full_recompute_save_ops, with `full` only. `offload_bytes`: the budget of
// sac_and_offload. Error (usage): no such preset.
Result<Edit> tag_with_memory_policy(const Graph& graph, const std::string& preset,
                                    const std::vector<std::string>& save_ops = {},
                                    std::int64_t offload_bytes = std::int64_t{100} << 30);

// Upstream's fsdp_reshard_after_fwd: gathered parameters are made again (reshard) or saved.
Result<Edit> fsdp_reshard_after_fwd(const Graph& graph, bool reshard = true);

// Every tag goes.
Result<Edit> remove_tags(const Graph& graph);

}  // namespace jointer
