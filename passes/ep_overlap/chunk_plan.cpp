// Chooses the nodes that graph chunking duplicates: the nodes of a module that depend on a value
// whose size contains the chunk symbol.
//
// Terms. Candidates: the calls of a module in one direction; in the backward, also calls without a
// module that lie between them. Escape of a gradient: walking back from the gradient through calls
// with one tensor input, the first node whose input has the chunk dimension, another dtype or
// another device, or that does not have exactly one tensor input. The nodes after the escape are
// not split.
//
// Steps. For each module and direction, choose the candidates that depend on a chunked value, and
// the sizes among their arguments that nothing else reads. Keep only the nodes on which tensors
// that leave the body, writes or outputs depend. Cost: modules times nodes.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_chunk_pass.py (_find_regions,
// _grad_escape_boundaries, _ep_roots).

#include "passes/ep_overlap/chunk_plan.h"

#include <algorithm>
#include <set>

#include "core/graph/is_call_of.h"
#include "core/ops/collective_targets.h"
#include "passes/ep_overlap/chunk_regions.h"
#include "passes/support/unknown_name.h"

namespace jointer {
namespace {

// The prefix of a module's path that matches the pattern, or an empty string if there is none.
std::string root_of(std::string_view pattern, std::string_view module) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t wanted_end = std::min(pattern.find('.'), pattern.size());
    const std::size_t end = std::min(module.find('.', at), module.size());
    if (at > module.size()) return {};
    const std::string_view wanted = pattern.substr(0, wanted_end);
    if (wanted != "*" && wanted != module.substr(at, end - at)) return {};
    if (wanted_end == pattern.size()) return std::string(module.substr(0, end));
    pattern.remove_prefix(wanted_end + 1);
    at = end + 1;
  }
}

class Planner {
 public:
  Planner(ChunkProgram& program, const std::vector<bool>& per_chunk)
      : p_(program), per_chunk_(per_chunk), places_(program.fx.places()) {
    for (NodeId id = p_.fx.first(); id; id = p_.fx.next(id)) order_.push_back(id);
  }

  Result<std::vector<ChunkPlan>> run(const std::vector<std::string>& roots) {
    find_escapes();
    std::vector<ChunkPlan> plans;
    for (const std::string& root : roots) {
      const std::size_t dot = root.rfind('.');
      const std::string parent = dot == std::string::npos ? std::string() : root.substr(0, dot);
      for (const bool is_backward : {false, true}) {
        ChunkPlan plan{
            .root = {root, parent, is_backward}, .body = {}, .is_body = {}, .is_escape = {}};
        JOINTER_CHECK(find_body(plan));
        if (!plan.body.empty()) plans.push_back(std::move(plan));
      }
    }
    if (several_)
      return fail(Error::Kind::usage,
                  "{} has the chunk symbol in several dimensions, but only one can be split",
                  p_.name(several_));
    std::ranges::stable_sort(plans, {},
                             [this](const ChunkPlan& plan) { return place(plan.body.front()); });
    return plans;
  }

 private:
  using Set = std::vector<bool>;  // by node

  [[nodiscard]] std::uint32_t place(NodeId id) const { return places_[id.index()]; }
  [[nodiscard]] Set none() const { return Set(p_.graph.node_count(), false); }
  [[nodiscard]] bool comes_in_two(NodeId id) const {
    return id.index() < per_chunk_.size() && per_chunk_[id.index()];
  }
  bool has_chunk_dim(NodeId id) {
    const int dim = p_.chunk_dim(id);
    if (dim == ChunkProgram::kSeveral && !several_) several_ = id;
    return dim >= 0;
  }

  // --- Gradients ---

  [[nodiscard]] bool is_same_kind(NodeId a, NodeId b) const {
    const Tensor *x = p_.graph.single_tensor(p_.graph.node(a)),
                 *y = p_.graph.single_tensor(p_.graph.node(b));
    return x->dtype == y->dtype && x->device == y->device;
  }

