// Joins a pair into a joint graph: the inverse of emit_pair.cpp.
//
// Terms. A node of the backward stands for a node of the forward if both have the same value
// (pair_matches.cpp): a placeholder for the saved value, a recomputed call for the call that it
// repeats. Only nodes that stand for no other become nodes of the joint graph.
//
// Steps
//   1. Find what the nodes stand for. Undo random states and offloading, so that a new plan can
//      decide about them: a call through a random state becomes a plain call, which gets back its
//      policy tag if torch dropped it; copies to the host and back are dropped.
//   2. Write the inputs: the forward's, then the tangents and other inputs that only the backward
//      has.
//   3. Write the calls: the forward's in their order, then the rest of the backward in its order,
//      except for a few that a trace places elsewhere (joined_order.cpp).
//   4. Write the outputs: the model's, then those of the backward.
//   5. Remove the tags that the partitioner set and would set again, such as MUST_SAVE of
//      collectives.
// Nodes keep their names and descriptions. If a name is taken, a number is appended. Calls through
// random states have lost their names and get those that torch.fx gives such calls.
//
// Only recomputed calls are merged, with the calls that they repeat. Merging all common
// subexpressions is left to the partitioner: min_cut does it where torch would, while pairs from
// the default partitioner contain equal calls that the joint graph also contains and that the
// pair's own plan needs.
//
// Calls of the backward that a partitioner could move to the forward, although they draw different
// numbers, have an effect or use memory after a write, are tagged must_be_in_backward.
//
// A pair does not show which of its MUST_SAVE tags at borders of regions were MUST_RECOMPUTE
// before; they stay MUST_SAVE. A call through a random state may lack a description (torch drops
// it): its value is assembled from the elements that the pair reads.
//
// Cost: linear in the graph.
//
// Source: the inverse of torch._functorch.partitioners._extract_fwd_bwd_modules and of
// functionalize_rng_ops. torch has no such function.

#include "core/partition/join_pair.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/json_text.h"
#include "core/graph/complete.h"
#include "core/graph/title_in_text.h"
#include "core/graph/tuple_call.h"
#include "core/partition/joined_order.h"
#include "core/partition/joint_parts.h"
#include "core/partition/pair_matches.h"
#include "core/partition/part_copy.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

constexpr std::string_view kMustBeInBackward = "must_be_in_backward";

