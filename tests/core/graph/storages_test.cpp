// Tensors share memory as the operators' schemas determine.

#include "core/graph/storages.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

bool shares(const Graph& graph, std::string_view a, std::string_view b) {
  return storage_of(graph, a) == storage_of(graph, b);
}

TEST(Storages, ViewsShareTheirBase) {
  const Graph graph = parse(R"(
    x: f32[4,8] = input
    view: f32[32] = aten.view(x, [32])
    expand: f32[3,32] = aten.expand(view, [3, 32])
    strided: f32[4] = aten.as_strided(x, [4], [2], 1)
    t: f32[8,4] = aten.t(x)
    permute: f32[8,4] = aten.permute(x, [1, 0])
    slice: f32[2,8] = aten.slice.Tensor(x, 0, 0, 2)
    select: f32[8] = aten.select.int(x, 0, 1)
    unsqueeze: f32[1,4,8] = aten.unsqueeze(x, 0)
    detach: f32[4,8] = aten.detach(x)
    alias: f32[4,8] = aten.alias(x)
    unsafe: f32[32] = aten._unsafe_view(x, [32])
    return [expand]
  )");
  for (const char* name : {"view", "expand", "strided", "t", "permute", "slice", "select",
                           "unsqueeze", "detach", "alias", "unsafe"})
    EXPECT_TRUE(shares(graph, name, "x")) << name;
}

TEST(Storages, PartsShareTheirWhole) {
  const Graph graph = parse(R"(
    x: f32[4,8] = input
    split: (f32[2,8], f32[2,8]) = aten.split.Tensor(x, 2)
    s0: f32[2,8] = split[0]
    s1: f32[2,8] = split[1]
    chunk: (f32[2,8], f32[2,8]) = aten.chunk(x, 2)
    c1: f32[2,8] = chunk[1]
    sizes: (f32[1,8], f32[3,8]) = aten.split_with_sizes(x, [1, 3])
    z1: f32[3,8] = sizes[1]
    unbind: (f32[8], f32[8], f32[8], f32[8]) = aten.unbind.int(x)
    u3: f32[8] = unbind[3]
    return [s0, s1, c1, z1, u3]
  )");
  for (const char* name : {"split", "s0", "s1", "chunk", "c1", "z1", "unbind", "u3"})
    EXPECT_TRUE(shares(graph, name, "x")) << name;
}

TEST(Storages, InPlaceOperatorsReturnTheirArgument) {
  const Graph graph = parse(R"(
    x: f32[8] = input
    y: f32[8] = aten.clone(x)
    add_: f32[8] = aten.add_.Tensor(y, x)
    copy_: f32[8] = aten.copy_(y, x)
    out: f32[8] = aten.add.out(x, x, out=y)
    return [add_]
  )");
  for (const char* name : {"add_", "copy_", "out"}) {
    EXPECT_TRUE(shares(graph, name, "y")) << name;
    EXPECT_FALSE(shares(graph, name, "x")) << name;
  }
}

TEST(Storages, ComputedTensorsHaveTheirOwnStorage) {
  const Graph graph = parse(R"(
    x: f32[4,8] = input
    relu: f32[4,8] = aten.relu(x)
    clone: f32[4,8] = aten.clone(x)
    copy: f32[4,8] = aten.view_copy(x, [4, 8])
    dropout: (f32[4,8], b8[4,8]) = aten.native_dropout(x, 0.5, True)
    d0: f32[4,8] = dropout[0]
    d1: b8[4,8] = dropout[1]
    split: (f32[2,8], f32[2,8]) = aten.split_copy.Tensor(x, 2)
    s0: f32[2,8] = split[0]
    s1: f32[2,8] = split[1]
    return [relu]
  )");
  for (const char* name : {"relu", "clone", "copy", "d0", "d1", "s0", "s1"})
    EXPECT_FALSE(shares(graph, name, "x")) << name;
  EXPECT_FALSE(shares(graph, "d0", "d1"));
  EXPECT_FALSE(shares(graph, "s0", "s1"));
}

TEST(Storages, AWaitReturnsItsCollectivesBuffer) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[8] = input
    ar: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    wait: f32[8] = _c10d_functional.wait_tensor(ar)
    again: f32[8] = _c10d_functional.wait_tensor(wait)
    in_place: f32[8] = _c10d_functional.all_reduce_(x, 'sum', 'tp')
    return [again]
  )");
  EXPECT_FALSE(shares(graph, "ar", "x"));
  EXPECT_TRUE(shares(graph, "wait", "ar"));
  EXPECT_TRUE(shares(graph, "again", "ar"));
  EXPECT_TRUE(shares(graph, "in_place", "x"));
  EXPECT_EQ(graph.collective_of_wait(node(graph, "again")), graph.find("ar"));
}

std::vector<Dim> dims(const std::vector<std::int64_t>& values) {
  std::vector<Dim> result;
  for (const std::int64_t value : values) result.push_back({.value = value});
  return result;
}

TEST(Storages, ADenseTensorHasItsElementsInOrder) {
  EXPECT_TRUE(is_dense(dims({2, 3}), dims({3, 1})));
  EXPECT_FALSE(is_dense(dims({2, 3}), dims({1, 2})));
  EXPECT_TRUE(is_dense(dims({2, 3}), dims({1, 2}), [](std::size_t i) { return 1 - i; }));
  EXPECT_TRUE(is_dense(dims({1, 3}), dims({99, 1}))) << "the stride of a single element";
  EXPECT_TRUE(is_dense(dims({0, 3}), dims({1, 7}))) << "without elements";
}

TEST(Storages, ExtentReachesTheLastElement) {
  const auto extent = [](const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& stride, std::int64_t offset = 0) {
    return storage_extent(dims(shape), dims(stride), {.value = offset}, DType::float32);
  };
  EXPECT_EQ(extent({4, 8}, {8, 1}), 4 * 32);
  EXPECT_EQ(extent({4, 8}, {0, 1}), 4 * 8) << "expanded";
  EXPECT_EQ(extent({4}, {2}, 1), 4 * 8) << "every other element from the second";
  EXPECT_EQ(extent({}, {}), 4);
  EXPECT_EQ(extent({0, 8}, {8, 1}), 0);
  EXPECT_GT(extent({std::int64_t{1} << 62, 4}, {std::int64_t{1} << 62, 1}), 0) << "no overflow";
  const auto strides = contiguous_strides(dims({2, 3, 0, 5}));
  EXPECT_EQ(strides[0].value, 15);
  EXPECT_EQ(strides[1].value, 5);
  EXPECT_EQ(strides[2].value, 5);
  EXPECT_EQ(strides[3].value, 1);
}

}  // namespace
}  // namespace jointer::test
