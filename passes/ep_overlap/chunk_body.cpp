#include "passes/ep_overlap/chunk_body.h"

#include <fmt/core.h>

#include <algorithm>

namespace jointer {

std::string ChunkBody::where() const {
  return fmt::format("{} ({})", plan.root.name, plan.root.direction());
}

NodeId ChunkBody::add(std::string_view target, std::vector<Argument> args, const Value& value,
                      NodeId before, ChunkRole role, int chunk) {
  return program.add(target, args, value, before, plan.root, role, chunk);
}

Argument ChunkBody::list(const std::vector<Argument>& items) {
  return program.graph.make_children(Argument::Kind::list, items);
}

std::string ChunkBody::text(const Dim& dim) const {
  return std::string(program.graph.expression_text(dim.expression));
}

bool ChunkBody::depends_on_chunk_size(const Argument& argument) {
  if (argument.kind == Argument::Kind::node) return program.depends(argument.node());
  if (argument.kind == Argument::Kind::symbol) return program.sizes.depends(argument.expression());
  return std::ranges::any_of(program.graph.children(argument), [this](const Argument& child) {
    return depends_on_chunk_size(child);
  });
}

std::optional<std::size_t> ChunkBody::shape_argument(const Node& node) const {
  const OperatorInfo& op = program.graph.op(node);
  if (op.arguments.empty() || op.arguments[0].type != "Tensor" || op.returns.size() != 1 ||
      op.returns[0].type != "Tensor")
    return std::nullopt;
  for (std::size_t i = 1; i < op.arguments.size(); ++i)
    if (const SchemaArgument& each = op.arguments[i];
        !each.keyword_only && (each.name == "shape" || each.name == "size") &&
        each.type == "SymInt[]")
      return i;
  return std::nullopt;
}

}  // namespace jointer
