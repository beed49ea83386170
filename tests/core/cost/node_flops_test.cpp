// FLOP counts computed by hand. A multiply-add counts as two.

#include "core/cost/node_flops.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

Flops flops(std::string_view text, std::string_view torch = {}) {
  Graph graph = parse(text);
  graph.part(PartId(0)).torch_version = torch;
  return node_flops(graph, node(graph, "y"));
}

void expect(std::string_view text, std::int64_t registry, std::int64_t total) {
  EXPECT_EQ(flops(text).torch_registry, registry) << text;
  EXPECT_EQ(flops(text).total, total) << text;
}
void expect(std::string_view text, std::int64_t both) {
  expect(text, both, both);
}

TEST(NodeFlops, MatrixProducts) {
  expect("a: f32[2,3] = input\nb: f32[3,5] = input\ny: f32[2,5] = aten.mm(a, b)\nreturn [y]",
         2 * 2 * 3 * 5);
  expect(
      "c: f32[5] = input\na: f32[2,3] = input\nb: f32[3,5] = input\n"
      "y: f32[2,5] = aten.addmm(c, a, b)\nreturn [y]",
      2 * 2 * 3 * 5);
  expect("a: f32[7,2,3] = input\nb: f32[7,3,5] = input\ny: f32[7,2,5] = aten.bmm(a, b)\nreturn [y]",
         2 * 7 * 2 * 3 * 5);
  expect(
      "c: f32[7,2,5] = input\na: f32[7,2,3] = input\nb: f32[7,3,5] = input\n"
      "y: f32[7,2,5] = aten.baddbmm(c, a, b)\nreturn [y]",
      2 * 7 * 2 * 3 * 5);
  expect(
      "a: f8e4m3fn[2,3] = input\nb: f8e4m3fn[3,5] = input\ns: f32[] = input\n"
      "y: bf16[2,5] = aten._scaled_mm(a, b, s, s)\nreturn [y]",
      2 * 2 * 3 * 5);
  // The same product with keyword arguments.
  expect("a: f32[2,3] = input\nb: f32[3,5] = input\ny: f32[2,5] = aten.mm(a, mat2=b)\nreturn [y]",
         2 * 2 * 3 * 5);
}

TEST(NodeFlops, ProductsThatTorchDoesNotCount) {
  // Three groups of rows of [16, 8] times [3, 8, 4]: every row counts once.
  expect(
      "a: bf16[16,8] = input\nb: bf16[3,8,4] = input\no: i32[3] = input\n"
      "y: bf16[16,4] = aten._grouped_mm(a, b, o)\nreturn [y]",
      0, 2 * 16 * 8 * 4);
  expect(
      "a: bf16[3,16,8] = input\nb: bf16[3,8,4] = input\n"
      "y: bf16[3,16,4] = aten._grouped_mm(a, b)\nreturn [y]",
      0, 2 * 3 * 16 * 8 * 4);
  expect("x: f32[6,3] = input\nw: f32[5,3] = input\ny: f32[6,5] = aten.linear(x, w)\nreturn [y]", 0,
         2 * 6 * 3 * 5);
  expect("a: f32[6,3] = input\nb: f32[3] = input\ny: f32[6] = aten.mv(a, b)\nreturn [y]", 0,
         2 * 6 * 3);
}

TEST(NodeFlops, Convolutions) {
  // [2, 3, 8, 8] with 4 filters of [3, 3, 3]: 6 x 6 points, 3 x 3 taps.
  expect(
      "x: f32[2,3,8,8] = input\nw: f32[4,3,3,3] = input\n"
      "y: f32[2,4,6,6] = aten.convolution(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)\n"
      "return [y]",
      2 * (6 * 6) * (3 * 3) * 2 * 4 * 3);
  // In the backward, the gradient of the input is a convolution of the same cost over 8 x 8 points,
  // and that of the weight swaps batch and channels.
  const std::int64_t input = 2 * (6 * 6) * (3 * 3) * 2 * 4 * 3;
  const std::int64_t weight = 2 * (3 * 3) * (6 * 6) * 3 * 4 * 2;
  const auto backward = [](const char* mask) {
    return fmt::format(
        "g: f32[2,4,6,6] = input\nx: f32[2,3,8,8] = input\nw: f32[4,3,3,3] = input\n"
        "y: (f32[2,3,8,8], f32[4,3,3,3], f32[4]) = aten.convolution_backward(g, x, w, [4], [1, 1], "
        "[0, 0], [1, 1], False, [0, 0], 1, {})\nreturn [x]",
        mask);
  };
  expect(backward("[True, False, False]"), input);
  expect(backward("[False, True, True]"), weight);
  expect(backward("[True, True, True]"), input + weight);
}

constexpr std::int64_t kScores = 2 * (2 * 4) * 16 * 8 * 16;  // q k^T for 2 x 4 heads

TEST(NodeFlops, Attention) {
  // Scores and their product with v.
  const char* const inputs =
      "q: bf16[2,4,16,8] = input\nk: bf16[2,4,16,8] = input\nv: bf16[2,4,16,8] = input\n";
  expect(std::string(inputs) +
             "y: (bf16[2,4,16,8], f32[2,4,16]) = "
             "aten._scaled_dot_product_flash_attention(q, k, v)\nreturn [q]",
         2 * kScores);
  // The whole square, causal or not.
  expect(std::string(inputs) +
             "y: (bf16[2,4,16,8], f32[2,4,16]) = "
             "aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True)\nreturn [q]",
         2 * kScores);
  expect(std::string(inputs) +
             "y: (bf16[2,4,16,8], f32[2,4,16]) = "
             "aten._scaled_dot_product_efficient_attention(q, k, v, None, True)\nreturn [q]",
         2 * kScores);
  expect(std::string(inputs) +
             "y: (bf16[2,4,16,8], f32[2,4,16]) = "
             "aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)\nreturn [q]",
         2 * kScores);
  // The scores again, and the gradients of scores, v, q and k: five products.
  expect(
      std::string(inputs) +
          "g: bf16[2,4,16,8] = input\no: bf16[2,4,16,8] = input\nl: f32[2,4,16] = input\n"
          "y: (bf16[2,4,16,8], bf16[2,4,16,8], bf16[2,4,16,8]) = "
          "aten._scaled_dot_product_flash_attention_backward(g, q, k, v, o, l, None, None, 16, 16, "
          "0.0, False, l, l)\nreturn [q]",
      5 * kScores);
}

