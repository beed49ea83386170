// Policies from other programs: operator sets, selectors, logs of torch's partitioner. A policy
// that was read tags the graph and can be undone.

#include "core/edit/edit.h"
#include "core/graph/literal.h"
#include "core/policy/export.h"
#include "core/policy/import.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace jointer;

const Graph& graph() {
  static const Graph parsed = *parse_literal(R"(
    w: f32[8,8] = parameter
    x: f32[8,8] = input
    dy: f32[8,8] = tangent
    mm: f32[8,8] = aten.mm(x, w)  {layers.0.attention.wq}
    relu: f32[8,8] = aten.relu(mm)  {layers.0.mlp}
    s: (f32[4,8], f32[4,8]) = aten.split.Tensor(relu, 4)  {layers.0.mlp}
    h: f32[4,8] = s[0]  {layers.0.mlp}
    mm_1: f32[8,8] = aten.mm(relu, w)  {layers.1.attention.wq}
    g: f32[8,8] = aten.mul.Tensor(dy, mm_1)  {backward}
    g1: f32[8,8] = aten.mul.Tensor(g, relu)  {backward}
    return [mm_1, h, g1]
  )");
  return parsed;
}

void import_into_graph(std::string_view text) {
  const auto imported = import_policy(graph(), text);
  if (!imported) return;
  Graph edited = graph();
  const std::string before = write_native(edited);
  std::vector<Edit> inverses;
  for (const Edit& edit : imported->edits) {
    auto inverse = apply(edited, edit);
    fuzz::require(inverse.has_value(), "an imported edit is not legal",
                  inverse ? std::string() : inverse.error().message);
    inverses.push_back(*std::move(inverse));
  }
  fuzz::exercise(edited);
  for (std::size_t i = inverses.size(); i-- > 0;)
    fuzz::require(apply(edited, inverses[i]).has_value(), "an imported edit cannot be undone");
  fuzz::require(write_native(edited) == before, "undone, the graph is another one");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  (void)read_operator_set(text);
  (void)read_selectors(text);
  (void)read_partitioner_log(text);
  import_into_graph(text);
  return 0;
}
