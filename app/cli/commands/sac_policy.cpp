#include "app/cli/commands/sac_policy.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/edit/edit.h"
#include "core/policy/import.h"
#include "core/policy/tagging.h"

namespace jointer::cli {
namespace {

constexpr const char* kSeed = "apply_sac";  // torchtitan's compiler toolkit
// What upstream's FSDP pass writes, so that no other region's tags override its own.
constexpr std::int64_t kFsdpRegion = 100'000;

Result<void> tag(Graph& graph, const Result<Edit>& edit) {
  if (!edit) return tl::unexpected(edit.error());
  JOINTER_CHECK(apply(graph, *edit));
  return {};
}

// The tags that FSDP's pass left in the capture: none, or what they say of gathered parameters.
MemoryPolicy fsdp_policy(const Graph& graph) {
  for (const NodeId id : graph.order())
    if (graph.node(id).ac_graph_id == kFsdpRegion) return graph.node(id).policy;
  return MemoryPolicy::none;
}

}  // namespace

void PolicyOptions::add_to(CLI::App& command) {
  command
      .add_option("--save", save,
                  "Upstream's apply_sac with this list: operators, or FQN_PATTERN::operator")
      ->delimiter(',');
  command
      .add_option("--every-nth", every_nth,
                  "With --save: operators of which every nth call is made again: aten.mm/2 (the "
                  "default), aten.mm/2/layer, or none")
      ->delimiter(',');
  command.add_option("--policy", file,
                     "A list as `--export` writes it, a recipe, or what torch's partitioner logs");
  command.add_option("--preset", preset,
                     "Upstream's policy: apply_sac, default, full, eager, sac_and_offload");
}

Result<std::vector<std::string>> PolicyOptions::apply_to(Graph& graph, bool fresh) const {
  std::vector<std::string> notes;
  if ((save.empty() ? 0 : 1) + (file.empty() ? 0 : 1) + (preset.empty() ? 0 : 1) > 1)
    return fail(Error::Kind::usage, "--save, --policy and --preset are three policies: give one");
  if (!every_nth.empty() && save.empty())
    return fail(Error::Kind::usage, "--every-nth goes with --save");
  const MemoryPolicy fsdp = fresh ? MemoryPolicy::none : fsdp_policy(graph);
  if (fresh) JOINTER_CHECK(tag(graph, remove_tags(graph)));
  if (!save.empty() || preset == kSeed) {
    SacOptions options{.save = save};
    if (!every_nth.empty()) options.every_nth.clear();
    for (const std::string& text : every_nth) {
      if (text == "none") continue;
      JOINTER_TRY(EveryNth rule, parse_every_nth(text));
      options.every_nth.push_back(std::move(rule));
    }
    JOINTER_CHECK(tag(graph, apply_sac(graph, options)));
    // Upstream's FSDP pass runs last.
    if (fsdp != MemoryPolicy::none)
      JOINTER_CHECK(tag(graph, fsdp_reshard_after_fwd(graph, fsdp != MemoryPolicy::must_save)));
  } else if (!preset.empty()) {
    JOINTER_CHECK(tag(graph, tag_with_memory_policy(graph, preset, {}, std::int64_t{100} << 30,
                                                    fsdp != MemoryPolicy::must_save)));
  } else if (!file.empty()) {
    JOINTER_TRY(const PaddedBytes text, read_bytes(file));
    auto imported = import_policy(graph, text.view());
    if (!imported) return fail(imported.error().kind, "{}: {}", file, imported.error().message);
    for (const Edit& edit : imported->edits) JOINTER_CHECK(tag(graph, edit));
    notes = std::move(imported->notes);
  }
  return notes;
}

Result<std::vector<ParetoPoint>> preset_points(const Graph& graph) {
  std::vector<ParetoPoint> points;
  for (const MemoryPolicyPreset& preset : memory_policy_presets()) {
    Graph tagged = graph;
    const auto edit = tag_with_memory_policy(tagged, preset.name);
    if (!edit || !tag(tagged, *edit)) continue;
    auto solved = partition(tagged);
    if (!solved) continue;
    points.push_back({.budget = -1, .name = preset.name, .plan = std::move(solved->plan)});
  }
  return points;
}

}  // namespace jointer::cli
