// Checks that the collectives of several ranks match; if they do not, the ranks can hang or compute
// wrong results.
//
// Terms. A call is a node that starts a collective in a known group; others are not checked. Groups
// in different captures are the same group if they contain the same ranks. Several groups with the
// same ranks are matched in the order of their descriptions and names.
//
// Rules.
// 1. In each group, every rank makes the same calls in the same order, with the same operator,
//    reduction and source, and the same number of elements of the same types. In an all-to-all with
//    given splits, each rank sends as many elements to another rank as that rank expects. Splits
//    that are known only at run time are not compared.
// 2. There is no deadlock: no rank waits for a call that another rank makes only after a wait that
//    depends, directly or indirectly, on the first rank. The programs are run together: a rank
//    stays at a wait until all ranks of the group that have a program have made the call. Ranks
//    without a program count as always ready.
//
// Cost: linear in the nodes of all programs; for collectives and waits, times the programs in the
// group. Rule 2 visits all programs once more each time that they have to wait for each other.

#include "core/schedule/spmd_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/counted.h"
#include "core/graph/group_argument.h"
#include "core/graph/size_text.h"

namespace jointer {
namespace {

struct Call {
  NodeId node;
  std::string key;   // equal for matching calls
  std::string does;  // shown to the user
  // Set only for an all-to-all if all splits are numbers.
  std::vector<std::int64_t> sends, expects;
};

// Identifies a group on all ranks by its ranks and by its index among the groups with the same
// ranks.
using GroupKey = std::pair<std::vector<std::int32_t>, std::size_t>;

struct Program {
  int rank = 0;
  const Graph* graph = nullptr;
  std::map<GroupKey, std::vector<Call>> calls;
  std::vector<const GroupKey*> keys;  // indexed by group id
  std::vector<std::size_t> number;    // indexed by node id: index among the calls of its group
};

// "all_reduce" for "_c10d_functional.all_reduce.default".
std::string_view short_name(std::string_view target) {
  const std::size_t space = target.find('.');
  if (space == std::string_view::npos) return target;
  target.remove_prefix(space + 1);
  return target.substr(0, target.find('.'));
}

// Empty if the splits are not given or if not all of them are numbers.
std::vector<std::int64_t> splits(const Graph& graph, const Node& node, std::string_view name) {
  std::vector<std::int64_t> sizes;
  const Argument* argument = graph.argument(node, name);
  if (argument == nullptr || !argument->has_children()) return {};
  for (const Argument& each : graph.children(*argument)) {
    if (each.kind != Argument::Kind::integer) return {};
    sizes.push_back(each.integer);
  }
  return sizes;
}

bool has_splits(const Graph& graph, const Node& node) {
  for (const std::string_view name : {"input_split_sizes", "output_split_sizes"})
    if (const Argument* argument = graph.argument(node, name);
        argument != nullptr && argument->has_children() && argument->count > 0)
      return true;
  return false;
}

// Describes the reduction operator or the source rank of a broadcast, if there is one.
std::string setting_text(const Graph& graph, const Node& node) {
  if (const std::string_view reduction = text_argument(graph, node, "reduce_op");
      !reduction.empty())
    return fmt::format(" ({})", reduction);
  if (const Argument* source = graph.argument(node, "src");
      source != nullptr && source->kind == Argument::Kind::integer)
    return fmt::format(" (from {})", source->integer);
  return {};
}

Call describe(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string_view name = short_name(graph.target(node));
  Call call{
      .node = id, .key = std::string(graph.target(node)), .does = {}, .sends = {}, .expects = {}};
  const bool is_split =
      graph.op(node).collective == CollectiveKind::all_to_all && has_splits(graph, node);
  std::string shapes;
  for (const NodeId input : graph.inputs(node))
    for (const Tensor& tensor : graph.tensors(input)) {
      shapes += (shapes.empty() ? "" : ", ") + type_text(graph, tensor);
      call.key += fmt::format(" {}", to_string(tensor.dtype));
      // With splits, sizes may differ between ranks.
      if (!is_split) call.key += fmt::format("x{}", graph.numel(tensor));
    }
  const std::string setting = setting_text(graph, node);
  call.key += setting;
  call.does = fmt::format("{}{} of {}", name, setting, shapes.empty() ? "nothing" : shapes);
  if (is_split) {
    call.sends = splits(graph, node, "input_split_sizes");
    call.expects = splits(graph, node, "output_split_sizes");
    if (call.sends.empty() || call.expects.empty()) call.sends = call.expects = {};
  }
  return call;
}

// Returns the keys of the groups in a graph, each with an empty list of calls. `by_id` gets the key
// of each group. Groups with the same ranks are numbered in the order of their descriptions and
// names.
std::map<GroupKey, std::vector<Call>> group_keys(const Graph& graph, std::vector<GroupKey>& by_id) {
  using Named = std::tuple<std::vector<std::int32_t>, std::string_view, std::string_view>;
  std::map<Named, std::vector<std::size_t>> named;
  for (std::size_t i = 0; i < graph.group_count(); ++i) {
    const ProcessGroup& group = graph.group(GroupId(i));
    named[{group.ranks, graph.text(group.desc), graph.text(group.name)}].push_back(i);
  }
  by_id.resize(graph.group_count());
  std::map<GroupKey, std::vector<Call>> calls;
  std::map<std::vector<std::int32_t>, std::size_t> count;
  for (const auto& [name, ids] : named) {
    const GroupKey key{std::get<0>(name), count[std::get<0>(name)]++};
    for (const std::size_t id : ids) by_id[id] = key;
    calls[key];
  }
  return calls;
}

Program read_program(const RankGraph& from) {
  Program program{.rank = from.rank, .graph = from.graph, .calls = {}, .keys = {}, .number = {}};
  const Graph& graph = *from.graph;
  std::vector<GroupKey> by_id;
  program.calls = group_keys(graph, by_id);
  for (const GroupKey& key : by_id) program.keys.push_back(&program.calls.find(key)->first);
  program.number.resize(graph.node_count());
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!graph.is_collective_start(node) || !node.group) continue;
    auto& calls = program.calls.find(by_id[node.group.index()])->second;
    program.number[id.index()] = calls.size();
    calls.push_back(describe(graph, id));
  }
  return program;
}