  // The first output is the loss, so the loops skip it.
  void find_escapes() {
    is_escape_ = none();
    const std::vector<NodeId> outputs = p_.outputs();
    for (std::size_t i = 1; i < outputs.size(); ++i) {
      NodeId node = outputs[i];
      if (!p_.is_tensor(node) || has_chunk_dim(node)) continue;
      for (;;) {
        const auto inputs = p_.tensor_inputs(node);
        if (inputs.size() != 1 || has_chunk_dim(inputs[0]) || !is_same_kind(node, inputs[0])) {
          is_escape_[node.index()] = true;
          break;
        }
        node = inputs[0];
      }
    }
    is_suffix_ = none();
    for (std::size_t i = 1; i < outputs.size(); ++i)
      for (NodeId node = outputs[i];
           !is_suffix_[node.index()] && !is_escape_[node.index()] && p_.is_tensor(node);) {
        is_suffix_[node.index()] = true;
        const auto inputs = p_.tensor_inputs(node);
        if (inputs.size() != 1) break;
        node = inputs[0];
      }
  }

  // --- Candidates ---

  Set find_candidates(const ChunkRoot& root) {
    Set candidates = none();
    for (const NodeId id : order_)
      if (p_.is_call(id) && !p_.is_marked(id) && p_.is_backward(id) == root.is_backward &&
          is_inside(p_.module(id), root.name) && !p_.module(id).empty())
        candidates[id.index()] = true;
    if (root.is_backward) add_between(root, candidates);
    return candidates;
  }

  // Adds the backward calls without a module that lie between nodes of this module.
  void add_between(const ChunkRoot& root, Set& candidates) {
    std::vector<NodeId> open;
    for (const NodeId id : order_)
      if (!candidates[id.index()] && p_.is_call(id) && p_.module(id).empty() &&
          p_.is_backward(id) && !p_.is_collective(id))
        open.push_back(id);
    const auto all_neighbors = [&](NodeId id, const auto& holds) {
      return std::ranges::all_of(p_.graph.inputs(id), holds) &&
             std::ranges::all_of(p_.fx.users(id), holds);
    };
    for (bool is_any = true; is_any;) {
      is_any = false;
      std::erase_if(open, [&](NodeId id) {
        const bool is_apart = all_neighbors(id, [&](NodeId each) {
          return !candidates[each.index()] &&
                 !(comes_in_two(each) && is_inside(p_.module(each), root.name));
        });
        if (is_apart) return false;
        const bool is_within = all_neighbors(id, [&](NodeId each) {
          return p_.module(each).empty() || is_inside(p_.module(each), root.name);
        });
        if (is_within) {
          candidates[id.index()] = true;
          is_any = true;
        }
        return true;
      });
    }
  }

  // --- Bodies ---

  Result<void> find_body(ChunkPlan& plan) {
    const Set candidates = find_candidates(plan.root);
    Set body = none();
    std::vector<NodeId> nodes;
    for (const NodeId id : order_) {
      if (!candidates[id.index()]) continue;
      const auto inputs = p_.graph.inputs(id);
      if (!plan.root.is_backward)
        for (const NodeId input : inputs)
          if (!candidates[input.index()] && p_.is_call(input) && p_.is_tensor(input) &&
              p_.is_backward(input))
            return fail(Error::Kind::usage,
                        "{} in the forward of {} reads {}, which belongs to the backward",
                        p_.name(id), plan.root.name, p_.name(input));
      if (!std::ranges::any_of(inputs, [&](NodeId input) {
            return body[input.index()] || comes_in_two(input) ||
                   (!candidates[input.index()] && has_chunk_dim(input));
          }))
        continue;
      body[id.index()] = true;
      nodes.push_back(id);
    }
    if (nodes.empty()) return {};
    add_sizes(candidates, body, nodes);
    keep_needed(body, nodes);
    for (const NodeId id : order_)
      if (body[id.index()] && !(plan.root.is_backward && is_suffix_[id.index()]))
        plan.body.push_back(id);
    plan.is_body = none();
    for (const NodeId id : plan.body) plan.is_body[id.index()] = true;
    plan.is_escape = is_escape_;
    return {};
  }

