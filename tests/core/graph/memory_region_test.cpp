#include "core/graph/memory_region.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

struct Slice {
  std::vector<std::int64_t> shape, stride;
  std::int64_t offset = 0;
  DType dtype = DType::float32;
};

Dim number(std::int64_t value) {
  return {.value = value};
}

// Tensors of one storage.
class Tensors {
 public:
  Tensors() : storage_(graph_.add_storage(PartId(0), number(1 << 20))) {
    EXPECT_TRUE(graph_.finish());
  }

  MemoryRegion region(const Slice& slice, bool has_offset = true) {
    return {graph_, graph_.tensor(add(slice, has_offset))};
  }
  TensorId add(const Slice& slice, bool has_offset = true) {
    std::vector<Dim> shape, stride;
    for (const std::int64_t size : slice.shape) shape.push_back(number(size));
    for (const std::int64_t step : slice.stride) stride.push_back(number(step));
    Tensor tensor;
    tensor.dtype = slice.dtype;
    tensor.storage = storage_;
    tensor.set(Tensor::has_stride);
    tensor.set(Tensor::has_offset, has_offset);
    return graph_.add_tensor(tensor, shape, stride, number(slice.offset));
  }

  bool may_overlap(const Slice& a, const Slice& b) {
    const bool one = region(a).may_overlap(region(b));
    EXPECT_EQ(one, region(b).may_overlap(region(a)));
    return one;
  }

  Graph& graph() { return graph_; }

 private:
  Graph graph_ = parse("return []");
  StorageId storage_;
};

std::set<std::int64_t> bytes(const Slice& slice) {
  std::vector<std::int64_t> elements{slice.offset};
  for (std::size_t i = 0; i < slice.shape.size(); ++i) {
    std::vector<std::int64_t> all;
    for (const std::int64_t element : elements)
      for (std::int64_t k = 0; k < slice.shape[i]; ++k)
        all.push_back(element + k * slice.stride[i]);
    elements = std::move(all);
  }
  std::set<std::int64_t> found;
  for (const std::int64_t element : elements)
    for (std::int64_t k = 0; k < item_size(slice.dtype); ++k)
      found.insert(element * item_size(slice.dtype) + k);
  return found;
}

bool have_common(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
  return std::ranges::any_of(a, [&](std::int64_t byte) { return b.contains(byte); });
}

TEST(MemoryRegion, RowsOfAMatrixAreDisjoint) {
  Tensors tensors;
  const Slice first{.shape = {2, 8}, .stride = {8, 1}, .offset = 0};
  const Slice second{.shape = {2, 8}, .stride = {8, 1}, .offset = 16};
  const Slice between{.shape = {2, 8}, .stride = {8, 1}, .offset = 8};
  EXPECT_FALSE(tensors.may_overlap(first, second));
  EXPECT_TRUE(tensors.may_overlap(first, between));
  EXPECT_TRUE(tensors.may_overlap(between, second));
}

TEST(MemoryRegion, ColumnsOfAMatrixAreDisjoint) {
  Tensors tensors;
  const Slice left{.shape = {4, 3}, .stride = {8, 1}, .offset = 0};
  const Slice right{.shape = {4, 5}, .stride = {8, 1}, .offset = 3};
  const Slice middle{.shape = {4, 3}, .stride = {8, 1}, .offset = 2};
  EXPECT_FALSE(tensors.may_overlap(left, right));
  EXPECT_TRUE(tensors.may_overlap(left, middle));
}

TEST(MemoryRegion, ChunksOfASequenceInABatchAreDisjoint) {
  Tensors tensors;
  const auto chunk = [](std::int64_t number) {
    return Slice{.shape = {2, 4, 3}, .stride = {48, 3, 1}, .offset = 12 * number};
  };
  EXPECT_FALSE(tensors.may_overlap(chunk(0), chunk(1)));
  EXPECT_FALSE(tensors.may_overlap(chunk(3), chunk(1)));
  EXPECT_TRUE(tensors.may_overlap(chunk(1), chunk(1)));
  EXPECT_TRUE(tensors.may_overlap(chunk(2), {.shape = {2, 48}, .stride = {48, 1}}));
}

TEST(MemoryRegion, OtherSizesOfTheSameRowsAreDistinguished) {
  Tensors tensors;
  const Slice left{.shape = {2, 3, 4}, .stride = {24, 8, 1}, .offset = 0};
  const Slice right{.shape = {6, 4}, .stride = {8, 1}, .offset = 4};
  EXPECT_FALSE(tensors.may_overlap(left, right));
  const Slice corner{.shape = {2, 2, 4}, .stride = {24, 8, 1}, .offset = 4};
  const Slice all_left{.shape = {6, 4}, .stride = {8, 1}, .offset = 0};
  EXPECT_FALSE(tensors.may_overlap(all_left, corner));
}

TEST(MemoryRegion, CountsBytesNotElements) {
  Tensors tensors;
  const Slice floats{.shape = {4}, .stride = {1}, .offset = 0};
  const Slice halves{.shape = {4}, .stride = {1}, .offset = 4, .dtype = DType::bfloat16};
  const Slice after{.shape = {4}, .stride = {1}, .offset = 8, .dtype = DType::bfloat16};
  EXPECT_TRUE(tensors.may_overlap(floats, halves));
  EXPECT_FALSE(tensors.may_overlap(floats, after));
}

