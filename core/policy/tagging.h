#pragma once

// Tags graphs according to upstream's operator sets, memory policies and FSDP rules. Each function
// returns an edit, which can be shown, undone and replayed like any other edit. The top of each
// .cpp file states its rules and sources.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Recomputes every nth call of an operator and saves the others.
struct EveryNth {
  enum class Counter : std::uint8_t {
    global,     // over the whole graph, as in torchtitan's compiler toolkit
    per_layer,  // in each layer, as in torchtitan's graph trainer
  };
  std::string op = "aten.mm.default";  // an operator, a pattern or a selector
  std::int64_t n = 2;                  // at least 1
  Counter counter = Counter::global;
  friend bool operator==(const EveryNth&, const EveryNth&) = default;
};
// The form of a rule in pipelines and on command lines: `aten.mm.default/2`, `aten.mm/2/layer`.
std::string to_text(const EveryNth& rule);
// Error (usage): the text does not have this form.
Result<EveryNth> parse_every_nth(std::string_view text);

struct SacOptions {
  // Operators, with or without an overload, or `FQN_PATTERN::operator` (core/edit/select.h). Empty:
  // upstream's default list or, if `default_list` is false, no operators.
  std::vector<std::string> save;
  std::vector<EveryNth> every_nth = {EveryNth{}};
  bool default_list = true;
  // If true, tags the whole forward, not only the part up to the call that computes the first
  // output.
  bool whole_forward = false;
};

// Upstream's apply_sac. Error (usage): a selector in `save` selects nothing, a rule has an `n`
// below 1, or the graph is a pair.
Result<Edit> apply_sac(const Graph& graph, const SacOptions& options = {});

// Upstream's memory policies: default, full, eager, sac_and_offload.
struct MemoryPolicyPreset {
  std::string name, summary;
};
const std::vector<MemoryPolicyPreset>& memory_policy_presets();
inline constexpr std::int64_t kOffloadBytes = std::int64_t{100} << 30;  // upstream's default
// `save_ops`: upstream's full_recompute_save_ops, which are selectors; only for the preset `full`.
// `offload_bytes`: the budget for sac_and_offload; 0 or less: no limit. `reshard`: if false,
// parameters that FSDP gathered are saved. Error (usage): the preset does not exist, a selector
// selects nothing, `save_ops` is given for another preset, or the graph is a pair.
Result<Edit> tag_with_memory_policy(const Graph& graph, const std::string& preset,
                                    const std::vector<std::string>& save_ops = {},
                                    std::int64_t offload_bytes = kOffloadBytes,
                                    bool reshard = true);

// Upstream's fsdp_reshard_after_fwd: parameters that FSDP gathered are gathered again in the
// backward if `reshard` is true; otherwise, they are saved. Error (usage): the graph is a pair.
Result<Edit> fsdp_reshard_after_fwd(const Graph& graph, bool reshard = true);

// Removes the policies and the checkpointed regions of all calls.
Result<Edit> remove_tags(const Graph& graph);

}  // namespace jointer