std::string ranks_text(const std::vector<std::int32_t>& ranks) {
  constexpr std::size_t kMax = 8;
  if (ranks.size() <= kMax) return fmt::format("{}", fmt::join(ranks, ", "));
  return fmt::format("{}, ... {}, {} in total",
                     fmt::join(ranks.begin(), ranks.begin() + kMax - 2, ", "), ranks.back(),
                     ranks.size());
}

class Checker {
 public:
  explicit Checker(std::vector<Program> programs) : programs_(std::move(programs)) {}

  SpmdReport check() {
    for (const Program& program : programs_)
      for (const auto& [key, calls] : program.calls) keys_.try_emplace(key);
    for (auto& [key, members] : keys_) find_members(key, members);
    for (const auto& [key, members] : keys_) compare(key, members);
    if (!report_.mismatch) step_through();
    if (alone_ > 0)
      report_.notes.push_back(
          counted(alone_, "group could not be compared: only one of its ranks is given",
                  "groups could not be compared: only one rank of each is given"));
    return std::move(report_);
  }

 private:
  using Members = std::vector<std::size_t>;  // indices of programs

  const std::vector<Call>& calls(std::size_t program, const GroupKey& key) const {
    static const std::vector<Call> kNone;
    const auto found = programs_[program].calls.find(key);
    return found == programs_[program].calls.end() ? kNone : found->second;
  }

  std::string label(const GroupKey& key) const {
    for (const Program& program : programs_)
      for (std::size_t i = 0; i < program.keys.size(); ++i)
        if (*program.keys[i] == key) return std::string(program.graph->group_label(GroupId(i)));
    return {};
  }

  void find_members(const GroupKey& key, Members& members) {
    for (std::size_t i = 0; i < programs_.size(); ++i)
      if (std::ranges::find(key.first, programs_[i].rank) != key.first.end()) members.push_back(i);
    const bool is_used = std::ranges::any_of(programs_, [&](const Program& p) {
      return p.calls.contains(key) && !p.calls.at(key).empty();
    });
    if (!is_used) return;
    if (members.size() < 2) {
      ++alone_;
      return;
    }
    SpmdGroup group{.label = label(key),
                    .ranks = key.first,
                    .checked = {},
                    .calls = calls(members.front(), key).size()};
    for (const std::size_t i : members) group.checked.push_back(programs_[i].rank);
    report_.groups.push_back(std::move(group));
  }

