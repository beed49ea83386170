// random_recipe FILE BACKWARD SEED COUNT OUT: writes a recipe of COUNT random legal edits that
// change no output: moves, inserted copies, buckets of collectives, splits, tags. BACKWARD is `-`
// if FILE is a whole graph. Tests compare the outputs of the edited and the unedited graph.
//
// The recipe is not bound to the graph's hash, so that it fits the captures of other ranks.

#include <fmt/core.h>

#include <cstdlib>
#include <string>

#include "core/base/bytes.h"
#include "core/edit/edit.h"
#include "core/edit/merge.h"
#include "core/edit/recipe.h"
#include "core/open/open.h"
#include "tests/support/random_edits.h"

namespace {

using namespace jointer;

// Buckets first: random edits would seldom find collectives that can be merged.
void merge_neighbors(Graph& graph, Editor& editor, std::vector<Edit>& edits) {
  std::vector<NodeId> starts;
  for (const NodeId id : graph.order())
    if (graph.is_collective_start(graph.node(id))) starts.push_back(id);
  for (std::size_t i = 0; i + 1 < starts.size(); i += 2) {
    const auto edit = merge_collectives(graph, std::span(starts).subspan(i, 2));
    if (edit && editor.apply(*edit)) edits.push_back(*edit);
  }
}

Result<int> run(char** argv) {
  JOINTER_TRY(Graph graph, open_graph({.path = argv[1],
                                       .backward = std::string(argv[2]) == "-" ? "" : argv[2]}));
  const Graph before = graph;
  test::RandomEdits random(std::strtoull(argv[3], nullptr, 10),
                           {.illegal = false, .same_outputs = true, .reach = 100});
  Editor editor(graph);
  std::vector<Edit> edits;
  merge_neighbors(graph, editor, edits);
  const std::size_t merged = edits.size();
  const std::size_t wanted = std::strtoull(argv[4], nullptr, 10);
  for (std::size_t tries = 0; edits.size() < merged + wanted && tries < 100 * wanted; ++tries)
    if (const auto edit = random.next(graph); edit && editor.apply(*edit)) edits.push_back(*edit);
  Recipe recipe = make_recipe(before, graph, std::move(edits), "random");
  recipe.graphs.clear();
  recipe.expects.clear();
  fmt::print("{} edits, {} of them buckets\n", recipe.edits.size(), merged);
  JOINTER_CHECK(write_bytes(argv[5], write_recipe(recipe)));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "random_recipe FILE BACKWARD SEED COUNT OUT\n");
    return EXIT_FAILURE;
  }
  const auto done = run(argv);
  if (done) return *done;
  fmt::print(stderr, "random_recipe: {}\n", done.error().message);
  return EXIT_FAILURE;
}
