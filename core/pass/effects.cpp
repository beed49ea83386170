#include "core/pass/effects.h"

#include <fmt/core.h>

#include <unordered_map>
#include <unordered_set>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/replacements.h"

namespace jointer {
namespace {

using Nodes = std::unordered_set<NodeId>;

std::int64_t place_of(const Graph& graph, NodeId node) {
  return static_cast<std::int64_t>(graph.position(node));
}

class EffectsOfEdit {
 public:
  EffectsOfEdit(const JudgedGraph& before, const JudgedGraph& after,
                const GraphDifference& difference)
      : before_(before),
        after_(after),
        moved_(difference.moved.begin(), difference.moved.end()),
        changed_(difference.changed.begin(), difference.changed.end()),
        retagged_(difference.retagged.begin(), difference.retagged.end()),
        replaced_by_(replacements(before.graph, after.graph, difference)) {}

  [[nodiscard]] std::string of(const Decision& decision) const {
    const std::string& name = decision.node;
    const NodeId was = before_.graph.find(name), is = after_.graph.find(name);
    if (!is && !was) return {};
    if (!is) {
      const auto in_its_place = replaced_by_.find(name);
      return in_its_place == replaced_by_.end()
                 ? std::string("removed")
                 : fmt::format("removed; replaced by {}",
                               edit_name(after_.graph, in_its_place->second));
    }
    if (!was) return "added";
    return of(was, is, decision.action == "moved");
  }

 private:
  // If two adjacent nodes swapped places, either may count as moved; the pass's decision says
  // which.
  [[nodiscard]] std::string of(NodeId was, NodeId is, bool is_said_to_move) const {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    if (is_said_to_move || moved_.contains(is)) {
      const std::int64_t places = place_of(after_.graph, is) - place_of(before_.graph, was);
      if (places != 0)
        add(fmt::format("{} {}", counted(static_cast<std::size_t>(std::abs(places)), "position"),
                        places > 0 ? "later" : "earlier"));
    }
    if (changed_.contains(is)) {
      const auto target = [](const Graph& graph, NodeId node) {
        return graph.target(graph.node(node));
      };
      add(target(before_.graph, was) == target(after_.graph, is)
              ? std::string("arguments changed")
              : fmt::format("calls {}", target(after_.graph, is)));
    }
    if (retagged_.contains(is)) {
      const MemoryPolicy policy = after_.graph.node(is).policy;
      if (policy == before_.graph.node(was).policy)
        add("checkpointed region changed");
      else
        add(policy == MemoryPolicy::none ? std::string("no policy")
                                         : fmt::format("policy {}", to_string(policy)));
    }
    const auto from = exposed(before_.simulation, was), to = exposed(after_.simulation, is);
    if (from && to && *from != *to)
      add(fmt::format("exposed {} -> {}", format_ns(*from), format_ns(*to)));
    return text;
  }

  [[nodiscard]] static std::optional<std::int64_t> exposed(const Simulation& simulation,
                                                           NodeId node) {
    const std::int32_t index = simulation.collective_of(node);
    if (index < 0) return std::nullopt;
    return simulation.collectives()[static_cast<std::size_t>(index)].exposed_ns;
  }

  const JudgedGraph &before_, &after_;
  Nodes moved_, changed_, retagged_;
  std::unordered_map<std::string, NodeId> replaced_by_;  // by name of the removed node
};

}  // namespace

void note_effects(const JudgedGraph& before, const JudgedGraph& after,
                  const GraphDifference& difference, std::vector<Decision>& decisions) {
  const EffectsOfEdit effects(before, after, difference);
  for (Decision& decision : decisions)
    if (!decision.node.empty()) decision.effect = effects.of(decision);
}

}  // namespace jointer
