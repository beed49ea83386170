// Finds what the nodes of a pair's backward stand for: the nodes of the forward with the same
// values.
//
// Steps
//   1. The forward's outputs are the model's, then the saved ones, from the first one whose
//      descriptor says that it is saved. If no descriptor says so, the last outputs are saved: as
//      many as the backward receives.
//   2. Random states: a call of the backward through run_with_rng_state stands for the call of the
//      forward that returned the state; a call of the backward through a generator stands for the
//      call of the forward through the generator with the same number.
//   3. A placeholder stands for the value that the forward saved. An input without a tensor that
//      the caller passes to both halves stands for the forward's input of the same name.
//   4. Offloading: if a saved value is a copy on the host that nothing in the forward reads and
//      that the backward only copies back to the value's device, the placeholder and the copies
//      stand for the value that was copied.
//   5. Recomputed calls. Extraction keeps names, so a call of the backward recomputes the call of
//      that name in the forward if the operator and the arguments are also the same. It does not if
//      it draws different numbers, has an effect, or uses memory that is written to in between. A
//      constant stands for the forward's constant of that name unless the two differ.
//
// Calls that are equal but have different names do not match, such as two collectives on the same
// input: a partitioner did not make one from the other.
//
// Cost: linear in the graph, plus parsing the constants of both halves for each constant that the
// backward reads, and a search among the random calls for each run_with_rng_state.

#include "core/partition/pair_matches.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/graph/effects.h"
#include "core/graph/equal_arguments.h"
#include "core/graph/tuple_call.h"
#include "core/partition/joint_parts.h"
#include "core/partition/partitioned_values.h"
#include "core/partition/random_states.h"

