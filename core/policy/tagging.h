#pragma once

// Tags graphs for partitioners by upstream's operator lists, memory policies and FSDP rules. Each
// returns an edit of SetPolicy changes, which is shown, undone and replayed like any other edit.
// Rules and sources are at the top of each .cpp.

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
    global,     // counts over the whole graph: torchtitan's compiler toolkit
    per_layer,  // counts in each layer: torchtitan's graph trainer
  };
  std::string op = "aten.mm.default";  // or a pattern or a selector
  std::int64_t n = 2;                  // at least 1
  Counter counter = Counter::global;
  friend bool operator==(const EveryNth&, const EveryNth&) = default;
};
// The rule as in pipelines and on command lines: `aten.mm.default/2`, `aten.mm/2/layer`.
std::string to_text(const EveryNth& rule);
// Error (usage): the text has another form.
Result<EveryNth> parse_every_nth(std::string_view text);

struct SacOptions {
  // Operators, with or without overload, or `FQN_PATTERN::operator` (core/edit/select.h). Empty:
  // upstream's default list, or nothing if `default_list` is false.
  std::vector<std::string> save;
  std::vector<EveryNth> every_nth = {EveryNth{}};
  bool default_list = true;
  // Tag the whole forward, not only up to the call that computes the first value of the output.
  bool whole_forward = false;
};

// Upstream's apply_sac. Error (usage): a selector of `save` selects nothing, or the graph is a
// pair.
Result<Edit> apply_sac(const Graph& graph, const SacOptions& options = {});

// Upstream's memory policies: default, full, eager, sac_and_offload.
struct MemoryPolicyPreset {
  std::string name, summary;
};
const std::vector<MemoryPolicyPreset>& memory_policy_presets();
inline constexpr std::int64_t kOffloadBytes = std::int64_t{100} << 30;  // upstream's default
// `save_ops`: full_recompute_save_ops, selectors for the preset `full` only. `offload_bytes`: the
// budget of sac_and_offload. `reshard`: if false, FSDP's gathered parameters are saved. Error
// (usage): the preset does not exist, a selector selects nothing, or `save_ops` is given for
// another preset.
Result<Edit> tag_with_memory_policy(const Graph& graph, const std::string& preset,
                                    const std::vector<std::string>& save_ops = {},
                                    std::int64_t offload_bytes = kOffloadBytes,
                                    bool reshard = true);

// Upstream's fsdp_reshard_after_fwd: gathered parameters are gathered again (reshard) or saved.
Result<Edit> fsdp_reshard_after_fwd(const Graph& graph, bool reshard = true);

// Removes all tags.
Result<Edit> remove_tags(const Graph& graph);

}  // namespace jointer
