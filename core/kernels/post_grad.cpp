#include "core/kernels/post_grad.h"
#include "core/kernels/fx_builder.h"
#include "core/kernels/slot.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace jointer::kernels {
namespace {

// Removes the marked nodes; a reader of a removed node reads `replacement` instead.
void remove_nodes(FxGraph& graph, const std::vector<bool>& is_removed,
                  const std::vector<FxId>& replacement) {
  std::vector<FxId> moved(graph.nodes.size(), -1);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_removed[i]) {
      moved[i] = replacement[i] < 0 ? -1 : moved[slot(replacement[i])];
      continue;
    }
    FxNode& node = graph.nodes[i];
    for (FxId& input : node.inputs)
      if (input >= 0) input = moved[slot(input)];
    moved[i] = static_cast<FxId>(kept);
    if (kept != i) graph.nodes[kept] = std::move(node);
    ++kept;
  }
  graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(kept), graph.nodes.end());
}

void remove_unused_selections(FxGraph& graph) {
  count_users(graph);
  std::vector<bool> is_removed(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    is_removed[i] = graph.nodes[i].kind == FxKind::getitem && graph.nodes[i].users.empty();
  remove_nodes(graph, is_removed, std::vector<FxId>(graph.nodes.size(), -1));
}

// By node: the node whose storage it has.
std::vector<FxId> storages_of(const FxGraph& graph) {
  std::vector<FxId> storages(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const FxNode& node = graph.nodes[i];
    storages[i] = node.is_view && !node.inputs.empty() ? storages[slot(node.inputs.front())]
                                                       : static_cast<FxId>(i);
  }
  return storages;
}

// By node: true if its numbers are stored as their conjugates.
std::vector<bool> conjugated(const FxGraph& graph) {
  std::vector<bool> result(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const FxNode& node = graph.nodes[i];
    if (!node.is_view || node.inputs.empty()) continue;
    const bool is_of_source = result[slot(node.inputs.front())];
    result[i] = node.target == "aten._conj.default" ? !is_of_source : is_of_source;
  }
  return result;
}

bool changes_nothing(const FxNode& node, const FxTensor& source) {
  const FxTensor& result = node.result();
  if (result.shape != source.shape || result.dtype != source.dtype ||
      result.is_on_gpu != source.is_on_gpu || result.stride != source.stride)
    return false;
  return node.kind == FxKind::clone || node.kind == FxKind::convert || node.kind == FxKind::alias ||
         (node.kind == FxKind::slice && node.numbers[3] == 1) || node.kind == FxKind::repeat ||
         node.target == "aten.view.default" ||
         (node.is_complex_fallback &&
          (node.target == "aten.slice.Tensor" || node.target == "aten.clone.default" ||
           node.target == "aten.alias.default")) ||
         // The exponent must be the integer 1, not 1.0 as in the gradient of a square (`pow_noop`).
         (node.kind == FxKind::pointwise && node.op == "pow" && !node.numbers.empty() &&
          node.scalars.size() == 1 && node.scalars[0] == 1.0);
}

void remove_what_changes_nothing(FxGraph& graph) {
  const std::size_t count = graph.nodes.size();
  const std::vector<FxId> storages = storages_of(graph);
  const std::vector<bool> is_conjugated = conjugated(graph);
  // A fallback that writes to an input does not count: torch looks only for copies into inputs,
  // because its graph is functional otherwise.
  std::vector<bool> is_of_input(count, false), is_of_output(count, false), is_written(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const FxNode& node = graph.nodes[i];
    if (node.kind == FxKind::placeholder) is_of_input[i] = true;
    if (node.kind == FxKind::copy_in_place || node.kind == FxKind::index_put_in_place ||
        node.kind == FxKind::scatter_in_place)
      is_written[slot(storages[slot(node.inputs.front())])] = true;
    if (node.kind == FxKind::foreach_ && node.numbers[1] != 0)
      for (std::int64_t each = 0; each < node.numbers[0]; ++each)
        is_written[slot(storages[slot(node.inputs[static_cast<std::size_t>(each)])])] = true;
    if (node.kind == FxKind::output)
      for (const FxId each : node.inputs)
        if (each >= 0) is_of_output[slot(storages[slot(each)])] = true;
  }
  std::vector<bool> is_removed(count, false);
  std::vector<FxId> replacement(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    const FxNode& node = graph.nodes[i];
    if (node.inputs.empty() || node.inputs.front() < 0 || node.results.empty()) continue;
    FxId source = node.inputs.front();
    if (is_removed[slot(source)]) source = replacement[slot(source)];
    if (graph.nodes[slot(source)].results.empty() || node.target == "aten.lift_fresh_copy.default")
      continue;
    if (is_conjugated[i] != is_conjugated[slot(source)] ||
        !changes_nothing(node, graph.nodes[slot(source)].result()))
      continue;
    const std::size_t own = slot(storages[i]), other = slot(storages[slot(source)]);
    if (own != other && is_of_output[own] && (is_of_input[other] || is_of_output[other])) continue;
    if (own != other && is_written[other]) continue;
    is_removed[i] = true;
    replacement[i] = source;
  }
  remove_nodes(graph, is_removed, replacement);
}

// The first wait for a value replaces the other waits for it. A wait for the result of another wait
// is replaced by that other wait.
void remove_repeated_waits(FxGraph& graph) {
  const std::size_t count = graph.nodes.size();
  std::vector<bool> is_removed(count, false);
  std::vector<FxId> replacement(count, -1), first(count, -1);  // by awaited node
  for (std::size_t i = 0; i < count; ++i) {
    if (graph.nodes[i].kind != FxKind::wait) continue;
    FxId awaited = graph.nodes[i].inputs.front();
    if (is_removed[slot(awaited)]) awaited = replacement[slot(awaited)];
    const bool is_wait = graph.nodes[slot(awaited)].kind == FxKind::wait;
    replacement[i] = is_wait ? awaited : first[slot(awaited)];
    is_removed[i] = replacement[i] >= 0;
    if (!is_removed[i]) first[slot(awaited)] = static_cast<FxId>(i);
  }
  remove_nodes(graph, is_removed, replacement);
}

// The calls of a softmax that follow x.amax(dim, True).
struct SoftmaxCalls {
  FxId shifted = -1, exponential = -1, sum = -1;
};

SoftmaxCalls softmax_of(const FxGraph& graph, FxId maximum) {
  const FxNode& top = graph.nodes[slot(maximum)];
  if (top.kind != FxKind::reduce || top.op != "max" || top.numbers.size() != 2 ||
      top.numbers[0] != 1 || !top.result().is_on_gpu)
    return {};
  for (const FxId shifted : top.users) {
    const FxNode& difference = graph.nodes[slot(shifted)];
    if (difference.kind != FxKind::pointwise || difference.target != "aten.sub.Tensor" ||
        !difference.scalars.empty() || difference.inputs.size() != 2 ||
        difference.inputs[0] != top.inputs[0] || difference.inputs[1] != maximum)
      continue;
    for (const FxId exponential : difference.users) {
      const FxNode& power = graph.nodes[slot(exponential)];
      if (power.kind != FxKind::pointwise || power.op != "exp") continue;
      for (const FxId sum : power.users) {
        const FxNode& total = graph.nodes[slot(sum)];
        if (total.kind == FxKind::reduce && total.op == "sum" && total.numbers == top.numbers &&
            total.result().dtype == power.result().dtype)
          return {.shifted = shifted, .exponential = exponential, .sum = sum};
      }
    }
  }
  return {};
}

// On the GPU, the maximum and the sum of a softmax that was decomposed before the graph was
// captured become one call (`prepare_softmax_replacement`). All of its calls then come from the
// exponential, whose tags torch copies last; torch 2.11 copies none.
void join_softmax_calls(FxGraph& graph, TorchVersion version) {
  count_users(graph);
  const std::size_t count = graph.nodes.size();
  std::vector<SoftmaxCalls> found(count);
  std::vector<bool> is_replaced(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const SoftmaxCalls calls = softmax_of(graph, static_cast<FxId>(i));
    if (calls.sum < 0) continue;
    found[i] = calls;
    for (const FxId each : {calls.shifted, calls.exponential, calls.sum})
      is_replaced[slot(each)] = true;
  }
  if (std::ranges::find(is_replaced, true) == is_replaced.end()) return;
  std::vector<FxNode> nodes;
  std::vector<FxId> moved(count, -1);
  nodes.reserve(count + 16);
  const auto add = [&nodes](FxNode node) {
    nodes.push_back(std::move(node));
    return static_cast<FxId>(nodes.size()) - 1;
  };
  for (std::size_t i = 0; i < count; ++i) {
    FxNode node = graph.nodes[i];
    if (is_replaced[i]) continue;
    for (FxId& input : node.inputs)
      if (input >= 0) input = moved[slot(input)];
    if (found[i].sum < 0) {
      moved[i] = add(std::move(node));
      continue;
    }
    FxNode shifted = graph.nodes[slot(found[i].shifted)];
    FxNode exponential = graph.nodes[slot(found[i].exponential)];
    const FxNode& sum = graph.nodes[slot(found[i].sum)];
    const NodeId origin = version > TorchVersion{2, 11} ? exponential.origin : NodeId();
    FxNode both = node_of(FxKind::online_softmax, "prims.prepare_softmax_online.default",
                          node.inputs, {node.numbers[1]}, node.result());
    both.results.push_back(sum.result());
    both.is_tuple = true;
    both.origin = origin;
    const FxId tuple = add(std::move(both));
    FxId parts[2] = {-1, -1};
    for (const std::int64_t which : {0, 1}) {
      FxNode part = node_of(FxKind::getitem, "<built-in function getitem>", {tuple}, {which},
                            which == 0 ? node.result() : sum.result());
      part.origin = origin;
      parts[which] = add(std::move(part));
    }
    shifted.inputs = {node.inputs[0], parts[0]};
    shifted.origin = origin;
    moved[i] = parts[0];
    moved[slot(found[i].sum)] = parts[1];
    const FxId difference = moved[slot(found[i].shifted)] = add(std::move(shifted));
    exponential.inputs = {difference};
    exponential.origin = origin;
    moved[slot(found[i].exponential)] = add(std::move(exponential));
  }
  graph.nodes = std::move(nodes);
}

bool is_read_by_elementwise_only(const FxGraph& graph, const FxNode& node) {
  return std::ranges::all_of(node.users, [&](FxId user) {
    const FxNode& reader = graph.nodes[slot(user)];
    switch (reader.kind) {
      case FxKind::getitem:
      case FxKind::reshape:
      case FxKind::permute:
      case FxKind::expand:
      case FxKind::slice:
      case FxKind::split:
        return is_read_by_elementwise_only(graph, reader);
      case FxKind::pointwise:
      case FxKind::convert:
      case FxKind::clone:
        return true;
      default:
        return false;
    }
  });
}

// Torch 2.11 treats every addend as a bias.
bool is_bias(const FxNode& addend, const FxTensor& sum, TorchVersion version) {
  if (version <= TorchVersion{2, 11}) return true;
  return addend.kind == FxKind::placeholder || addend.kind == FxKind::constant ||
         addend.result().shape != sum.shape ||
         std::ranges::find(addend.result().stride, 0) != addend.result().stride.end();
}

// On the GPU, an addmm becomes a product and a sum if it adds a bias and the sum can be fused with
// its readers (`unfuse_bias_add_to_pointwise`).
void take_out_biases(FxGraph& graph, TorchVersion version) {
  count_users(graph);
  bool any = false;
  for (const FxNode& node : graph.nodes) any = any || node.target == "aten.addmm.default";
  if (!any) return;
  std::vector<FxNode> nodes;
  std::vector<FxId> moved(graph.nodes.size(), -1);
  nodes.reserve(graph.nodes.size() + 16);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    FxNode node = graph.nodes[i];
    const bool is_split =
        node.kind == FxKind::matmul && node.target == "aten.addmm.default" &&
        node.inputs.size() == 3 && node.scalars.empty() && node.result().is_on_gpu &&
        // keep_addmm_fused_for_half_dtypes
        (version <= TorchVersion{2, 11} || !is_low_precision(node.result().dtype)) &&
        graph.nodes[slot(node.inputs[0])].result().dtype ==
            graph.nodes[slot(node.inputs[1])].result().dtype &&
        is_bias(graph.nodes[slot(node.inputs[0])], node.result(), version) &&
        is_read_by_elementwise_only(graph, node);
    for (FxId& input : node.inputs)
      if (input >= 0) input = moved[slot(input)];
    if (is_split) {
      FxNode product_node = node;
      product_node.target = "aten.mm.default";
      product_node.inputs.erase(product_node.inputs.begin());
      product_node.results.front().stride = dense_strides(product_node.result().shape);
      nodes.push_back(std::move(product_node));
      node.kind = FxKind::pointwise;
      node.op = "add";
      node.target = "aten.add.Tensor";
      node.inputs = {node.inputs[0], static_cast<FxId>(nodes.size()) - 1};
    }
    moved[i] = static_cast<FxId>(nodes.size());
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

// A matrix product and a sum that is its only reader become an addmm. On the GPU, they do not if
// the sum adds a bias and can be fused with its readers.
void join_products_and_sums(FxGraph& graph, TorchVersion version) {
  count_users(graph);
  std::vector<bool> is_removed(graph.nodes.size(), false);
  bool any = false;
  for (FxNode& sum : graph.nodes) {
    if (sum.kind != FxKind::pointwise || sum.op != "add" || sum.inputs.size() != 2 ||
        !sum.scalars.empty())
      continue;
    // If both operands are products, the second is merged: torch registers its pattern first.
    for (std::size_t i = 2; i-- > 0;) {
      const FxNode& product = graph.nodes[slot(sum.inputs[i])];
      const FxNode& other = graph.nodes[slot(sum.inputs[1 - i])];
      if (product.target != "aten.mm.default" || product.users.size() != 1 ||
          sum.inputs[0] == sum.inputs[1] || other.results.empty())
        continue;
      const FxTensor &left = product.result(), &right = other.result();
      const bool is_row = right.shape.size() < 2 || right.shape[0] == 1 || right.shape[1] == 1;
      const bool fits = right.shape.size() <= 2 && (right.shape == left.shape || is_row) &&
                        sum.result().shape == left.shape;
      if (!fits || right.dtype != left.dtype ||
          (left.is_on_gpu && is_bias(other, sum.result(), version) &&
           is_read_by_elementwise_only(graph, sum)))
        continue;
      is_removed[slot(sum.inputs[i])] = true;
      any = true;
      FxIds inputs{sum.inputs[1 - i]};
      inputs.insert(inputs.end(), product.inputs.begin(), product.inputs.end());
      sum.kind = FxKind::matmul;
      sum.target = "aten.addmm.default";
      sum.product = product.origin;
      sum.inputs = std::move(inputs);
      break;
    }
  }
  if (any) remove_nodes(graph, is_removed, std::vector<FxId>(graph.nodes.size(), -1));
}

// Foreach calls that have a form that writes to their first list: `register_foreach_inplace` in
// torch/_inductor/lowering.py.
bool has_form_in_place(const FxNode& node) {
  constexpr std::array<std::string_view, 9> kTargets{
      "aten._foreach_add.List",       "aten._foreach_add.Scalar",   "aten._foreach_addcdiv.Scalar",
      "aten._foreach_addcmul.Scalar", "aten._foreach_copy.default", "aten._foreach_div.List",
      "aten._foreach_div.Scalar",     "aten._foreach_mul.List",     "aten._foreach_mul.Scalar"};
  return node.kind == FxKind::foreach_ && node.numbers[1] == 0 &&
         std::ranges::find(kTargets, node.target) != kTargets.end();
}

// Calls write in place to a value that nothing reads later or, if it is an input of the graph, into
// which their result is copied. Source: `reinplace_inplaceable_ops_core` in
// torch/_inductor/fx_passes/reinplace.py. Deviations: an index_put that writes to an input, and
// writes to views of inputs, stay as they are.
class InPlaceWrites {
 public:
  explicit InPlaceWrites(FxGraph& graph)
      : graph_(graph),
        storages_(storages_of(graph)),
        views_(graph.nodes.size()),
        copies_(graph.nodes.size(), -1) {
    count_users(graph);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const FxNode& node = graph.nodes[i];
      views_[slot(storages_[i])].push_back(static_cast<FxId>(i));
      if (node.kind != FxKind::copy_in_place) continue;
      FxId& first = copies_[slot(node.inputs.front())];
      if (first < 0) first = static_cast<FxId>(i);
    }
  }

  void run() {
    const std::size_t count = graph_.nodes.size();
    std::vector<bool> is_removed(count, false);
    std::vector<FxId> replacement(count, -1);
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      FxNode& node = graph_.nodes[i];
      const auto id = static_cast<FxId>(i);
      if (has_form_in_place(node)) {
        const FxIds copies = copies_of_results(id);
        if (copies.empty()) continue;
        node.numbers[1] = 1;
        any = true;
        for (const FxId copy : copies) {
          is_removed[slot(copy)] = true;
          replacement[slot(copy)] = graph_.nodes[slot(copy)].inputs.front();
        }
      }
      if ((node.kind == FxKind::index_put || node.kind == FxKind::all_reduce) &&
          is_free_to_change(id))
        node.kind = node.kind == FxKind::index_put ? FxKind::index_put_in_place
                                                   : FxKind::all_reduce_in_place;
    }
    if (any) remove_nodes(graph_, is_removed, replacement);
  }

 private:
  [[nodiscard]] bool is_of_graph(std::size_t id) const {
    const FxKind kind = graph_.nodes[id].kind;
    return kind == FxKind::placeholder || kind == FxKind::constant;
  }

  // `before`: uses by this node and later ones do not count; the number of nodes if all count.
  [[nodiscard]] bool is_used_between(FxId after, std::size_t storage, FxId before) const {
    return std::ranges::any_of(views_[storage], [&](FxId view) {
      const FxIds& users = graph_.nodes[slot(view)].users;
      return std::ranges::any_of(users, [&](FxId user) { return user > after && user < before; });
    });
  }

  [[nodiscard]] bool is_free_to_change(FxId id) const {
    const FxNode& node = graph_.nodes[slot(id)];
    const std::size_t storage = slot(storages_[slot(node.inputs.front())]);
    if (is_of_graph(storage)) return false;
    const bool is_read_itself = std::any_of(
        node.inputs.begin() + 1, node.inputs.end(),
        [&](FxId input) { return input >= 0 && slot(storages_[slot(input)]) == storage; });
    return !is_read_itself && !is_used_between(id, storage, static_cast<FxId>(graph_.nodes.size()));
  }

  // The copies of the results of a foreach call into the inputs of the graph that it may change
  // instead; empty if it may not change all tensors of its first list.
  [[nodiscard]] FxIds copies_of_results(FxId id) const {
    const FxNode& node = graph_.nodes[slot(id)];
    FxIds copies;
    for (std::int64_t each = 0; each < node.numbers[0]; ++each) {
      const FxId changed = node.inputs[static_cast<std::size_t>(each)];
      const FxId first = copies_[slot(changed)];
      if (!is_of_graph(slot(changed)) || first < 0) return {};
      const FxIds& users = graph_.nodes[slot(changed)].users;
      const auto copy = std::ranges::find_if(users, [&](FxId user) {
        const FxNode& reader = graph_.nodes[slot(user)];
        if (reader.kind != FxKind::copy_in_place || reader.inputs.front() != changed) return false;
        const FxNode& source = graph_.nodes[slot(reader.inputs[1])];
        return source.kind == FxKind::getitem && source.inputs.front() == id;
      });
      if (copy == users.end() || std::ranges::find(copies, *copy) != copies.end() ||
          is_used_between(id, slot(changed), first))
        return {};
      copies.push_back(*copy);
    }
    return copies;
  }

  FxGraph& graph_;
  std::vector<FxId> storages_;  // by node
  std::vector<FxIds> views_;    // by storage
  std::vector<FxId> copies_;    // by node: the first copy into it
};

}  // namespace

void run_post_grad_passes(FxGraph& graph, TorchVersion version) {
  remove_unused_selections(graph);
  remove_what_changes_nothing(graph);
  if (version > TorchVersion{2, 11}) remove_repeated_waits(graph);
  join_softmax_calls(graph, version);
  take_out_biases(graph, version);
  join_products_and_sums(graph, version);
  InPlaceWrites(graph).run();
}

}  // namespace jointer::kernels
