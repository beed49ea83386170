#include "tests/support/ladders.h"

#include <fmt/core.h>

#include "tests/support/graphs.h"

namespace jointer::test {

Graph layered_graph(int layers) {
  std::string text = "group tp: 0 1\nx: f32[8,64] = input\ndy: f32[8,64] = tangent\n";
  for (int i = 0; i < layers; ++i)
    text += fmt::format("wq_{0}: f32[64,64] = parameter\nwo_{0}: f32[64,64] = parameter\n", i);
  const auto input = [](int i) { return i == 0 ? std::string("x") : fmt::format("out_{}", i - 1); };
  for (int i = 0; i < layers; ++i)
    text += fmt::format(
        "norm_{0}: f32[8,64] = aten.tanh({1})                {{layers.{0}.norm}}\n"
        "q_{0}: f32[8,64] = aten.mm(norm_{0}, wq_{0})        {{layers.{0}.attention.wq "
        "MUST_SAVE}}\n"
        "act_{0}: f32[8,64] = aten.relu(q_{0})               {{layers.{0}.attention}}\n"
        "o_{0}: f32[8,64] = aten.mm(act_{0}, wo_{0})         {{layers.{0}.attention.wo}}\n"
        "ar_{0}: f32[8,64] = _c10d_functional.all_reduce(o_{0}, 'sum', 'tp')"
        "                                                    {{layers.{0}.attention.wo}}\n"
        "wt_{0}: f32[8,64] = _c10d_functional.wait_tensor(ar_{0}) {{layers.{0}.attention.wo}}\n"
        "out_{0}: f32[8,64] = aten.add.Tensor(wt_{0}, {1})   {{layers.{0}}}\n",
        i, input(i));
  std::string gradients;
  for (int i = layers - 1; i >= 0; --i) {
    text += fmt::format(
        "at_{0}: f32[64,8] = aten.t(act_{0})                 {{layers.{0}.attention.wo backward}}\n"
        "gwo_{0}: f32[64,64] = aten.mm(at_{0}, {1})          {{layers.{0}.attention.wo backward}}\n"
        "dact_{0}: f32[8,64] = aten.mul.Tensor({1}, q_{0})   {{layers.{0}.attention backward}}\n"
        "nt_{0}: f32[64,8] = aten.t(norm_{0})                {{layers.{0}.attention.wq backward}}\n"
        "gwq_{0}: f32[64,64] = aten.mm(nt_{0}, dact_{0})     {{layers.{0}.attention.wq backward}}\n"
        "dn_{0}: f32[8,64] = aten.mul.Tensor(dact_{0}, {1})  {{layers.{0}.norm backward}}\n",
        i, i == layers - 1 ? std::string("dy") : fmt::format("dn_{}", i + 1));
    gradients += fmt::format(", gwq_{0}, gwo_{0}", i);
  }
  Graph graph = parse(text + fmt::format("return [out_{}{}]\n", layers - 1, gradients));
  for (int i = 0; i < layers; ++i)
    for (const char* name : {"wq", "wo"})
      graph.node(graph.find(fmt::format("{}_{}", name, i))).role_target =
          graph.intern(fmt::format("layers.{}.attention.{}.weight", i, name));
  return graph;
}

views::LadderLayout ladder_layout(const Graph& graph, const views::Ladder& ladder,
                                  const views::LadderExpansion& expansion, double width) {
  views::LadderStyle style;
  style.width = width;
  return {ladder, expansion, style, [&](int leaf) {
            const views::GroupGraphs graphs = views::group_graphs(graph, ladder, leaf);
            return std::make_shared<const views::GroupLayout>(
                views::lay_out_groups(std::span(&graphs, 1), style.node, {.program = {}}).front());
          }};
}

views::LadderExpansion all_open(const views::Ladder& ladder) {
  views::LadderExpansion expansion;
  for (int row = 0; row < static_cast<int>(ladder.rows().size()); ++row)
    expansion.open(ladder, row);
  return expansion;
}

}  // namespace jointer::test