// The name without the suffixes that a partitioner adds.
std::string joint_name(std::string_view name) {
  for (const std::string_view ending : {".fw", ".min_cut", ".default"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  return std::string(name);
}

class PairJoiner {
 public:
  explicit PairJoiner(const Graph& pair)
      : pair_(pair),
        matches_(pair),
        copy_(pair, joint_, CaptureKind::joint, joint_name(pair.part(kForwardPart).name),
              kForwardPart),
        stand_ins_(pair.node_count()) {}

  Result<JoinedPair> run() {
    JOINTER_CHECK(matches_.find());
    JOINTER_CHECK(join_tables());
    for (const PartId half : {kForwardPart, kBackwardPart})
      for (const NodeId id : nodes(half)) {
        if (pair_.node(id).kind == NodeKind::output) outputs_[half.index()] = id;
        const NodeId now = matches_.now(id);
        if (now == id) continue;
        stand_ins_[now.index()].push_back(id);
        if (pair_.node(id).part == kBackwardPart && pair_.node(id).kind == NodeKind::call &&
            !matches_.is_dropped(id))
          ++merged_;
      }
    find_dependents();
    choose_names();
    for (const PartId half : {kForwardPart, kBackwardPart})
      for (const NodeId id : nodes(half))
        if (matches_.is_own(id) && pair_.node(id).kind == NodeKind::placeholder) add(id);
    for (const NodeId id : joined_order(pair_, matches_)) add(id);
    add_outputs();
    copy_.finish_constants();
    joint_.set_title(joint_name(pair_.title()));
    find_plan();
    JOINTER_CHECK(complete(joint_, pair_));
    remove_derived_tags();
    return JoinedPair{.joint = std::move(joint_),
                      .plan = std::move(plan_),
                      .merged = merged_,
                      .undescribed = undescribed_};
  }

 private:
  [[nodiscard]] std::vector<NodeId> nodes(PartId half) const {
    std::vector<NodeId> found;
    for (const NodeId id : pair_.order())
      if (pair_.node(id).part == half) found.push_back(id);
    return found;
  }

  Result<void> join_tables() {
    std::string& kernels = joint_.part(copy_.part()).triton_kernels;
    const std::string& others = pair_.part(kBackwardPart).triton_kernels;
    const auto is_empty = [](const std::string& text) { return text.empty() || text == "{}"; };
    if (is_empty(kernels))
      kernels = others.empty() ? kernels : others;
    else if (!is_empty(others) && kernels != others)
      return fail(Error::Kind::usage,
                  "each half numbers its own Triton kernels, so the halves cannot be joined; "
                  "capture the joint graph instead");
    copy_.include(kBackwardPart);
    return {};
  }

  // Finds the nodes of the backward that depend on a tangent or on another input that only the
  // backward has.
  void find_dependents() {
    depends_.assign(pair_.node_count(), false);
    for (const NodeId id : nodes(kBackwardPart)) {
      const auto inputs = pair_.inputs(id);
      depends_[id.index()] = pair_.node(id).kind == NodeKind::placeholder
                                 ? matches_.is_own(id)
                                 : std::ranges::any_of(inputs, [&](NodeId input) {
                                     return depends_[matches_.now(input).index()];
                                   });
    }
  }

  void choose_names() {
    names_.resize(pair_.node_count());
    std::set<std::string, std::less<>> used{"output"};
    const auto choose = [&](NodeId id, const std::string& base) {
      std::string name = base;
      for (int i = 1; used.contains(name); ++i) name = fmt::format("{}_{}", base, i);
      used.insert(name);
      names_[id.index()] = std::move(name);
    };
    for (const auto& random : matches_.random()) random_.emplace(random.call, &random);
    const std::vector<NodeId> forward = nodes(kForwardPart);
    for (const NodeId id : forward)
      if (matches_.is_own(id) && !random_.contains(id)) choose(id, std::string(pair_.name(id)));
    for (const NodeId id : forward)
      if (random_.contains(id)) {
        const OperatorInfo op =
            describe_operator(pair_.text(pair_.args(pair_.node(id)).front().text()));
        choose(id, std::string(op.packet().substr(op.packet().find('.') + 1)));
      }
    for (const NodeId id : nodes(kBackwardPart))
      if (matches_.is_own(id)) choose(id, std::string(pair_.name(id)));
  }

  // A constant of the backward gets a different name if the forward has a different constant of
  // this name.
  [[nodiscard]] std::string constant_name(NodeId id) const {
    const std::string name(pair_.target(pair_.node(id)));
    return pair_.node(id).part == kBackwardPart && matches_.constants_differ(name)
               ? "backward_" + name
               : name;
  }

  // --- Nodes ---

  void add(NodeId id) {
    const std::string& name = names_[id.index()];
    const Node& n = pair_.node(id);
    if (const auto random = random_.find(id); random != random_.end())
      add_random(*random->second);
    else if (n.kind == NodeKind::get_attr)
      copy_.copy_as(id, name, constant_name(id));
    else
      copy_.copy_as(id, name, n.kind == NodeKind::placeholder ? name : pair_.target(n));
    mark(id);
    for (const NodeId other : stand_ins_[id.index()]) copy_.copy_from(other, id);
  }

  // The nodes that read an element of the tuple that a random call returns, by element; none for an
  // element that the pair does not read.
  [[nodiscard]] std::vector<NodeId> elements_of(const PairMatches::Random& random) const {
    std::vector<NodeId> elements;
    for (const NodeId tuple : {random.result, random.again}) {
      if (!tuple) continue;
      for (const NodeId user : matches_.users().of(tuple)) {
        const auto args = pair_.args(pair_.node(user));
        if (!is_element(pair_, user) || args.size() != 2 ||
            args[1].kind != Argument::Kind::integer || args[1].integer < 0 ||
            args[1].integer >= kMaxElements)
          continue;
        const auto index = static_cast<std::size_t>(args[1].integer);
        if (elements.size() <= index) elements.resize(index + 1);
        if (!elements[index]) elements[index] = user;
      }
    }
    return elements;
  }

  void add_random(const PairMatches::Random& random) {
    const bool has_value = pair_.node(random.result).has(Node::has_value);
    PartCopy::Unwrapping unwrapping{.name = names_[random.call.index()],
                                    .keyword = PairMatches::kStateKeyword,
                                    .described = random.result};
    if (!has_value) unwrapping.elements = elements_of(random);
    undescribed_ += has_value ? 0 : 1;
    const auto described =
        std::ranges::find_if(unwrapping.elements, [](NodeId id) { return bool(id); });
    if (described != unwrapping.elements.end()) unwrapping.described = *described;
    Node& made = joint_.node(copy_.copy_unwrapped(random.call, unwrapping));
    if (random.again && !has_value && !must_recompute(made))
      made.policy = MemoryPolicy::must_recompute;
  }

  // Gives the node the partitioner tag and the phase that it has in a joint graph.
  void mark(NodeId id) {
    const Node& from = pair_.node(id);
    Node& n = joint_.node(copy_.copy_of(id));
    const bool is_backwards = from.part == kBackwardPart && !from.has(Node::recomputed);
    if (!n.partitioner_tag)
      n.partitioner_tag = joint_.intern(is_backwards ? "is_backward" : "is_forward");
    std::string_view tag = joint_.text(n.partitioner_tag);
    const bool stays_anyway =
        depends_[id.index()] || (joint_.op(n).mutates && tag == "is_backward");
    if (matches_.is_late(id) && !stays_anyway && !tag.starts_with("must_be")) {
      tag = kMustBeInBackward;
      n.partitioner_tag = joint_.intern(tag);
    }
    n.phase = tag == "is_backward" || tag == kMustBeInBackward ? Phase::backward : Phase::forward;
    n.set(Node::recomputed, false);
  }

  // --- Outputs and plan ---

  [[nodiscard]] OrderedJson descriptors(PartId half) const {
    const std::string_view text = pair_.text(pair_.node(outputs_[half.index()]).desc);
    return OrderedJson::parse(text.begin(), text.end(), nullptr, false);
  }

  void add_outputs() {
    std::vector<NodeId> returned;
    OrderedJson all = OrderedJson::array();
    const OrderedJson of_forward = descriptors(kForwardPart),
                      of_backward = descriptors(kBackwardPart);
    const auto add = [&](const OutputEntry& entry, const OrderedJson& given, std::size_t index,
                         const char* type) {
      returned.push_back(entry.node ? copy_.copy_of(matches_.now(entry.node)) : NodeId{});
      all.push_back(given.is_array() && index < given.size()
                        ? given[index]
                        : OrderedJson{{"type", type}, {"idx", index}});
    };
    const auto& forward = pair_.part(kForwardPart).outputs;
    for (std::size_t i = 0; i < matches_.own_outputs(); ++i)
      add(forward[i], of_forward, i, "PlainAOTOutput");
    const auto& backward = pair_.part(kBackwardPart).outputs;
    for (std::size_t i = 0; i < backward.size(); ++i)
      add(backward[i], of_backward, i, "GradAOTOutput");
    copy_.add_output(outputs_[kForwardPart.index()], returned, all.dump());
  }

  // Finds the pair's plan. Saved values and symbols are in the order of the forward's outputs;
  // offloaded and redrawn nodes are sorted by id.
  void find_plan() {
    std::set<NodeId> received;
    for (const NodeId id : nodes(kBackwardPart))
      if (const NodeId partner = pair_.node(id).partner) received.insert(partner);
    const auto& outputs = pair_.part(kForwardPart).outputs;
    std::set<NodeId> listed;
    for (std::size_t i = matches_.own_outputs(); i < outputs.size(); ++i) {
      const NodeId saved = outputs[i].node;
      if (!saved || !received.contains(saved)) continue;
      const NodeId copied = matches_.copied_to_host(saved);
      if (!copied && matches_.is_dropped(saved) && matches_.now(saved) == saved)
        continue;  // a state
      const NodeId value = matches_.now(copied ? copied : saved);
      const NodeId joint = copy_.copy_of(value);
      if (!listed.insert(joint).second) continue;
      const bool symbol = is_symbol(pair_, pair_.node(value));
      (symbol ? plan_.saved_symbols : plan_.saved).push_back(joint);
      if (copied) plan_.offloaded.push_back(joint);
    }
    for (const auto& random : matches_.random())
      if (random.again) plan_.redrawn.push_back(copy_.copy_of(random.call));
    std::ranges::sort(plan_.offloaded);
    std::ranges::sort(plan_.redrawn);
  }

  void remove_derived_tags() {
    Graph untagged = joint_;
    for (const NodeId id : untagged.order())
      if (untagged.node(id).policy == MemoryPolicy::must_save)
        untagged.node(id).policy = MemoryPolicy::none;
    for (const Partitioner partitioner : {Partitioner::min_cut, Partitioner::default_partition}) {
      Graph settled = untagged;
      const std::vector<TagSource> sources = settle_tags(settled, partitioner);
      for (const NodeId id : joint_.order())
        if (sources[id.index()] != TagSource::graph &&
            joint_.node(id).policy == settled.node(id).policy)
          joint_.node(id).policy = MemoryPolicy::none;
    }
  }

  static constexpr std::int64_t kMaxElements = 64;

  const Graph& pair_;
  PairMatches matches_;
  Graph joint_;
  PartCopy copy_;
  std::array<NodeId, 2> outputs_;
  std::vector<std::vector<NodeId>> stand_ins_;           // by node: the nodes that stand for it
  std::vector<bool> depends_;                            // by node
  std::vector<std::string> names_;                       // by node: its name in the joint graph
  std::map<NodeId, const PairMatches::Random*> random_;  // by call of the forward
  SavePlan plan_;
  std::size_t merged_ = 0, undescribed_ = 0;
};

}  // namespace

Result<JoinedPair> join_with_plan(const Graph& pair) {
  if (!pair.is_pair()) {
    const CaptureKind kind = pair.part(kForwardPart).kind;
    return fail(Error::Kind::usage, "only a pair can be joined, but {} is {}", title_in_text(pair),
                kind == CaptureKind::forward    ? "a forward graph; open it with its backward"
                : kind == CaptureKind::backward ? "a backward graph; open it with its forward"
                : kind == CaptureKind::joint    ? "already a joint graph"
                : kind == CaptureKind::subgraph ? "a subgraph"
                                                : "a flat training step");
  }
  return PairJoiner(pair).run();
}

}  // namespace jointer