namespace jointer {
namespace {

constexpr std::string_view kByGenerator = "graphsafe_run_with_rng_state",
                           kSavesState = "run_and_save_rng_state",
                           kWithState = "run_with_rng_state";

bool names_operator(std::span<const Argument> args, std::size_t index) {
  return args.size() > index && args[index].kind == Argument::Kind::op;
}

}  // namespace

PairMatches::PairMatches(const Graph& pair)
    : pair_(pair),
      users_(pair),
      writes_(pair),
      stands_for_(pair.node_count()),
      is_dropped_(pair.node_count(), false),
      is_late_(pair.node_count(), false) {
  for (std::size_t i = 0; i < stands_for_.size(); ++i) stands_for_[i] = NodeId(i);
}

Result<void> PairMatches::find() {
  find_outputs();
  JOINTER_CHECK(find_random_calls());
  JOINTER_CHECK(find_inputs());
  undo_offloading();
  return merge_recomputed();
}

NodeId PairMatches::now(NodeId id) const {
  while (id && stands_for_[id.index()] != id) id = stands_for_[id.index()];
  return id;
}

NodeId PairMatches::copied_to_host(NodeId saved) const {
  const auto found = host_copies_.find(saved);
  return found == host_copies_.end() ? NodeId{} : found->second;
}

void PairMatches::find_outputs() {
  const std::vector<OutputEntry>& outputs = pair_.part(kForwardPart).outputs;
  const auto first = std::ranges::find(outputs, Role::saved, &OutputEntry::role);
  own_outputs_ = static_cast<std::size_t>(first - outputs.begin());
  if (first != outputs.end()) return;
  std::vector<bool> is_given(pair_.node_count(), false);
  for (const NodeId id : pair_.order())
    if (const NodeId partner = pair_.node(id).partner) is_given[partner.index()] = true;
  const auto given = static_cast<std::size_t>(std::count(is_given.begin(), is_given.end(), true));
  own_outputs_ -= std::min(given, own_outputs_);
}

Result<void> PairMatches::find_random_calls() {
  for (const NodeId id : pair_.order()) {
    if (!is_call(id)) continue;
    const Node& n = pair_.node(id);
    if (target(id) == kByGenerator && names_operator(pair_.args(n), 0)) {
      JOINTER_CHECK(add_generator_call(id));
    } else if (target(id) == kSavesState && names_operator(pair_.args(n), 0) &&
               n.part == kForwardPart) {
      JOINTER_CHECK(add_saved_state(id));
    } else if (target(id) == kWithState && names_operator(pair_.args(n), 1) &&
               n.part == kBackwardPart) {
      JOINTER_CHECK(add_with_state(id));
    }
  }
  return check_generators();
}

// The N of fwd_rng_state_N and bwd_rng_state_N; empty for any other node.
std::string PairMatches::generator_number(NodeId id) const {
  const Node& n = pair_.node(id);
  const std::string_view start = n.part == kForwardPart ? "fwd_rng_state_" : "bwd_rng_state_";
  return n.kind == NodeKind::placeholder && target(id).starts_with(start)
             ? std::string(target(id).substr(start.size()))
             : std::string();
}

Result<void> PairMatches::add_generator_call(NodeId id) {
  const Node& n = pair_.node(id);
  const Argument* state = pair_.member(n.kwargs, kStateKeyword);
  const NodeId generator =
      state != nullptr && state->kind == Argument::Kind::node ? state->node() : NodeId{};
  const std::string number = generator ? generator_number(generator) : std::string();
  if (number.empty()) return no_state(id, generator);
  is_dropped_[generator.index()] = true;
  if (n.part == kForwardPart) {
    by_generator_.emplace(number, random_.size());
    random_.push_back({.call = id, .result = id, .again = {}});
    return {};
  }
  const auto first = by_generator_.find(number);
  return first == by_generator_.end() ? no_state(id, generator) : link(first->second, id);
}

Result<void> PairMatches::add_saved_state(NodeId id) {
  Random call{.call = id, .result = id, .again = {}};
  for (const NodeId user : users_.of(id)) {
    const auto args = pair_.args(pair_.node(user));
    if (!is_element(pair_, user) || args.size() != 2 || args[1].kind != Argument::Kind::integer)
      return fail(Error::Kind::usage,
                  "{} reads the random state that {} returns, in a way that a joint graph cannot "
                  "reproduce; open the pair as the partitioner made it",
                  pair_.name(user), pair_.name(id));
    is_dropped_[user.index()] = true;
    if (args[1].integer == 0) continue;
    call.result = user;
    stands_for_[user.index()] = id;
  }
  random_.push_back(call);
  return {};
}

Result<void> PairMatches::add_with_state(NodeId id) {
  const Argument& state = pair_.args(pair_.node(id)).front();
  const NodeId given = state.kind == Argument::Kind::node ? state.node() : NodeId{};
  const NodeId left = given ? pair_.node(given).partner : NodeId{};
  if (!left || pair_.inputs(left).size() != 1) return no_state(id, given);
  const auto first = std::ranges::find(random_, pair_.inputs(left).front(), &Random::call);
  if (first == random_.end() || target(first->call) != kSavesState) return no_state(id, given);
  is_dropped_[given.index()] = true;
  return link(static_cast<std::size_t>(first - random_.begin()), id);
}

Result<void> PairMatches::link(std::size_t index, NodeId again) {
  Random& call = random_[index];
  if (call.again)
    return fail(Error::Kind::usage,
                "{} and {} in the backward draw the same numbers as one call of the forward, {}; "
                "open the pair as the partitioner made it",
                pair_.name(call.again), pair_.name(again), pair_.name(call.call));
  call.again = again;
  random_index_.emplace(again, index);
  return {};
}

Result<void> PairMatches::no_state(NodeId call, NodeId state) const {
  return fail(Error::Kind::usage,
              "{} of the {} draws numbers from {}, which is not the random state of a call that a "
              "partitioner recomputes; open the pair as the partitioner made it",
              pair_.name(call), pair_.node(call).part == kForwardPart ? "forward" : "backward",
              state ? pair_.name(state) : "an unknown state");
}

// Checks that only calls through random states use the states among the inputs.
Result<void> PairMatches::check_generators() const {
  for (const NodeId id : pair_.order()) {
    if (!is_dropped_[id.index()] || pair_.node(id).kind != NodeKind::placeholder) continue;
    for (const NodeId user : users_.of(id))
      if (!is_call(user) || (target(user) != kByGenerator && target(user) != kWithState))
        return fail(
            Error::Kind::usage,
            "{} reads the random state {}, which a joint graph does not have; open the pair "
            "as the partitioner made it",
            pair_.name(user), pair_.name(id));
  }
  return {};
}

Result<void> PairMatches::find_inputs() {
  const NodePlaces places(pair_);
  for (const NodeId id : pair_.order()) {
    const Node& n = pair_.node(id);
    if (n.part != kBackwardPart || n.kind != NodeKind::placeholder || is_dropped_[id.index()])
      continue;
    if (n.partner) {
      stands_for_[id.index()] = n.partner;
      continue;
    }
    // The caller passes some inputs to both halves, such as BackwardState.
    const NodeId same = pair_.find(kForwardPart, pair_.name(id));
    if (same && pair_.node(same).kind == NodeKind::placeholder && n.tensor_count == 0)
      stands_for_[id.index()] = same;
    else if (!places.is_tangent(n) && !places.is_backward_seed(n) && n.role != Role::other)
      return fail(Error::Kind::usage,
                  "{}, an input of the backward, is neither a tangent nor a result of the forward; "
                  "open the two halves of one partition",
                  pair_.name(id));
  }
  return {};
}

// True for a synchronous copy of a tensor to a device.
bool PairMatches::is_plain_copy(NodeId id) const {
  if (!is_call(id) || target(id) != "prims.device_put.default") return false;
  const Node& n = pair_.node(id);
  return n.input_count == 1 && pair_.single_tensor(n) != nullptr &&
         pair_.single_tensor(pair_.node(pair_.inputs(n).front())) != nullptr;
}

// The calls that copy a value to the host, ending with `saved`; empty if there are none, or if
// anything but the backward uses the copy.
std::vector<NodeId> PairMatches::copies_to_host(NodeId saved) const {
  const Node& n = pair_.node(saved);
  std::vector<NodeId> calls;
  if (const NodeId copy = ended_transfer(pair_, n); copy && pair_.node(copy).part == kForwardPart)
    calls = {copy, saved};
  else if (is_plain_copy(saved) && pair_.device_type(*pair_.single_tensor(n)) == DeviceType::cpu &&
           device_of(saved) != device_of(pair_.inputs(n).front()))
    calls = {saved};
  const bool is_read = std::ranges::any_of(calls, [&](NodeId call) {
    return std::ranges::any_of(users_.of(call), [&](NodeId user) {
      return pair_.node(user).kind != NodeKind::output && user != saved;
    });
  });
  const auto& outputs = pair_.part(kForwardPart).outputs;
  const bool is_result =
      std::ranges::any_of(std::span(outputs).first(own_outputs_),
                          [&](const OutputEntry& entry) { return entry.node == saved; });
  if (is_read || is_result) calls.clear();
  return calls;
}

// The calls that copy `given` back to `device`, and the results; nullopt if the backward uses
// `given` in any other way, such as by a copy to another device.
std::optional<PairMatches::Reloads> PairMatches::reloads_of(NodeId given, DeviceId device) const {
  Reloads found;
  for (const NodeId copy : users_.of(given)) {
    found.calls.push_back(copy);
    if (is_plain_copy(copy) && device_of(copy) == device) {
      found.values.push_back(copy);
      continue;
    }
    if (!pair_.is_transfer(pair_.node(copy))) return std::nullopt;
    for (const NodeId wait : users_.of(copy)) {
      if (ended_transfer(pair_, pair_.node(wait)) != copy || device_of(wait) != device)
        return std::nullopt;
      found.calls.push_back(wait);
      found.values.push_back(wait);
    }
  }
  return found;
}

void PairMatches::undo_offloading() {
  for (const NodeId id : pair_.order()) {
    const NodeId saved = pair_.node(id).partner;
    if (!saved || is_dropped_[id.index()]) continue;
    const std::vector<NodeId> to_host = copies_to_host(saved);
    if (to_host.empty()) continue;
    const NodeId value = pair_.inputs(to_host.front()).front();
    if (pair_.single_tensor(pair_.node(value)) == nullptr) continue;
    const auto back = reloads_of(id, device_of(value));
    if (!back) continue;
    for (const NodeId call : to_host) is_dropped_[call.index()] = true;
    for (const NodeId call : back->calls) is_dropped_[call.index()] = true;
    for (const NodeId each : back->values) stands_for_[each.index()] = value;
    stands_for_[id.index()] = value;
    host_copies_.emplace(saved, value);
  }
}

bool PairMatches::equal(std::span<const Argument> a, std::span<const Argument> b) const {
  return equal_arguments(pair_, a, b, [&](const Argument& x, const Argument& y) {
    if (x.kind == Argument::Kind::node) return now(x.node()) == now(y.node());
    if (x.kind == Argument::Kind::symbol)
      return pair_.expression_text(x.expression()) == pair_.expression_text(y.expression());
    return x.text() == y.text();
  });
}

// The keyword arguments of a call, except the state.
std::vector<Argument> PairMatches::keywords(const Node& call) const {
  const auto named = pair_.children(call.kwargs);
  std::vector<Argument> found;
  for (std::size_t i = 0; i + 1 < named.size(); i += 2)
    if (pair_.text(named[i].text()) != kStateKeyword)
      found.insert(found.end(), {named[i], named[i + 1]});
  return found;
}

// True if running the call a second time does not repeat the first run. A partitioner recomputes
// higher-order operators only if they have no effects, which only their graphs could show.
bool PairMatches::is_bound(NodeId id) const {
  const Node& n = pair_.node(id);
  if (n.kind != NodeKind::call) return false;
  if (!written_arguments(pair_, n).empty()) return true;
  if (pair_.op(n).has(OperatorTag::higher_order) && n.has(Node::recomputed)) return false;
  const Effects effects = effects_of(pair_, n);
  return (effects.has(Effects::draws) && !draws_nothing(pair_, n)) || effects.has(Effects::acts) ||
         effects.has(Effects::separates);
}

// True if a call between these two writes to memory that `first` uses.
bool PairMatches::is_overwritten(NodeId first, NodeId again) const {
  if (!writes_.any() || !is_call(first)) return false;
  const NodeId write = writes_.next_write(first, [](NodeId) { return true; });
  return write && pair_.position(write) < pair_.position(again);
}

// The call or constant of the forward that `id` repeats; none if there is none.
NodeId PairMatches::first_of(NodeId id) const {
  const Node& n = pair_.node(id);
  const NodeId first = pair_.find(kForwardPart, pair_.name(id));
  if (!first || is_dropped_[first.index()]) return {};
  const Node& other = pair_.node(first);
  const bool is_same = other.kind == n.kind && other.target == n.target &&
                       equal(pair_.args(other), pair_.args(n)) &&
                       equal(pair_.children(other.kwargs), pair_.children(n.kwargs));
  if (!is_same || (n.kind == NodeKind::get_attr && constants_differ(target(id)))) return {};
  return first;
}

Result<void> PairMatches::merge_recomputed() {
  for (const NodeId id : pair_.order()) {
    const Node& n = pair_.node(id);
    if (n.part != kBackwardPart || is_dropped_[id.index()] || stands_for_[id.index()] != id)
      continue;
    if (n.kind != NodeKind::call && n.kind != NodeKind::get_attr) continue;
    if (const auto known = random_index_.find(id); known != random_index_.end()) {
      JOINTER_CHECK(merge_random(random_[known->second]));
      continue;
    }
    const NodeId first = first_of(id);
    const bool may_differ = is_bound(id) || (first && is_overwritten(first, id));
    if (first && !may_differ)
      stands_for_[id.index()] = first;
    else if (may_differ)
      is_late_[id.index()] = true;
  }
  return {};
}

Result<void> PairMatches::merge_random(const Random& random) {
  const Node &first = pair_.node(random.call), &again = pair_.node(random.again);
  const std::size_t before_operator = target(random.again) == kWithState ? 1 : 0;
  if (!equal(pair_.args(first), pair_.args(again).subspan(before_operator)) ||
      !equal(keywords(first), keywords(again)))
    return fail(Error::Kind::usage,
                "{} in the backward draws the same numbers as {}, but has different arguments; "
                "open the pair as the partitioner made it",
                pair_.name(random.again), pair_.name(random.call));
  stands_for_[random.again.index()] = random.call;
  return {};
}

bool PairMatches::constants_differ(std::string_view name) const {
  const auto constant = [&](PartId part) {
    auto all = nlohmann::json::parse(pair_.part(part).constants, nullptr, false);
    if (!all.is_object() || !all.contains(name)) return nlohmann::json();
    auto found = all[std::string(name)];
    if (found.is_object()) found.erase("storage");
    return found;
  };
  const auto first = constant(kForwardPart), other = constant(kBackwardPart);
  return !first.is_null() && !other.is_null() && first != other;
}

}  // namespace jointer
