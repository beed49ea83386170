// policy_recipe FILE PRESET OUT: writes a recipe that tags a flat training step with a memory
// policy and applies the tags with selective_activation_remat.

#include <fmt/core.h>

#include <cstdlib>

#include "core/base/bytes.h"
#include "core/edit/edit.h"
#include "core/edit/recipe.h"
#include "core/open/open.h"
#include "core/policy/remat.h"
#include "core/policy/tagging.h"

namespace {

using namespace jointer;

Result<int> run(char** argv) {
  JOINTER_TRY(Graph graph, open_graph({.path = argv[1], .backward = {}}));
  const Graph before = graph;
  JOINTER_TRY(const Edit tags, tag_with_memory_policy(graph, argv[2]));
  JOINTER_CHECK(apply(graph, tags));
  JOINTER_TRY(const Edit remat, selective_activation_remat(graph));
  JOINTER_CHECK(apply(graph, remat));
  JOINTER_CHECK(
      write_bytes(argv[3], write_recipe(make_recipe(before, graph, {tags, remat}, argv[2]))));
  fmt::print("{}\n{}\n", tags.title, remat.title);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "policy_recipe FILE PRESET OUT\n");
    return EXIT_FAILURE;
  }
  const auto done = run(argv);
  if (done) return *done;
  fmt::print(stderr, "policy_recipe: {}\n", done.error().message);
  return EXIT_FAILURE;
}