// Expects what torch's registry returned in these versions; the work is the same in all.
void expect_since(std::string_view text, std::string_view first, std::string_view before,
                  std::int64_t count, std::int64_t count_before = 0) {
  EXPECT_EQ(flops(text, first).torch_registry, count) << text;
  EXPECT_EQ(flops(text, before).torch_registry, count_before) << text;
  EXPECT_EQ(flops(text).torch_registry, count) << text;
  for (const std::string_view torch : {first, before}) EXPECT_EQ(flops(text, torch).total, count);
}

TEST(NodeFlops, GroupedQueryAttention) {
  expect_since(
      "q: bf16[2,4,16,8] = input\nk: bf16[2,2,16,8] = input\nv: bf16[2,2,16,8] = input\n"
      "y: (bf16[2,4,16,8], f32[2,4,16]) = aten._scaled_dot_product_flash_attention(q, k, v)\n"
      "return [q]",
      "2.12.0", "2.11.0", 2 * kScores);
  // Three query heads are not a multiple of two.
  expect(
      "q: bf16[2,3,16,8] = input\nk: bf16[2,2,16,8] = input\nv: bf16[2,2,16,8] = input\n"
      "y: (bf16[2,3,16,8], f32[2,3,16]) = aten._scaled_dot_product_flash_attention(q, k, v)\n"
      "return [q]",
      0, 2 * kScores * 3 / 4);
}

TEST(NodeFlops, AttentionOnTheCpu) {
  expect_since(
      "q: bf16[2,4,16,8] = input\nk: bf16[2,4,16,8] = input\nv: bf16[2,4,16,8] = input\n"
      "y: (bf16[2,4,16,8], f32[2,4,16]) = "
      "aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)\nreturn [q]",
      "2.15.0", "2.14.0", 2 * kScores);
}

TEST(NodeFlops, FlexAttention) {
  expect_since(
      "q: bf16[2,4,16,8] = input\nk: bf16[2,4,16,8] = input\nv: bf16[2,4,16,8] = input\n"
      "y: (bf16[2,4,16,8], f32[2,4,16]) = flex_attention(q, k, v)\nreturn [q]",
      "2.13.0", "2.12.0", 2 * kScores);
  expect_since(
      "q: bf16[2,4,16,8] = input\nk: bf16[2,4,16,8] = input\nv: bf16[2,4,16,8] = input\n"
      "o: bf16[2,4,16,8] = input\nl: f32[2,4,16] = input\ng: bf16[2,4,16,8] = input\n"
      "y: (bf16[2,4,16,8], bf16[2,4,16,8], bf16[2,4,16,8]) = "
      "flex_attention_backward(q, k, v, o, l, g)\nreturn [q]",
      "2.13.0", "2.12.0", 5 * kScores);
}

TEST(NodeFlops, FlashAttentionWithoutOffsets) {
  // [batch, length, heads, size]: 2 x 4 heads of 16. The registry mistook the lengths for heads.
  const std::int64_t mistaken = 2 * 2 * (2 * 16) * 4 * 8 * 4;
  expect_since(
      "q: bf16[2,16,4,8] = input\nk: bf16[2,16,4,8] = input\nv: bf16[2,16,4,8] = input\n"
      "y: (bf16[2,16,4,8], f32[2,4,16], i64[2], i64[], bf16[]) = "
      "aten._flash_attention_forward(q, k, v, None, None, 16, 16, 0.0, True, False)\nreturn [q]",
      "2.14.0", "2.13.0", 2 * kScores, mistaken);
}

TEST(NodeFlops, OtherCallsHaveNone) {
  expect("x: f32[2,3] = input\ny: f32[2,3] = aten.relu(x)\nreturn [y]", 0);
  // Shapes that do not match.
  expect("a: f32[2,3] = input\nb: f32[4,5] = input\ny: f32[2,5] = aten.mm(a, b)\nreturn [y]", 0);
}

TEST(NodeFlops, Saturate) {
  OperatorCall call{.packet = "aten.mm", .arguments = {}, .outputs = {}};
  call.arguments.resize(2);
  call.arguments[0].tensor = Sizes{std::int64_t{1} << 40, std::int64_t{1} << 40};
  call.arguments[1].tensor = Sizes{std::int64_t{1} << 40, 1};
  EXPECT_EQ(operator_flops(call).total, std::numeric_limits<std::int64_t>::max());
}

TEST(GraphFlops, AreSummedByPhase) {
  const Graph graph = parse(R"(
    a: f32[2,3] = input
    b: f32[3,5] = input
    y: f32[2,5] = aten.mm(a, b)
    g: f32[2,5] = aten.mm(a, b)   {backward}
    h: f32[2,5] = aten.mm(a, b)   {backward}
    return [y, g, h]
  )");
  const GraphFlops sums = graph_flops(graph);
  EXPECT_EQ(sums.forward, 60);
  EXPECT_EQ(sums.backward, 120);
  EXPECT_EQ(sums.total, 180);
  EXPECT_EQ(sums.torch_registry, 180);
}

}  // namespace
}  // namespace jointer::test