TEST(MemoryRegion, UnknownRegionsAreTheWholeStorage) {
  Tensors tensors;
  const Slice first{.shape = {4}, .stride = {1}, .offset = 0};
  const Slice second{.shape = {4}, .stride = {1}, .offset = 4};
  const MemoryRegion somewhere = tensors.region(second, false);
  EXPECT_EQ(somewhere, MemoryRegion());
  EXPECT_TRUE(tensors.region(first).may_overlap(somewhere));
  EXPECT_EQ(tensors.region({.shape = {0}, .stride = {1}, .offset = 4}), MemoryRegion());
  EXPECT_EQ(tensors.region({.shape = {4}, .stride = {-1}, .offset = 4}), MemoryRegion());
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(tensors.region({.shape = {4}, .stride = {kHuge}, .offset = 0}), MemoryRegion());
  EXPECT_EQ(tensors.region({.shape = {4}, .stride = {1}, .offset = kHuge}), MemoryRegion());

  const TensorId symbolic = tensors.add(second);
  const auto name = tensors.graph().intern_expression(PartId(0), "s0", "4");
  const std::vector<Dim> shape{{.value = 4, .expression = *name}}, stride{number(1)};
  const Tensor like = tensors.graph().tensor(symbolic);
  const TensorId named = tensors.graph().add_tensor(like, shape, stride, number(4));
  EXPECT_EQ(MemoryRegion(tensors.graph(), tensors.graph().tensor(named)), MemoryRegion());
}

TEST(MemoryRegion, OffsetsInACorrectedStorageAreUnknown) {
  Tensors tensors;
  Graph& graph = tensors.graph();
  const TensorId id = tensors.add({.shape = {4}, .stride = {1}, .offset = 4});
  const StorageId other = graph.add_storage(PartId(0), number(64));
  graph.correct_storage(graph.tensor(id), other);
  ASSERT_TRUE(graph.finish());
  EXPECT_EQ(MemoryRegion(graph, graph.tensor(id)), MemoryRegion());
}

// Repeated slices of a dense three-dimensional tensor.
rc::Gen<Slice> slices() {
  return rc::gen::exec([] {
    const std::vector<std::int64_t> shape{4, 6, 5};
    Slice slice{.shape = shape, .stride = {30, 5, 1}, .offset = 0};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto step = *rc::gen::inRange<std::int64_t>(1, 4);
      const auto from = *rc::gen::inRange<std::int64_t>(0, shape[i]);
      const auto count = *rc::gen::inRange<std::int64_t>(1, (shape[i] - from - 1) / step + 2);
      slice.offset += from * slice.stride[i];
      slice.stride[i] *= step;
      slice.shape[i] = count;
    }
    if (*rc::gen::arbitrary<bool>()) {
      std::swap(slice.shape[0], slice.shape[2]);
      std::swap(slice.stride[0], slice.stride[2]);
    }
    return slice;
  });
}

// A region that covers another one contains all of its bytes.
void check_cover(const MemoryRegion& outer, const Slice& of_outer, const MemoryRegion& inner,
                 const Slice& of_inner) {
  if (!outer.covers(inner)) return;
  const auto all = bytes(of_outer), some = bytes(of_inner);
  RC_ASSERT(std::ranges::includes(all, some));
}

RC_GTEST_PROP(MemoryRegionProperty, DisjointRegionsShareNoByte, ()) {
  Tensors tensors;
  const Slice a = *slices(), b = *slices();
  const bool common = have_common(bytes(a), bytes(b));
  RC_CLASSIFY(common);
  if (common) RC_ASSERT(tensors.may_overlap(a, b));
  check_cover(tensors.region(a), a, tensors.region(b), b);
}

// With arbitrary strides, including those that map several elements to one address.
RC_GTEST_PROP(MemoryRegionProperty, AnyStridesAreSound, ()) {
  Tensors tensors;
  const auto any = rc::gen::exec([] {
    Slice slice{.offset = *rc::gen::inRange<std::int64_t>(0, 40)};
    slice.dtype = *rc::gen::element(DType::float32, DType::bfloat16, DType::int8);
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
      slice.shape.push_back(*rc::gen::inRange<std::int64_t>(1, 5));
      slice.stride.push_back(*rc::gen::inRange<std::int64_t>(0, 12));
    }
    return slice;
  });
  const Slice a = *any, b = *any;
  if (have_common(bytes(a), bytes(b))) RC_ASSERT(tensors.may_overlap(a, b));
  check_cover(tensors.region(a), a, tensors.region(b), b);
}

// Blocks without gaps along each dimension are distinguished exactly.
RC_GTEST_PROP(MemoryRegionProperty, BlocksAreDistinguishedExactly, ()) {
  Tensors tensors;
  const auto block = rc::gen::exec([] {
    const std::vector<std::int64_t> shape{4, 6, 5};
    Slice slice{.stride = {30, 5, 1}, .offset = 0};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto from = *rc::gen::inRange<std::int64_t>(0, shape[i]);
      slice.shape.push_back(*rc::gen::inRange<std::int64_t>(1, shape[i] - from + 1));
      slice.offset += from * slice.stride[i];
    }
    return slice;
  });
  const Slice a = *block, b = *block;
  const bool common = have_common(bytes(a), bytes(b));
  RC_CLASSIFY(!common);
  RC_ASSERT(tensors.may_overlap(a, b) == common);
}

}  // namespace
}  // namespace jointer::test
