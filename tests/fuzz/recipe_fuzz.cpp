// Recipes: a recipe that was read can be written and read again. Its replay leaves the graph sound
// and can be undone, or is refused and leaves the graph unchanged.

#include "core/edit/replay.h"
#include "core/graph/literal.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace jointer;

const Graph& graph() {
  static const Graph parsed = *parse_literal(R"(
    group dp: 0 1
    w: bf16[8,8] = parameter
    x: bf16[4,8] = input
    c: bf16[8,8] = aten.clone(w)
    ag: bf16[16,8] = _c10d_functional.all_gather_into_tensor(c, 2, 'dp')  {layers.0.wq}
    wt: bf16[16,8] = _c10d_functional.wait_tensor(ag)  {layers.0.wq}
    r: bf16[4,8] = aten.relu(x)
    s: (bf16[2,8], bf16[2,8]) = aten.split.Tensor(r, 2)
    h: bf16[2,8] = s[0]
    d: bf16[4,8] = aten.rand_like(r)
    a: bf16[4,8] = aten.add_.Tensor(d, r)
    t: bf16[8,16] = aten.t(wt)  {layers.0.wq}
    mm: bf16[4,16] = aten.mm(a, t)  {layers.0.wq MUST_SAVE}
    return [mm, h]
  )");
  return parsed;
}

void replay_on_graph(const Recipe& recipe, bool lenient) {
  Graph edited = graph();
  const std::string before = write_native(edited);
  const auto replayed = replay(edited, recipe, lenient);
  if (!replayed) {
    fuzz::require(write_native(edited) == before, "a refused recipe changed the graph",
                  replayed.error().message);
    return;
  }
  fuzz::exercise(edited);
  for (std::size_t i = replayed->inverses.size(); i-- > 0;) {
    const auto undone = apply(edited, replayed->inverses[i]);
    fuzz::require(undone.has_value(), "an edit cannot be undone",
                  undone ? std::string() : undone.error().message);
  }
  fuzz::require(write_native(edited) == before, "undone, the graph is another one");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto recipe = read_recipe(fuzz::as_text(data, size));
  if (!recipe) return 0;
  const std::string written = write_recipe(*recipe);
  const auto again = read_recipe(written);
  fuzz::require(again.has_value(), "the recipe that was written cannot be read",
                again ? std::string() : again.error().message + "\n" + written);
  fuzz::require(write_recipe(*again) == written, "what was written reads as another recipe",
                written);
  replay_on_graph(*recipe, false);
  replay_on_graph(*recipe, true);
  return 0;
}