  // Adds the sizes that contain the chunk symbol and that only the body depends on.
  void add_sizes(const Set& candidates, Set& body, std::vector<NodeId>& nodes) {
    Set is_added = none();
    std::vector<NodeId> added, open;
    for (const NodeId id : nodes)
      for (const NodeId input : p_.graph.inputs(id)) open.push_back(input);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (body[id.index()] || is_added[id.index()] || !p_.depends(id)) continue;
      if (!candidates[id.index()] && !(p_.is_call(id) && !p_.is_tensor(id))) continue;
      is_added[id.index()] = true;
      added.push_back(id);
      for (const NodeId input : p_.graph.inputs(id)) open.push_back(input);
    }
    for (bool is_any = true; is_any;) {
      is_any = false;
      std::erase_if(added, [&](NodeId id) {
        const bool is_owned = std::ranges::all_of(p_.fx.users(id), [&](NodeId user) {
          return body[user.index()] || is_added[user.index()] || !p_.is_needed(user);
        });
        if (is_owned) return false;
        is_added[id.index()] = false;
        is_any = true;
        return true;
      });
    }
    for (const NodeId id : added) {
      body[id.index()] = true;
      nodes.push_back(id);
    }
  }

  // Keeps only the nodes on which tensors that leave the body, writes or outputs depend.
  void keep_needed(Set& body, const std::vector<NodeId>& nodes) {
    Set is_needed = none();
    std::vector<NodeId> open;
    for (const NodeId id : nodes) {
      const auto& users = p_.fx.users(id);
      const bool leaves = std::ranges::any_of(users, [&](NodeId user) {
        return p_.graph.node(user).kind == NodeKind::output ||
               (p_.is_tensor(id) && !body[user.index()] && p_.is_needed(user));
      });
      if (leaves || p_.mutates(id)) open.push_back(id);
    }
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (is_needed[id.index()]) continue;
      is_needed[id.index()] = true;
      for (const NodeId input : p_.graph.inputs(id))
        if (body[input.index()]) open.push_back(input);
    }
    body = std::move(is_needed);
  }

  ChunkProgram& p_;
  const std::vector<bool>& per_chunk_;
  std::vector<std::uint32_t> places_;
  std::vector<NodeId> order_;
  Set is_escape_, is_suffix_;
  NodeId several_;
};

}  // namespace

std::vector<std::string> find_expert_roots(ChunkProgram& program, std::string_view pattern,
                                           bool by_annotation) {
  std::set<std::string> exchanging, annotated;
  for (NodeId id = program.fx.first(); id; id = program.fx.next(id)) {
    const std::string& module = program.module(id);
    if (module.empty()) continue;
    const bool exchanges = is_call_of(program.graph, id, kAllToAllTarget);
    if (!exchanges && !program.is_of_expert_parallelism(id)) continue;
    std::string root = root_of(pattern, module);
    if (root.empty()) continue;
    if (program.is_of_expert_parallelism(id)) annotated.insert(root);
    if (exchanges) exchanging.insert(std::move(root));
  }
  const auto& found = exchanging.empty() && by_annotation ? annotated : exchanging;
  return {found.begin(), found.end()};
}

Result<void> check_module_pattern(ChunkProgram& program, std::string_view pattern) {
  if (pattern == kMoeModules) return {};
  std::set<std::string, std::less<>> paths;
  for (NodeId id = program.fx.first(); id; id = program.fx.next(id)) {
    const std::string& module = program.module(id);
    if (!root_of(pattern, module).empty()) return {};
    for (std::size_t end = module.size(); end > 0 && end != std::string::npos;
         end = module.rfind('.', end - 1))
      if (!paths.insert(module.substr(0, end)).second) break;
  }
  if (paths.empty())
    return fail(
        Error::Kind::usage,
        "module_pattern: `{}` matches no node, because no node is annotated with its module "
        "(module_fqn); trace the step with torchtitan's graph_trainer",
        pattern);
  const std::vector<std::string_view> known(paths.begin(), paths.end());
  return unknown_name("module_pattern", "module", pattern, known);
}

Result<std::vector<ChunkPlan>> plan_chunks(ChunkProgram& program,
                                           const std::vector<std::string>& roots,
                                           const std::vector<bool>& per_chunk) {
  return Planner(program, per_chunk).run(roots);
}

}  // namespace jointer
