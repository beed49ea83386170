// Helper of test_lowering.py:
//
//   lowered_operations CAPTURE VERSION
//
// prints the operations that a graph is lowered to for this version of torch, one JSON object a
// line: name, kind, ir, loops, reduced, side_effects, nodes, buffers, reads and writes as [buffer,
// bytes, kind, position, sizes]. A position is a Python expression over d0, d1, ... and tmp. The
// last line has the milliseconds that it took, and whether each input may be freed.

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/kernels/lowering.h"
#include "core/open/open.h"

using namespace jointer;
using nlohmann::json;

namespace {

std::string text(const kernels::IndexTerm& term) {
  std::string inner;
  for (const kernels::IndexTerm::Inner& part : term.inner) {
    if (!inner.empty()) inner += "+";
    inner += part.loop < 0 ? "tmp" : fmt::format("{}*d{}", part.coefficient, part.loop);
  }
  if (term.inner_offset != 0 || inner.empty()) inner += fmt::format("+{}", term.inner_offset);
  if (term.divisor != 1) inner = fmt::format("(({})//{})", inner, term.divisor);
  if (term.modulus != 0) inner = fmt::format("(({})%{})", inner, term.modulus);
  return fmt::format("{}*({})", term.coefficient, inner);
}

std::string text(const kernels::Index& index) {
  std::string result = std::to_string(index.offset);
  for (const kernels::IndexTerm& term : index.terms) result += "+" + text(term);
  return result;
}

json accesses(const kernels::Ir& ir, const std::vector<kernels::Access>& all) {
  json result = json::array();
  for (const kernels::Access& access : all) {
    const std::string& buffer = ir.buffers[static_cast<std::size_t>(access.buffer)].name;
    switch (access.kind) {
      case kernels::Access::Kind::memory:
        result.push_back({buffer, access.bytes, "memory", text(access.index), access.sizes});
        break;
      case kernels::Access::Kind::star:
        result.push_back({buffer, access.bytes, "star"});
        break;
      case kernels::Access::Kind::weak:
        result.push_back({buffer, access.bytes, "weak"});
    }
  }
  return result;
}

const char* text(kernels::Op::Kind kind) {
  using enum kernels::Op::Kind;
  switch (kind) {
    case pointwise:
      return "pointwise";
    case reduction:
    case scan:
    case sort:
      return "reduction";
    case template_:
      return "template";
    case extern_:
      return "extern";
    case multi_output:
      return "multi_output";
    case view:
      return "view";
    case collective:
      return "collective";
    case wait:
      return "wait";
    case nop:
      break;
  }
  return "nop";
}

Result<void> run(const std::vector<std::string>& arguments) {
  JOINTER_TRY(const Graph graph, open_graph({.path = arguments[0]}));
  const auto version = parse_torch_version(arguments[1]);
  if (!version) return fail(Error::Kind::usage, "{} is not a version of torch", arguments[1]);
  const auto start = std::chrono::steady_clock::now();
  const kernels::Ir ir = kernels::lower(graph, *version);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  for (std::size_t i = 0; i < ir.ops.size(); ++i) {
    const kernels::Op& op = ir.ops[i];
    json row{{"name", fmt::format("op{}", i)},
             {"kind", text(op.kind)},
             {"ir", op.ir},
             {"loops", op.loops},
             {"reduced", op.reduced},
             {"side_effects", op.has_side_effects},
             {"reads", accesses(ir, op.reads)},
             {"writes", accesses(ir, op.writes)},
             {"nodes", json::array()},
             {"buffers", json::array()}};
    for (const NodeId node : op.nodes) row["nodes"].push_back(std::string(graph.name(node)));
    for (const kernels::BufferId id : op.outputs) {
      const kernels::Buffer& buffer = ir.buffers[static_cast<std::size_t>(id)];
      json aliases = json::array(), mutates = json::array();
      for (const kernels::BufferId other : buffer.aliases)
        aliases.push_back(ir.buffers[static_cast<std::size_t>(other)].name);
      for (const kernels::BufferId other : buffer.mutates)
        mutates.push_back(ir.buffers[static_cast<std::size_t>(other)].name);
      json users = json::array();  // -1: the output of the graph
      for (const kernels::User& user : buffer.users)
        if (!user.is_weak) users.push_back(user.op);
      row["buffers"].push_back({{"name", buffer.name},
                                {"bytes", buffer.bytes},
                                {"shape", buffer.shape},
                                {"stride", buffer.stride},
                                {"output", buffer.is_output},
                                {"dtype", to_string(buffer.dtype)},
                                {"users", users},
                                {"aliases", aliases},
                                {"mutates", mutates}});
    }
    std::puts(row.dump().c_str());
  }
  json freed = json::object();
  for (const kernels::Buffer& buffer : ir.buffers)
    if (buffer.is_input) freed[buffer.name] = buffer.may_be_freed;
  std::puts(json{{"milliseconds", took.count()}, {"may_be_freed", freed}}.dump().c_str());
  return {};
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.size() != 2) return 2;
  const auto done = run(arguments);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
