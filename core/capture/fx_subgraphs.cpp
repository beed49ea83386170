#include "core/capture/fx_subgraphs.h"

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/capture/fx_nodes.h"
#include "core/capture/fx_statements.h"
#include "core/capture/native_writer.h"
#include "core/graph/complete.h"

namespace jointer::fx {
namespace {

constexpr int kMaxClassDepth = 16;

// Renumbers the storages of a subgraph so that they follow those of the enclosing graph.
void shift_storages(OrderedJson& json, std::size_t by) {
  if (json.is_object()) {
    if (json.contains("storage") && json.contains("shape") && json["storage"].is_number_unsigned())
      json["storage"] = json["storage"].get<std::size_t>() + by;
    for (auto& [key, member] : json.items()) shift_storages(member, by);
  } else if (json.is_array()) {
    for (OrderedJson& element : json) shift_storages(element, by);
  }
}

// Gives a part the storages of a subgraph, whose sizes may be symbolic.
void add_storages(Graph& graph, PartId part, const Graph& inner) {
  for (std::size_t s = 0; s < inner.storage_count(); ++s) {
    Dim bytes = inner.storage(StorageId(s)).bytes;
    // The expression was parsed in the subgraph, so it is valid.
    if (bytes.expression)
      bytes.expression = *graph.intern_expression(part, inner.expression_text(bytes.expression),
                                                  inner.expression_hint(bytes.expression));
    graph.add_storage(part, bytes);
  }
}

OrderedJson constants_of(Graph& graph, PartId part, const std::vector<GraphText>& graphs,
                         std::size_t owner, std::size_t first_storage, std::size_t& number,
                         int depth) {
  if (depth > kMaxClassDepth)
    text_mistake("classes are nested more than {} levels deep", kMaxClassDepth);
  const Progress silent;
  OrderedJson constants = OrderedJson::object();
  for (std::size_t i = owner + 1; i < graphs.size(); ++i) {
    if (graphs[i].parent != owner) continue;
    const Body body = parse_statements(graphs[i], number);
    Graph inner;
    const PartId inner_part = inner.add_part({.kind = CaptureKind::subgraph,
                                              .name = std::string(graphs[i].name),
                                              .present = {.name = true, .storages = true}});
    NodeBuilder builder(inner, inner_part, body, silent);
    try {
      builder.run();
    } catch (const TextMistake&) {
      number = builder.number() > 0 ? builder.number() : number;
      throw;
    }
    number = graphs[i].head.number;
    if (const auto done = complete(inner); !done)
      text_mistake("class {}: {}", graphs[i].name, done.error().message);
    OrderedJson document = OrderedJson::parse(write_native(inner));
    OrderedJson& nodes = document["nodes"];
    for (OrderedJson& node : nodes) node.erase("stack");  // index into a table that is not written
    shift_storages(nodes, graph.storage_count() - first_storage);
    add_storages(graph, part, inner);
    constants[std::string(graphs[i].name)]["subgraph"] = {
        {"kind", "subgraph"},
        {"constants", constants_of(graph, part, graphs, i, first_storage, number, depth + 1)},
        {"nodes", std::move(nodes)}};
  }
  return constants;
}

}  // namespace

void add_subgraphs(Graph& graph, PartId part, const std::vector<GraphText>& graphs,
                   std::size_t owner, std::size_t first_storage, std::size_t& number) {
  const OrderedJson constants = constants_of(graph, part, graphs, owner, first_storage, number, 0);
  if (constants.empty()) return;
  graph.part(part).constants = write_json(constants);
}

}  // namespace jointer::fx