  void compare(const GroupKey& key, const Members& members) {
    for (std::size_t m = 1; m < members.size(); ++m) {
      const auto& a = calls(members.front(), key);
      const auto& b = calls(members[m], key);
      const std::size_t longer = std::max(a.size(), b.size());
      for (std::size_t i = 0; i < longer; ++i) {
        if (i < a.size() && i < b.size() && a[i].key == b[i].key) continue;
        note_mismatch(key, i, members.front(), members[m]);
        break;
      }
    }
    compare_splits(key, members);
  }

  void compare_splits(const GroupKey& key, const Members& members) {
    for (std::size_t x = 0; x < members.size(); ++x)
      for (std::size_t y = 0; y < members.size(); ++y) {
        if (x == y) continue;
        const auto& sender = calls(members[x], key);
        const auto& receiver = calls(members[y], key);
        for (std::size_t i = 0; i < std::min(sender.size(), receiver.size()); ++i) {
          if (fits(key, members[x], sender[i], members[y], receiver[i])) continue;
          note_mismatch(key, i, members[x], members[y]);
          break;
        }
      }
  }

  bool fits(const GroupKey& key, std::size_t from, const Call& sender, std::size_t to,
            const Call& receiver) const {
    const auto place = [&](std::size_t program) {
      return static_cast<std::size_t>(std::ranges::find(key.first, programs_[program].rank) -
                                      key.first.begin());
    };
    if (sender.sends.size() != key.first.size() || receiver.expects.size() != key.first.size())
      return sender.sends.empty() || receiver.expects.empty();
    return sender.sends[place(to)] == receiver.expects[place(from)];
  }

  SpmdSide side(const GroupKey& key, std::size_t program, std::size_t call) const {
    SpmdSide side{.rank = programs_[program].rank, .node = {}, .position = 0, .does = {}};
    const auto& all = calls(program, key);
    if (call >= all.size()) return side;
    side.node = all[call].node;
    side.position = programs_[program].graph->position(side.node);
    side.does = all[call].does;
    if (!all[call].sends.empty())
      side.does += fmt::format(", sends [{}], expects [{}]", fmt::join(all[call].sends, ","),
                               fmt::join(all[call].expects, ","));
    return side;
  }

  std::string side_text(const SpmdSide& side, bool is_brief) const {
    if (!side.node) return fmt::format("rank {} calls no further collectives", side.rank);
    const auto program = std::ranges::find(programs_, side.rank, &Program::rank);
    const std::string text =
        fmt::format("rank {} calls {}", side.rank, program->graph->name(side.node));
    return is_brief ? text : fmt::format("{} ({}, position {})", text, side.does, side.position);
  }

  // Reports the mismatch if it comes before all others so far in program order.
  void note_mismatch(const GroupKey& key, std::size_t call, std::size_t a, std::size_t b) {
    SpmdMismatch found{.group = label(key),
                       .ranks = key.first,
                       .call = call,
                       .a = side(key, a, call),
                       .b = side(key, b, call),
                       .sentence = {},
                       .brief = {}};
    const auto first = [](const SpmdMismatch& m) {
      constexpr auto kNever = std::numeric_limits<std::size_t>::max();
      return std::min(m.a.node ? m.a.position : kNever, m.b.node ? m.b.position : kNever);
    };
    if (report_.mismatch && first(*report_.mismatch) <= first(found)) return;
    const auto sentence = [&](bool is_brief) {
      return fmt::format("in group {} (ranks {}), as collective {}, {}, but {}: the run would {}",
                         found.group, ranks_text(found.ranks), call, side_text(found.a, is_brief),
                         side_text(found.b, is_brief),
                         found.a.node && found.b.node ? "hang or compute wrong results" : "hang");
    };
    found.sentence = sentence(false);
    found.brief = sentence(true);
    report_.mismatch = std::move(found);
  }

  // --- Rule 2 ---

