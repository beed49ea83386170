// Turns the values that a partitioner chose into a plan, as torch._functorch.partitioners does
// before it extracts the halves:
//  1. Extract a trial backward. Drop saved values that it does not read, that only waits with
//     unused results read, or that are states of the backward, which are passed separately.
//  2. Add sizes. First come the saved symbols that bind a symbol (a placeholder, or a call that
//     creates an unbacked symbol). Then, for each other saved symbol, each saved value and each
//     tangent, come the nodes that bind the missing symbols in its expression, sizes, strides and
//     offset, by name. Last come the saved symbols that are computed from others.
//  3. Move opaque objects after tensors.
//  4. Not in torch: offload the values tagged MUST_CPU_OFFLOAD that can be offloaded, unless their
//     memory is that of an input or an output of the forward.
//  5. Not in torch: untagged random calls that the backward recomputes, as under an activation
//     budget, draw the same numbers as in the forward. (In torch, they draw others, and gradients
//     are wrong.)
//
// Cost: linear in the edges.

#include "core/partition/saved_values.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/graph/symbolic_float.h"
#include "core/graph/users.h"
#include "core/partition/half.h"
#include "core/partition/offloadable.h"
#include "core/partition/random_states.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

// Adds the symbols in an expression; a plain number has no expression.
void add_symbols(const Graph& graph, ExpressionId expression, std::set<std::string>& symbols) {
  if (!expression) return;
  const auto& named = graph.expression(expression).symbols();
  symbols.insert(named.begin(), named.end());
}

std::set<std::string> symbols_of(const Graph& graph, const Node& node) {
  std::set<std::string> symbols;
  if (node.value.kind == Value::Kind::symbol) add_symbols(graph, node.value.expression(), symbols);
  if (const auto number = symbolic_float(graph, node.value))
    if (const auto expression = Expression::parse(number->expression))
      symbols.insert(expression->symbols().begin(), expression->symbols().end());
  for (const Tensor& tensor : graph.tensors(node)) {
    for (const Dim& size : graph.shape(tensor)) add_symbols(graph, size.expression, symbols);
    for (const Dim& step : graph.stride(tensor)) add_symbols(graph, step.expression, symbols);
    add_symbols(graph, graph.offset(tensor).expression, symbols);
  }
  return symbols;
}

// The symbol that a node binds; empty if it binds none. Symbols of floats are not bound.
std::string_view bound_symbol(const Graph& graph, const Node& node) {
  if (node.value.kind != Value::Kind::symbol) return {};
  const Expression& expression = graph.expression(node.value.expression());
  const auto& symbols = expression.symbols();
  if (symbols.size() != 1 || symbols.front() != expression.text()) return {};
  const bool binds = node.kind == NodeKind::placeholder || symbols.front().starts_with('u');
  return binds ? std::string_view(symbols.front()) : std::string_view();
}

// For each symbol, the first node that binds it.
std::map<std::string, NodeId, std::less<>> bindings(const Graph& graph) {
  std::map<std::string, NodeId, std::less<>> found;
  for (const NodeId id : graph.order())
    if (const std::string_view symbol = bound_symbol(graph, graph.node(id)); !symbol.empty())
      found.emplace(symbol, id);
  return found;
}

void drop_unread(const Graph& joint, const JointParts& parts, const Half& backward,
                 std::vector<NodeId>& values) {
  std::vector<std::uint32_t> readers(joint.node_count(), 0);
  for (const NodeId output : backward.outputs)
    if (output) ++readers[output.index()];
  for (const NodeId id : backward.calls)
    for (const NodeId input : joint.inputs(id)) ++readers[input.index()];
  std::vector<std::uint32_t> lasting = readers;  // without waits whose results are unused
  for (const NodeId id : backward.calls)
    if (joint.is_wait(joint.node(id)) && readers[id.index()] == 0)
      for (const NodeId input : joint.inputs(id)) --lasting[input.index()];
  std::erase_if(values, [&](NodeId id) {
    return lasting[id.index()] == 0 ||
           std::ranges::find(parts.backward_states, id) != parts.backward_states.end();
  });
}

