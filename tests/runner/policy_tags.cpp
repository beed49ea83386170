// policy_tags FILE TEXT: prints the result of import_policy on a text, as one JSON object: its
// source, notes, and the tags of the graph afterwards. With a third argument, also writes it as a
// recipe.

#include <fmt/core.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/edit/edit.h"
#include "core/edit/recipe.h"
#include "core/open/open.h"
#include "core/policy/import.h"

namespace {

using namespace jointer;

Result<int> run(int argc, char** argv) {
  JOINTER_TRY(Graph graph, open_graph({.path = argv[1], .backward = {}}));
  const Graph before = graph;
  JOINTER_TRY(const PaddedBytes text, read_bytes(argv[2]));
  JOINTER_TRY(const ImportedPolicy imported, import_policy(graph, text.view()));
  for (const Edit& edit : imported.edits) JOINTER_CHECK(apply(graph, edit));
  nlohmann::ordered_json answer = {{"source", std::string(to_string(imported.source))},
                                   {"notes", imported.notes},
                                   {"tags", nlohmann::ordered_json::object()}};
  for (const NodeId id : graph.order())
    if (const Node& n = graph.node(id); n.policy != MemoryPolicy::none)
      answer["tags"][std::string(graph.name(id))] = to_string(n.policy);
  fmt::print("{}\n", answer.dump());
  if (argc > 3)
    JOINTER_CHECK(
        write_bytes(argv[3], write_recipe(make_recipe(before, graph, imported.edits, "imported"))));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    fmt::print(stderr, "policy_tags FILE TEXT [RECIPE]\n");
    return EXIT_FAILURE;
  }
  const auto done = run(argc, argv);
  if (done) return *done;
  fmt::print(stderr, "policy_tags: {}\n", done.error().message);
  return EXIT_FAILURE;
}