  struct Step {
    std::span<const NodeId> order;
    std::size_t at = 0;
    std::map<const GroupKey*, std::size_t> made;  // number of calls made, by the program's key
  };

  // Runs every program as far as possible, and repeats this until no program advances.
  void step_through() {
    std::vector<Step> steps;
    for (const Program& program : programs_)
      steps.push_back({.order = program.graph->order(), .at = 0, .made = {}});
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::size_t before = steps[i].at;
        while (steps[i].at < steps[i].order.size() && !blocker(steps, i)) advance(steps[i], i);
        moved = moved || steps[i].at != before;
      }
    }
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].at < steps[i].order.size()) return note_deadlock(steps, i);
  }

  void advance(Step& step, std::size_t program) const {
    const Graph& graph = *programs_[program].graph;
    const Node& node = graph.node(step.order[step.at++]);
    if (graph.is_collective_start(node) && node.group)
      ++step.made[programs_[program].keys[node.group.index()]];
  }

  // The collective that the next node of a program waits for; may be none.
  NodeId awaited(const Step& step, std::size_t program) const {
    const Graph& graph = *programs_[program].graph;
    const Node& node = graph.node(step.order[step.at]);
    if (!graph.is_wait(node)) return {};
    const NodeId start = graph.collective_of_wait(node);
    return start && graph.node(start).group ? start : NodeId();
  }

  // A program that has not yet made the call for which `program` waits; nullopt if `program` can
  // advance.
  std::optional<std::size_t> blocker(const std::vector<Step>& steps, std::size_t program) const {
    const NodeId start = awaited(steps[program], program);
    if (!start) return std::nullopt;
    const Program& waiting = programs_[program];
    const GroupKey& key = *waiting.keys[waiting.graph->node(start).group.index()];
    const std::size_t call = waiting.number[start.index()];
    for (const std::size_t other : keys_.at(key)) {
      const auto found = programs_[other].calls.find(key);
      if (found == programs_[other].calls.end()) continue;
      const auto made = steps[other].made.find(&found->first);
      if (made == steps[other].made.end() || made->second <= call) return other;
    }
    return std::nullopt;
  }

  void note_deadlock(const std::vector<Step>& steps, std::size_t waiting) {
    const auto name = [&](std::size_t program, NodeId node) {
      return programs_[program].graph->name(node);
    };
    const auto standing = [&](std::size_t program) {
      return steps[program].order[steps[program].at];
    };
    const std::size_t other = *blocker(steps, waiting);
    const NodeId start = awaited(steps[waiting], waiting);
    const GroupKey& key =
        *programs_[waiting].keys[programs_[waiting].graph->node(start).group.index()];
    const std::size_t call = programs_[waiting].number[start.index()];
    SpmdMismatch found{.group = label(key),
                       .ranks = key.first,
                       .call = call,
                       .a = side(key, waiting, call),
                       .b = side(key, other, call),
                       .sentence = {},
                       .brief = {}};
    found.sentence = fmt::format(
        "rank {} waits at {} for {}, which rank {} calls only after {}, where it waits for rank "
        "{}: the run would hang",
        found.a.rank, name(waiting, standing(waiting)), name(waiting, start), found.b.rank,
        name(other, standing(other)), programs_[*blocker(steps, other)].rank);
    found.brief = found.sentence;
    report_.mismatch = std::move(found);
  }

  std::vector<Program> programs_;
  std::map<GroupKey, Members> keys_;
  SpmdReport report_;
  std::size_t alone_ = 0;  // number of groups in which only one rank has a program
};

}  // namespace

Result<SpmdReport> check_spmd(std::span<const RankGraph> graphs) {
  if (graphs.size() < 2)
    return fail(Error::Kind::usage,
                "a comparison needs the programs of at least two ranks; give the captures of "
                "other ranks too");
  std::vector<Program> programs;
  programs.reserve(graphs.size());
  for (const RankGraph& each : graphs) {
    if (std::ranges::find(programs, each.rank, &Program::rank) != programs.end())
      return fail(Error::Kind::usage, "rank {} is given twice; give one capture per rank",
                  each.rank);
    programs.push_back(read_program(each));
  }
  return Checker(std::move(programs)).check();
}

}  // namespace jointer