std::vector<NodeId> with_bindings(const Graph& joint, const JointParts& parts,
                                  const std::vector<NodeId>& values,
                                  const std::vector<NodeId>& saved_symbols) {
  std::vector<NodeId> binding, derived;
  std::set<std::string> known;
  for (const NodeId id : saved_symbols) {
    const std::string_view symbol = bound_symbol(joint, joint.node(id));
    if (symbol.empty()) {
      derived.push_back(id);
    } else {
      known.emplace(symbol);
      binding.push_back(id);
    }
  }
  const auto bound = bindings(joint);
  if (bound.empty()) return saved_symbols;
  const auto add = [&](NodeId id) {
    for (const std::string& symbol : symbols_of(joint, joint.node(id))) {
      if (!known.insert(symbol).second) continue;
      if (const auto it = bound.find(symbol); it != bound.end()) binding.push_back(it->second);
    }
  };
  for (const NodeId id : derived) add(id);
  for (const NodeId id : values) add(id);
  for (const NodeId id : parts.tangents) add(id);
  binding.insert(binding.end(), derived.begin(), derived.end());
  return binding;
}

std::vector<NodeId> tagged_for_host(const Graph& joint, const JointParts& parts,
                                    const std::vector<NodeId>& saved) {
  std::vector<NodeId> found;
  std::copy_if(saved.begin(), saved.end(), std::back_inserter(found),
               [&](NodeId id) { return joint.node(id).policy == MemoryPolicy::must_cpu_offload; });
  if (found.empty()) return found;
  const Offloadable offloadable(joint);
  std::erase_if(found, [&](NodeId id) { return !offloadable.why_not(id).empty(); });
  std::vector<bool> is_held(joint.storage_count(), false);
  for (const auto* ids : {&parts.forward_inputs, &parts.forward_outputs})
    for (const NodeId id : *ids)
      for (const Tensor& tensor : id ? joint.tensors(id) : std::span<const Tensor>())
        if (tensor.storage) is_held[joint.real_storage(tensor.storage).index()] = true;
  std::erase_if(found, [&](NodeId id) {
    return is_held[joint.real_storage(joint.single_tensor(joint.node(id))->storage).index()];
  });
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<NodeId> untagged_to_redraw(const Graph& joint, const JointParts& parts,
                                       const Half& backward) {
  std::vector<NodeId> found;
  for (const NodeId id : backward.calls)
    if (const Node& node = joint.node(id); parts.is_forward(id) && !must_recompute(node) &&
                                           can_keep_state(joint, node) &&
                                           !draws_nothing(joint, node))
      found.push_back(id);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<NodeId> backward_inputs(const JointParts& parts, const SavePlan& plan) {
  std::vector<NodeId> inputs = plan.saved_symbols;
  for (const auto* more :
       {&plan.saved, &parts.tangents, &parts.backward_seeds, &parts.backward_states})
    inputs.insert(inputs.end(), more->begin(), more->end());
  return inputs;
}

Result<SavePlan> settle_saved_values(const Graph& joint, const JointParts& parts,
                                     const std::vector<NodeId>& values,
                                     const std::vector<NodeId>& symbols) {
  SavePlan plan{.saved = values, .saved_symbols = symbols, .offloaded = {}};
  const NodePlaces places(joint);
  JOINTER_TRY(const Half trial, extract_half(joint, places, HalfKind::backward,
                                             backward_inputs(parts, plan), parts.backward_outputs));
  drop_unread(joint, parts, trial, plan.saved);
  drop_unread(joint, parts, trial, plan.saved_symbols);
  plan.saved_symbols = with_bindings(joint, parts, plan.saved, plan.saved_symbols);
  std::stable_partition(plan.saved.begin(), plan.saved.end(), [&](NodeId id) {
    return joint.node(id).value.kind != Value::Kind::opaque;
  });
  plan.offloaded = tagged_for_host(joint, parts, plan.saved);
  plan.redrawn = untagged_to_redraw(joint, parts, trial);
  return plan;
}

}  // namespace jointer
