// Gives the kernels of a compiled program their nodes in the post-grad graph.
//
// Steps
//   1. The mappings of provenance, if they were logged (INDUCTOR_PROVENANCE=1), are used first. For
//      a collective they may name a view of its input, and for other operators also the nodes of
//      their inputs. If some of the nodes run the operator, only these count; if none does, those
//      of a collective or a wait are dropped, and other calls keep all.
//   2. A kernel that still has no nodes, and that the wrapper defines and calls once, has the nodes
//      in the comment above its definition.
//   3. A call of an operator (`extern_kernels.mm`, collectives) that still has no nodes has a node
//      with this operator: the one that the comment above the call names or, if it names none, the
//      first one in program order that no other kernel has. Inductor may have reordered calls, so
//      this can be another call of the same operator.
// Without a post-grad graph, the operators of nodes are unknown: step 1 drops no nodes, and step 3
// finds none.

#include <algorithm>
#include <map>
#include <set>

#include "core/base/characters.h"
#include "core/base/trimmed.h"
#include "core/capture/compile_artifacts.h"
#include "core/capture/fx_lines.h"

namespace jointer {
namespace {

struct PostNode {
  std::string name, target;
  std::optional<DType> dtype;
  std::string element_of;  // the node whose result it is an element of
};

// Reads `mul: "f32[4][1]cuda:0" = torch.ops.aten.mul.Tensor(x, y);  x = None`.
std::vector<PostNode> post_nodes(std::string_view text) {
  std::vector<PostNode> nodes;
  fx::LineReader reader(text);
  for (fx::Line line; reader.next(line);) {
    const std::string_view statement = line.text;
    std::size_t end = 0;
    while (end < statement.size() && is_name_character(statement[end])) ++end;
    const std::size_t equals = statement.find(" = ");
    if (end == 0 || equals == std::string_view::npos || equals < end) continue;
    PostNode node{.name = std::string(statement.substr(0, end))};
    if (const std::size_t quote = statement.find('"', end); quote < equals) {
      const std::string_view type = statement.substr(quote + 1);
      node.dtype = parse_dtype(type.substr(0, type.find('[')));
    }
    std::string_view value = trimmed(statement.substr(equals + 3));
    constexpr std::string_view kOps = "torch.ops.";
    if (value.starts_with(kOps)) {
      value.remove_prefix(kOps.size());
      node.target = value.substr(0, value.find('('));
    } else if (const std::size_t bracket = value.find('[');
               bracket != std::string_view::npos && is_identifier(value.substr(0, bracket))) {
      node.element_of = value.substr(0, bracket);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// The operator that a call outside of Inductor's own kernels runs: "aten.mm" for
// `extern_kernels.mm`.
std::string operator_of(const CompiledKernel& kernel) {
  std::string_view name = kernel.name;
  if (kernel.source) return {};
  for (const std::string_view start : {"extern_kernels.", "torch.ops."})
    if (name.starts_with(start)) {
      name.remove_prefix(start.size());
      return start == "torch.ops." ? std::string(name) : "aten." + std::string(name);
    }
  return std::string(name);
}

// True if a call of `op` runs `target`, as `aten.mm` runs aten.mm.default. Ignores the suffixes `_`
// and `_out`.
bool runs(std::string_view op, std::string_view target) {
  const auto packet = [](std::string_view name) {
    const std::size_t space = name.find('.');
    if (space == std::string_view::npos) return std::string(name);
    std::string result(name.substr(0, name.find('.', space + 1)));
    for (const std::string_view end : {"_out", "_"})
      if (result.ends_with(end)) {
        result.resize(result.size() - end.size());
        break;
      }
    return result;
  };
  return op == target || packet(op) == packet(target);
}

class NodeAssignment {
 public:
  explicit NodeAssignment(CompiledProgram& program)
      : program_(program), nodes_(post_nodes(program.post_grad_graph)) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      index_.emplace(nodes_[i].name, i);
      if (!nodes_[i].target.empty())
        program.targets.insert_or_assign(nodes_[i].name, nodes_[i].target);
      if (!nodes_[i].element_of.empty()) elements_[nodes_[i].element_of].push_back(nodes_[i].dtype);
    }
  }

  void run() {
    std::vector<std::size_t> calls(program_.sources.size());
    for (const CompiledKernel& kernel : program_.kernels)
      if (kernel.source) ++calls[*kernel.source];
    for (CompiledKernel& kernel : program_.kernels) {
      if (kernel.source && kernel.nodes.empty() && calls[*kernel.source] == 1) {
        kernel.nodes = program_.sources[*kernel.source].nodes;
        if (!kernel.nodes.empty()) kernel.nodes_from = NodesFrom::comments;
      }
      if (!kernel.source) from_comment(kernel);
      for (const std::string& node : kernel.nodes) taken_.insert(node);
    }
    for (CompiledKernel& kernel : program_.kernels)
      if (!kernel.source && kernel.nodes.empty()) from_order(kernel);
    for (std::size_t i = 0; i < program_.kernels.size(); ++i) set_dtypes(i);
  }

 private:
  [[nodiscard]] const PostNode* find(const std::string& name) const {
    const auto it = index_.find(name);
    return it == index_.end() ? nullptr : &nodes_[it->second];
  }

  // Keeps the nodes of a call that run its operator. If none does, a call without nodes, a
  // collective or a wait gets the one that the comment above it names, or no node.
  void from_comment(CompiledKernel& kernel) const {
    const std::string op = operator_of(kernel);
    const auto runs_op = [&](const std::string& name) {
      const PostNode* const node = find(name);
      return node != nullptr && runs(op, node->target);
    };
    if (nodes_.empty()) return;
    if (std::ranges::any_of(kernel.nodes, runs_op)) {
      std::erase_if(kernel.nodes, [&](const std::string& name) { return !runs_op(name); });
      return;
    }
    const bool is_communication =
        kernel.kind == CompiledKind::collective || kernel.kind == CompiledKind::wait;
    if (!kernel.nodes.empty() && !is_communication) return;
    kernel.nodes.clear();
    kernel.original_nodes.clear();
    kernel.nodes_from = NodesFrom::nothing;
    for (const std::string& name : kernel.source_nodes)
      if (runs_op(name) && taken_.find(name) == taken_.end()) {
        kernel.nodes = {name};
        kernel.nodes_from = NodesFrom::comments;
      }
  }

  void from_order(CompiledKernel& kernel) {
    const std::string op = operator_of(kernel);
    std::size_t& next = next_[op];
    for (; next < nodes_.size(); ++next) {
      const PostNode& node = nodes_[next];
      if (!runs(op, node.target) || !taken_.insert(node.name).second) continue;
      kernel.nodes = {node.name};
      kernel.nodes_from = NodesFrom::order;
      ++next;
      return;
    }
  }

  // If the kernel has one node, the results that it allocates get the data type of this node or, if
  // it returns several tensors, those of its elements.
  void set_dtypes(std::size_t kernel_index) {
    CompiledKernel& kernel = program_.kernels[kernel_index];
    if (kernel.nodes.size() != 1) return;
    const PostNode* const node = find(kernel.nodes.front());
    if (node == nullptr) return;
    std::vector<std::optional<DType>> elements{node->dtype};
    if (const auto it = elements_.find(node->name); it != elements_.end()) elements = it->second;
    std::size_t next = 0;
    for (CompiledUse& use : kernel.uses) {
      BufferBlock& block = program_.blocks[use.block];
      if (block.made_by != kernel_index || next == elements.size()) continue;
      const std::optional<DType> dtype = elements[next++];
      if (!dtype || !block.is_dtype_assumed) continue;
      block.dtype = dtype;
      block.is_dtype_assumed = false;
      use.bytes = block.bytes();
    }
  }

  CompiledProgram& program_;
  std::vector<PostNode> nodes_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::string, std::vector<std::optional<DType>>, std::less<>> elements_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, std::size_t, std::less<>> next_;  // by operator: the next node to look at
};

}  // namespace

void assign_nodes(CompiledProgram& program) {
  NodeAssignment(program).run();
}

}  // namespace jointer
