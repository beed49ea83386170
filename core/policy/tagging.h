#pragma once

// Who tags what before a partitioner runs: upstream's operator lists, policies and FSDP tags, each
// as an edit of SetPolicy changes, so that it is shown, undone and replayed like any other. Rules
// and sources are at the top of each .cpp.

#include <cstdint>
#include <string>
#include <string_view>
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
  std::string op = "aten.mm.default";  // or a pattern or selector
  std::int64_t n = 2;                  // from 1
  Counter counter = Counter::global;
  friend bool operator==(const EveryNth&, const EveryNth&) = default;
};
// `aten.mm.default/2`, `aten.mm/2/layer`: as pipelines and command lines write it.
std::string to_text(const EveryNth& rule);
// Error (usage): it is no such text.
Result<EveryNth> parse_every_nth(std::string_view text);

struct SacOptions {
  // Operators, with or without overload, or `FQN_PATTERN::operator` (core/edit/select.h). Empty:
  // upstream's default list, or nothing where `default_list` is false.
  std::vector<std::string> save;
  std::vector<EveryNth> every_nth = {EveryNth{}};
  bool default_list = true;
  // All of the forward, not only up to the call that makes the first value of the output.
  bool whole_forward = false;
};

// Upstream's apply_sac. Error (usage): a selector of `save` selects nothing, the graph is a pair.
Result<Edit> apply_sac(const Graph& graph, const SacOptions& options = {});

// Upstream's memory policies: default, full, eager, sac_and_offload.
struct MemoryPolicyPreset {
  std::string name, summary;
};
const std::vector<MemoryPolicyPreset>& memory_policy_presets();
inline constexpr std::int64_t kOffloadBytes = std::int64_t{100} << 30;  // upstream's default
// `save_ops`: full_recompute_save_ops, with `full` only: selectors. `offload_bytes`: the budget of
// sac_and_offload. `reshard`: without it FSDP's gathered parameters are saved. Error (usage): no
// such preset, a selector that selects nothing, `save_ops` with another preset.
Result<Edit> tag_with_memory_policy(const Graph& graph, const std::string& preset,
                                    const std::vector<std::string>& save_ops = {},
                                    std::int64_t offload_bytes = kOffloadBytes,
                                    bool reshard = true);

// Upstream's fsdp_reshard_after_fwd: gathered parameters are made again (reshard) or saved.
Result<Edit> fsdp_reshard_after_fwd(const Graph& graph, bool reshard = true);

// Every tag goes.
Result<Edit> remove_tags(const Graph& graph);

}  // namespace jointer
