#include "core/graph/literal.h"

#include <gtest/gtest.h>

namespace jointer {
namespace {

TEST(Literal, ReadsARealisticGraph) {
  const auto graph = parse_literal(R"(
    group tp: 0 1
    w: bf16[64,64] = parameter
    x: bf16[8,64] = input
    dy: bf16[8,64] = tangent
    t: bf16[64,64] = aten.t(w)                                    {layers.0.wq}
    mm: bf16[8,64] = aten.mm(x, t)                                {layers.0.wq MUST_SAVE}
    ar: bf16[8,64] = _c10d_functional.all_reduce(mm, 'sum', 'tp')
    wt: bf16[8,64] = _c10d_functional.wait_tensor(ar)
    s: (bf16[4,64], bf16[4,64]) = aten.split.Tensor(mm, 4)
    a: bf16[4,64] = s[1]
    g: bf16[8,64] = aten.mul.Tensor(mm, dy)                       {backward}
    return [wt, a, g, None]
  )");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->node_count(), 11U);
  const auto storage = [&](const char* name) {
    return graph->real_storage(graph->tensors(graph->find(name)).front().storage);
  };
  EXPECT_EQ(storage("t"), storage("w")) << "t is a view";
  EXPECT_EQ(storage("a"), storage("mm")) << "a getitem of a split";
  EXPECT_EQ(storage("wt"), storage("ar")) << "a wait returns the collective's buffer";
  EXPECT_NE(storage("mm"), storage("x"));
  EXPECT_EQ(graph->node(graph->find("g")).phase, Phase::backward);
  EXPECT_EQ(graph->node(graph->find("mm")).policy, MemoryPolicy::must_save);
  EXPECT_EQ(graph->node(graph->find("w")).role, Role::parameter);
  EXPECT_EQ(graph->group_size(graph->node(graph->find("ar"))), 2);
  EXPECT_EQ(graph->collective_of_wait(graph->node(graph->find("wt"))), graph->find("ar"));
}

TEST(Literal, ErrorsNameTheLine) {
  const auto message = [](const char* text) {
    const auto graph = parse_literal(text);
    return graph ? std::string("accepted") : graph.error().message;
  };
  EXPECT_EQ(message("a: f32[2] = aten.mm(b)\nreturn [a]"),
            "line 1: `b` is neither an earlier node nor a known name");
  EXPECT_EQ(message("a: f99[2] = input\nreturn [a]"), "line 1: unknown dtype `f99`");
  EXPECT_EQ(message("a: f32[2 = input"), "line 1: the shape at column 7 lacks its closing `]`");
  EXPECT_EQ(message("kind sideways"),
            "line 1: unknown kind `sideways`; expected joint, forward, backward or train_step");
  EXPECT_EQ(message("a: f32[2] = input"),
            "the graph has 0 output nodes instead of one; is the file truncated?");
  EXPECT_NE(message("a: f32[2] = input\nb: f32[2] = aten.frobnicate.default(a)\nreturn [b]")
                .find("unknown operator"),
            std::string::npos);
}

TEST(Literal, EvaluatesSymbolicSizes) {
  auto graph = parse_literal(R"(
    x: f32[u0,8] = input
    r: f32[u0,8] = aten.relu(x)
    return [r]
  )");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const auto bytes = [&] { return graph->bytes(graph->tensors(graph->find("r")).front()); };
  EXPECT_EQ(bytes(), 64 * 8 * 4) << "nothing is known about u0, so the default applies";
  ASSERT_TRUE(graph->assume(*Assumptions::parse("u0=3")).has_value());
  EXPECT_EQ(bytes(), 3 * 8 * 4);
  EXPECT_FALSE(graph->assume(*Assumptions::parse("u7=3")).has_value()) << "there is no u7";
}

}  // namespace
}  // namespace jointer
