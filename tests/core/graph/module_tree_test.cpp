#include "core/graph/module_tree.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

TEST(ModulePath, IsShortened) {
  EXPECT_EQ(module_path("L['self']"), "");
  EXPECT_EQ(module_path("L['self'].layers.0.attention"), "layers.0.attention");
  EXPECT_EQ(module_path("layers.0"), "layers.0");
  EXPECT_EQ(module_path("L['self']._modules['layers']._modules['0'].wq"), "layers.0.wq");
  EXPECT_EQ(module_path("dict(type(L['self'].wq).__dict__)['weight'].fget"), "");
  EXPECT_EQ(module_path("L['self']._modules['layers"), "");
  EXPECT_EQ(short_type("torchtitan.models.llama3.Attention"), "Attention");
  EXPECT_EQ(short_type("Linear"), "Linear");
}

TEST(ModuleTree, HasAModulePerLevel) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)   {layers.0.attention.wq}
    b: f32[4] = aten.relu(a)   {layers.0.attention}
    c: f32[4] = aten.relu(b)   {layers.10}
    return [c]
  )");
  const ModuleTree tree(graph);
  EXPECT_EQ(tree.size(), 6U);  // root, layers, layers.0, .attention, .wq, layers.10
  EXPECT_EQ(tree.of(graph.find("x")), tree.root());
  const Module& wq = tree.module(tree.of(graph.find("a")));
  EXPECT_EQ(wq.path, "layers.0.attention.wq");
  EXPECT_EQ(wq.segment, "wq");
  EXPECT_EQ(wq.depth, 4);
  EXPECT_EQ(wq.parent, tree.of(graph.find("b")));
  EXPECT_EQ(tree.find("layers.10"), tree.of(graph.find("c")));
  EXPECT_EQ(tree.module(tree.find("layers")).children.size(), 2U);
  EXPECT_FALSE(tree.find("layers.1"));
}

Graph with_stack(std::initializer_list<std::pair<std::string, std::string>> frames) {
  Graph graph = parse("x: f32[4] = input\na: f32[4] = aten.relu(x)\nreturn [a]");
  std::vector<ModuleFrame> stack;
  for (const auto& [path, type] : frames)
    stack.push_back({.path = graph.intern(path), .type = graph.intern(type)});
  graph.node(graph.find("a")).module = graph.add_module_stack(PartId(0), stack);
  return graph;
}

std::string path_of(const Graph& graph) {
  const ModuleTree tree(graph);
  return tree.module(tree.of(graph.find("a"))).path;
}

TEST(ModuleTree, ParametrizationsBelongToTheirModule) {
  const Graph graph =
      with_stack({{"L['self']", "Model"},
                  {"L['self'].wq", "nn.Linear"},
                  {"dict(type(L['self'].wq).__dict__)['weight'].fget", "a.Replicate"}});
  EXPECT_EQ(path_of(graph), "wq.weight (Replicate)");
  const ModuleTree tree(graph);
  EXPECT_EQ(tree.module(tree.find("wq")).type, "Linear");
  EXPECT_EQ(tree.module(tree.root()).type, "Model");
}

TEST(ModuleTree, SupportsTheDepthOfRealModels) {
  std::string path = "a";
  for (int i = 0; i < 100'000; ++i) path += ".a";
  const Graph deep = with_stack({{path, "M"}});
  const ModuleTree tree(deep);
  EXPECT_EQ(tree.size(), 1U + kMaxModuleDepth);
  EXPECT_EQ(tree.module(tree.of(deep.find("a"))).depth, kMaxModuleDepth);
}

TEST(ModuleTree, ReadsTheModuleOfTrainingStepTracesFromCustom) {
  Graph graph = parse("x: f32[4] = input\na: f32[4] = aten.relu(x)\nreturn [a]");
  graph.node(graph.find("a")).custom = graph.intern(R"({"module_fqn":"layers.3.ffn"})");
  EXPECT_EQ(path_of(graph), "layers.3.ffn");
  graph.node(graph.find("a")).custom = graph.intern(R"({"module_fqn":7})");
  EXPECT_EQ(path_of(graph), "");
}

}  // namespace
}  // namespace jointer::test
