// Writes the calls of a bucket as torch does.
//
// Terms: the group has g ranks, and r is this rank's index among them. The input of member i has
// m_i elements, and M is the sum of all m_i.
//
// All-gather, in `custom_ops`. `bucketing._pre_bucket_all_gather` allocates the result, [g M], then
// casts the members' inputs and copies them to this rank's row of the result; the collective
// gathers in place. If there is only one member or one rank, the results are views. Otherwise, each
// member gets a new tensor, and `split_with_sizes_copy` fills all of them in one kernel. Members of
// different dtypes are sent as the smallest of these dtypes.
// All-gather, in `standard` and `coalesced`. The result is allocated; the members are flattened,
// joined and copied to this rank's row of the result; the gathered tensor is split, and each part
// is made dense.
//
// Reduce-scatter. In `custom_ops`, one operator, `bucketing._pre_bucket_reduce_scatter`, joins the
// members rank by rank; in `standard`, plain calls do. The results are views of the received
// tensor. In `coalesced`, the collective reads the flattened members as a list, and each member has
// its own wait.
// All-reduce. The members are flattened and joined; the results are views.
//
// `_pre_bucket_all_gather` receives dtypes as indices among all dtypes in `dir(torch)`. Torch 2.14
// added a dtype at the front, bcomplex32. Up to torch 2.12, the operator also receives the name of
// the group.
//
// Source: torch/_inductor/fx_passes/bucketing.py (2.15), *_merge_fn_to_trace and its variants, as
// make_fx records them.
// Deviations: torch also avoids the names of nodes that were removed before the capture. If the
// input of a reduce-scatter is padded, the bucket packs the padded tensor, whereas torch, in
// `custom_ops`, packs the tensor before padding. A member that is empty, has a symbolic size, or
// returns a result that is not dense is not bucketed.

#include "passes/bucketing/bucket_calls.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/graph/storages.h"
#include "core/graph/torch_version.h"
#include "core/ops/collective_targets.h"

namespace jointer {
namespace {

using Kind = Argument::Kind;
using Sizes = std::vector<std::int64_t>;

// The dtypes in the order of dir(torch), without bcomplex32, which precedes them from torch 2.14
// on.
constexpr std::array kDtypes{DType::bfloat16,
                             DType::uint1,
                             DType::bits16,
                             DType::bits1x8,
                             DType::bits2x4,
                             DType::bits4x2,
                             DType::bits8,
                             DType::boolean,
                             DType::complex128,
                             DType::complex64,
                             DType::complex32,
                             DType::complex128,
                             DType::complex32,
                             DType::complex64,
                             DType::float64,
                             DType::float32,
                             DType::float16,
                             DType::float32,
                             DType::float4_e2m1fn_x2,
                             DType::float64,
                             DType::float8_e4m3fn,
                             DType::float8_e4m3fnuz,
                             DType::float8_e5m2,
                             DType::float8_e5m2fnuz,
                             DType::float8_e8m0fnu,
                             DType::float16,
                             DType::int32,
                             DType::int1,
                             DType::int16,
                             DType::int2,
                             DType::int3,
                             DType::int32,
                             DType::int4,
                             DType::int5,
                             DType::int6,
                             DType::int64,
                             DType::int7,
                             DType::int8,
                             DType::int64,
                             DType::qint32,
                             DType::qint8,
                             DType::quint2x4,
                             DType::quint4x2,
                             DType::quint8,
                             DType::int16,
                             DType::uint1,
                             DType::uint16,
                             DType::uint2,
                             DType::uint3,
                             DType::uint32,
                             DType::uint4,
                             DType::uint5,
                             DType::uint6,
                             DType::uint64,
                             DType::uint7,
                             DType::uint8};

bool is_float(DType dtype) {
  return dtype == DType::float64 || dtype == DType::float32 || dtype == DType::float16 ||
         dtype == DType::bfloat16;
}

// The result of torch's type promotion for the dtypes of two parameters.
DType joined_dtype(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (item_size(a) != item_size(b)) return item_size(a) > item_size(b) ? a : b;
  return is_float(a) ? DType::float32 : a;
}

std::int64_t product(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

bool is_contiguous(const Graph& graph, const Tensor& t) {
  return !t.has(Tensor::has_stride) || is_dense(graph.shape(t), graph.stride(t));
}

// The strides of a view with a different shape and the same number of elements; std::nullopt if no
// such view exists. Follows torch's computeStride.
std::optional<Sizes> viewed_strides(const Sizes& sizes, const Sizes& strides, const Sizes& shape) {
  Sizes result(shape.size(), 1);
  if (sizes.empty()) return result;
  std::size_t open = shape.size();
  std::int64_t step = strides.back(), in = 1, out = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    in *= sizes[i];
    if (i > 0 && (sizes[i - 1] == 1 || strides[i - 1] == in * step)) continue;
    while (open > 0 && (out < in || shape[open - 1] == 1)) {
      --open;
      result[open] = out * step;
      out *= shape[open];
    }
    if (out != in) return std::nullopt;
    if (i > 0) step = strides[i - 1];
    in = out = 1;
  }
  if (open > 0) return std::nullopt;
  return result;
}

class Writer {
 public:
  Writer(Graph& graph, BucketNames& names, std::span<const BucketMember> members, BucketForm form)
      : graph_(graph),
        names_(names),
        members_(members),
        form_(form),
        first_(members.front().start),
        part_(graph.node(first_).part),
        dtype_(members.front().dtype),
        device_(graph.single_tensor(graph.node(members.front().source))->device),
        g_(graph.group_size(graph.node(first_))),
        group_(*graph.argument(graph.node(first_), "group_name")) {
    for (const BucketMember& m : members)
      if (item_size(m.dtype) < item_size(dtype_)) dtype_ = m.dtype;
    names_.begin_bucket();
  }

  BucketCalls run() {
    const bool is_custom = form_ == BucketForm::custom_ops;
    switch (graph_.op(graph_.node(first_)).collective) {
      case CollectiveKind::all_gather:
        is_custom ? gather_packed() : gather();
        break;
      case CollectiveKind::reduce_scatter:
        form_ == BucketForm::coalesced ? scatter_list() : scatter();
        break;
      default:
        reduce();
    }
    return std::move(calls_);
  }

 private:
  static Argument number(std::int64_t value) { return Argument::of_int(value); }
  static Argument node(NodeId id) { return Argument::of_node(id); }
  Argument list(std::span<const Argument> items) { return graph_.make_children(Kind::list, items); }
  Argument numbers(const Sizes& sizes) {
    std::vector<Argument> items;
    for (const std::int64_t size : sizes) items.push_back(number(size));
    return list(items);
  }
  Argument nodes(const std::vector<NodeId>& ids) {
    std::vector<Argument> items;
    for (const NodeId id : ids) items.push_back(node(id));
    return list(items);
  }
  Argument dtype(DType dtype) {
    return Argument::of_text(Kind::dtype, graph_.intern(to_string(dtype)));
  }
  Argument text(std::string_view key) {
    return Argument::of_text(Kind::string, graph_.intern(key));
  }

  // A tensor of the bucket's dtype. It is dense unless strides are given.
  Value tensor(const Sizes& shape, StorageId storage, std::int64_t offset = 0,
               const Sizes& stride = {}) {
    return tensor_of(dtype_, shape, storage, offset, stride);
  }
  Value tensor_of(DType dtype, const Sizes& shape, StorageId storage, std::int64_t offset = 0,
                  const Sizes& stride = {}) {
    Tensor t;
    t.dtype = dtype;
    t.device = device_;
    t.storage = storage ? storage : own(product(shape) * item_size(dtype));
    t.set(Tensor::has_stride);
    t.set(Tensor::has_offset);
    t.set(Tensor::has_storage);
    std::vector<Dim> sizes, steps;
    for (const std::int64_t size : shape) sizes.push_back({.value = size, .expression = {}});
    for (const std::int64_t step : stride.empty() ? contiguous_strides(shape) : stride)
      steps.push_back({.value = step, .expression = {}});
    return Value::of_tensor(
        graph_.add_tensor(t, sizes, steps, {.value = offset, .expression = {}}));
  }
  StorageId own(std::int64_t bytes) {
    const StorageId storage = graph_.add_storage(part_, {.value = bytes, .expression = {}});
    graph_.storage(storage).device = device_;
    return storage;
  }
  [[nodiscard]] StorageId storage_of(NodeId id) const { return graph_.tensors(id)[0].storage; }

  NodeId call(std::string_view target, std::string_view base, std::span<const Argument> args,
              Value value, std::span<const Argument> kwargs = {}) {
    const Node& like = graph_.node(first_);
    Node n;
    n.name = graph_.intern(names_.fresh(base));
    n.target = graph_.intern_operator(target);
    n.part = part_;
    n.phase = like.phase;
    n.module = like.module;
    n.stack = like.stack;
    n.custom = like.custom;
    n.partitioner_tag = like.partitioner_tag;
    n.args = graph_.make_children(Kind::list, args);
    n.set(Node::has_args);
    if (!kwargs.empty()) {
      n.kwargs = graph_.make_children(Kind::dict, kwargs);
      n.set(Node::has_kwargs);
    }
    n.value = value;
    n.set(Node::has_value, value.kind != Value::Kind::none);
    const NodeId id = graph_.add_node(n);
    (calls_.waits.empty() ? calls_.ahead : calls_.behind).push_back(id);
    return id;
  }
  NodeId view(NodeId of, const Sizes& sizes, const Sizes& shape, std::int64_t offset = 0) {
    return call("aten.view.default", "view", std::array{node(of), numbers(sizes)},
                tensor(shape, storage_of(of), offset));
  }
  NodeId start(std::string_view target, std::string_view base, std::span<const Argument> args,
               Value value, std::span<const Argument> kwargs = {}) {
    calls_.start = call(target, base, args, value, kwargs);
    return calls_.start;
  }
  NodeId wait(NodeId of, const Sizes& shape) {
    // The first wait and all later calls belong to `behind`.
    const NodeId id =
        call(kWaitTarget, "wait_tensor", std::array{node(of)}, tensor(shape, storage_of(of)));
    if (calls_.waits.empty()) {
      calls_.ahead.pop_back();
      calls_.behind.push_back(id);
    }
    calls_.waits.push_back(id);
    return id;
  }
  // Splits a tensor along its last dimension.
  std::vector<NodeId> split(NodeId whole, const Sizes& sizes, std::int64_t rows,
                            std::span<const Argument> args) {
    std::int64_t width = 0, offset = 0;
    for (const std::int64_t size : sizes) width += size;
    const auto part = [&](std::int64_t size) {
      return rows == 0 ? tensor({size}, storage_of(whole), offset)
                       : tensor({rows, size}, storage_of(whole), offset, {width, 1});
    };
    std::vector<Value> values;
    for (const std::int64_t size : sizes) {
      values.push_back(part(size));
      offset += size;
    }
    const NodeId all = call("aten.split_with_sizes.default", "split_with_sizes", args,
                            graph_.make_children(Value::Kind::list, values));
    std::vector<NodeId> parts;
    offset = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Value value = part(sizes[i]);
      parts.push_back(element(all, i, value));
      offset += sizes[i];
    }
    return parts;
  }
  NodeId element(NodeId of, std::size_t number, Value value) {
    return call("_operator.getitem", "getitem",
                std::array{node(of), this->number(static_cast<std::int64_t>(number))}, value);
  }

  // Reshapes a tensor with a view if possible, otherwise with a copy. `sizes`, the argument of the
  // view, may contain -1; `shape` is the resulting shape.
  NodeId reshape(NodeId of, const Sizes& sizes, const Sizes& shape) {
    const Tensor t = graph_.tensors(of)[0];
    Sizes was, stride;
    for (const Dim& size : graph_.shape(t)) was.push_back(size.value);
    if (t.has(Tensor::has_stride))
      for (const Dim& step : graph_.stride(t)) stride.push_back(step.value);
    else
      stride = contiguous_strides(was);
    if (const auto steps = viewed_strides(was, stride, shape))
      return call("aten.view.default", "view", std::array{node(of), numbers(sizes)},
                  tensor_of(t.dtype, shape, t.storage, graph_.offset(t).value, *steps));
    const Argument format =
        Argument::of_text(Kind::memory_format, graph_.intern("contiguous_format"));
    const NodeId copy =
        call("aten.clone.default", "clone", std::array{node(of)}, tensor_of(t.dtype, was, {}),
             std::array{text("memory_format"), format});
    return call("aten._unsafe_view.default", "_unsafe_view", std::array{node(copy), numbers(shape)},
                tensor_of(t.dtype, shape, storage_of(copy)));
  }

  // This rank's index in the group. An unknown rank counts as rank 0. 0 if the group is unknown or
  // does not contain the rank.
  [[nodiscard]] std::int64_t rank() const {
    const std::int64_t rank = graph_.part(part_).rank.value_or(0);
    const GroupId group = graph_.node(first_).group;
    if (!group) return 0;
    const auto& ranks = graph_.group(group).ranks;
    const auto at = std::ranges::find(ranks, rank);
    return at == ranks.end() ? 0 : at - ranks.begin();
  }
  [[nodiscard]] std::int64_t dtype_place(DType dtype) const {
    const auto at = std::ranges::find(kDtypes, dtype);
    return (at - kDtypes.begin()) + (is_of_torch(graph_.part(part_), 2, 14) ? 1 : 0);
  }

  // The indices of the members that each kernel copies, with a -1 between two kernels; empty if one
  // kernel copies all members.
  [[nodiscard]] Sizes copy_groups() const {
    struct Group {
      DType from, to;
      bool is_dense;
      Sizes members;
    };
    std::vector<Group> groups;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Tensor& t = *graph_.single_tensor(graph_.node(members_[i].source));
      const bool is_dense = is_contiguous(graph_, t);
      auto at = std::ranges::find_if(groups, [&](const Group& group) {
        return group.from == t.dtype && group.to == members_[i].dtype && group.is_dense == is_dense;
      });
      if (at == groups.end())
        at = groups.insert(groups.end(), {t.dtype, members_[i].dtype, is_dense, {}});
      at->members.push_back(static_cast<std::int64_t>(i));
    }
    Sizes flat;
    if (groups.size() < 2) return flat;
    for (const Group& group : groups) {
      if (!flat.empty()) flat.push_back(-1);
      flat.insert(flat.end(), group.members.begin(), group.members.end());
    }
    return flat;
  }

  // This rank's row of `whole`, the tensor to gather into.
  NodeId row_of(NodeId whole, std::int64_t total) {
    const std::int64_t begin = total * rank();
    return call("aten.slice.Tensor", "slice",
                std::array{node(whole), number(0), number(begin), number(begin + total)},
                tensor({total}, storage_of(whole), begin));
  }
  // Gathers into `whole`. Returns the result, with one row per rank.
  NodeId gather_into(NodeId whole, NodeId row, std::int64_t total) {
    const NodeId begun =
        start(kAllGatherOutTarget, "all_gather_into_tensor_out",
              std::array{node(row), number(g_), group_}, tensor({g_ * total}, storage_of(whole)),
              std::array{text("out"), node(whole)});
    return view(wait(begun, {g_ * total}), {g_, -1}, {g_, total});
  }
  NodeId empty(DType dtype, std::int64_t elements) {
    const std::array kwargs{
        text("dtype"),
        this->dtype(dtype),
        text("device"),
        Argument::of_text(Kind::device, graph_.intern(graph_.text(graph_.device(device_).name))),
        text("pin_memory"),
        Argument::of_bool(false)};
    return call("aten.empty.memory_format", "empty", std::array{numbers({elements})},
                tensor_of(dtype, {elements}, {}), kwargs);
  }

  void gather() {
    Sizes sizes;
    std::int64_t total = 0;
    for (const BucketMember& m : members_) {
      sizes.push_back(m.elements);
      total += m.elements;
    }
    const NodeId whole = empty(dtype_, g_ * total);
    const NodeId row = row_of(whole, total);
    std::vector<NodeId> flat;
    DType joined_as = graph_.single_tensor(graph_.node(members_.front().source))->dtype;
    for (const BucketMember& m : members_) {
      flat.push_back(reshape(m.source, {-1}, {m.elements}));
      joined_as = joined_dtype(joined_as, graph_.single_tensor(graph_.node(m.source))->dtype);
    }
    const NodeId joined =
        call("aten.cat.default", "cat", std::array{nodes(flat)}, tensor_of(joined_as, {total}, {}));
    const NodeId packed = call("aten.copy_.default", "copy_", std::array{node(row), node(joined)},
                               tensor({total}, storage_of(whole), total * rank()));
    const NodeId rows = gather_into(whole, packed, total);
    unpack(split(rows, sizes, g_, std::array{node(rows), numbers(sizes), number(1)}));
  }

  void gather_packed() {
    std::vector<NodeId> sources;
    Sizes sizes, dtypes;
    std::int64_t total = 0;
    for (const BucketMember& m : members_) {
      sources.push_back(m.source);
      sizes.push_back(m.elements * item_size(m.dtype) / item_size(dtype_));
      dtypes.push_back(dtype_place(m.dtype));
      total += sizes.back();
    }
    std::vector<Argument> args{nodes(sources), number(g_)};
    if (!is_of_torch(graph_.part(part_), 2, 13)) args.push_back(group_);
    args.insert(args.end(), {dtype(dtype_), numbers(dtypes), number(rank())});
    if (const Sizes groups = copy_groups(); !groups.empty()) args.push_back(numbers(groups));
    const NodeId whole = call("bucketing._pre_bucket_all_gather.default", "_pre_bucket_all_gather",
                              args, tensor({g_ * total}, {}));
    const NodeId rows = gather_into(whole, row_of(whole, total), total);
    if (g_ == 1 || members_.size() == 1)
      view_parts(rows, sizes);
    else
      copy_parts(rows, sizes);
  }

  // Views a tensor as another dtype, in two calls, which torch records even if the dtype stays the
  // same.
  NodeId as_dtype(NodeId of, DType as, const Sizes& shape, std::int64_t offset,
                  const Sizes& stride = {}) {
    const NodeId seen = call("aten.view.dtype", "view", std::array{node(of), dtype(as)},
                             tensor_of(as, shape, storage_of(of), offset, stride));
    return call("aten.alias.default", "alias", std::array{node(seen)},
                tensor_of(as, shape, storage_of(of), offset, stride));
  }

  void view_parts(NodeId rows, const Sizes& sizes) {
    const std::vector<NodeId> parts =
        split(rows, sizes, g_, std::array{node(rows), numbers(sizes), number(1)});
    std::int64_t total = 0, offset = 0;
    for (const std::int64_t size : sizes) total += size;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const BucketMember& m = members_[i];
      const std::int64_t ratio = item_size(m.dtype) / item_size(dtype_);
      const NodeId seen =
          as_dtype(parts[i], m.dtype, {g_, m.elements}, offset / ratio, {total / ratio, 1});
      calls_.results.push_back(reshape(seen, m.result, m.result));
      offset += sizes[i];
    }
  }

  void copy_parts(NodeId rows, const Sizes& sizes) {
    std::vector<NodeId> outs, flat;
    for (const BucketMember& m : members_) outs.push_back(empty(m.dtype, g_ * m.elements));
    for (std::size_t i = 0; i < outs.size(); ++i)
      flat.push_back(as_dtype(reshape(outs[i], {g_, -1}, {g_, members_[i].elements}), dtype_,
                              {g_, sizes[i]}, 0));
    call("aten.split_with_sizes_copy.out", "split_with_sizes_copy",
         std::array{node(rows), numbers(sizes), number(1)}, {},
         std::array{text("out"), nodes(flat)});
    unpack(outs);
  }

  // Joins the members into a flat tensor, rank by rank.
  NodeId join_for_scatter(std::int64_t total) {
    if (form_ == BucketForm::custom_ops) {
      std::vector<NodeId> sources;
      for (const BucketMember& m : members_) sources.push_back(m.source);
      return call("bucketing._pre_bucket_reduce_scatter.default", "_pre_bucket_reduce_scatter",
                  std::array{nodes(sources), number(g_)}, tensor({total}, {}));
    }
    std::vector<NodeId> rows;
    for (const BucketMember& m : members_)
      rows.push_back(reshape(m.source, {g_, -1}, {g_, m.elements / g_}));
    const NodeId joined = call("aten.cat.default", "cat", std::array{nodes(rows), number(1)},
                               tensor({g_, total / g_}, {}));
    return view(joined, {total}, {total});
  }

  void scatter() {
    Sizes sizes;
    std::int64_t total = 0;
    for (const BucketMember& m : members_) {
      sizes.push_back(m.elements / g_);
      total += m.elements;
    }
    const NodeId joined = join_for_scatter(total);
    const Argument op = *graph_.argument(graph_.node(first_), "reduce_op");
    const NodeId begun =
        start(kReduceScatterTarget, "reduce_scatter_tensor",
              std::array{node(joined), op, number(g_), group_}, tensor({total / g_}, {}));
    const NodeId whole = wait(begun, {total / g_});
    unpack(split(whole, sizes, 0, std::array{node(whole), numbers(sizes)}));
  }

  void scatter_list() {
    std::vector<NodeId> flat;
    std::vector<Value> values;
    for (const BucketMember& m : members_) flat.push_back(reshape(m.source, {-1}, {m.elements}));
    for (const BucketMember& m : members_) values.push_back(tensor({m.elements / g_}, {}));
    const Argument op = *graph_.argument(graph_.node(first_), "reduce_op");
    const NodeId begun =
        start("_c10d_functional.reduce_scatter_tensor_coalesced.default",
              "reduce_scatter_tensor_coalesced", std::array{nodes(flat), op, number(g_), group_},
              graph_.make_children(Value::Kind::list, values));
    std::vector<NodeId> parts, waits;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const StorageId storage = graph_.tensors(begun)[i].storage;
      parts.push_back(element(begun, i, tensor({members_[i].elements / g_}, storage)));
    }
    for (std::size_t i = 0; i < members_.size(); ++i)
      waits.push_back(wait(parts[i], {members_[i].elements / g_}));
    unpack(waits);
  }

  void reduce() {
    std::vector<NodeId> flat;
    Sizes sizes;
    std::int64_t total = 0;
    for (const BucketMember& m : members_) {
      flat.push_back(reshape(m.source, {-1}, {m.elements}));
      sizes.push_back(m.elements);
      total += m.elements;
    }
    const NodeId joined =
        call("aten.cat.default", "cat", std::array{nodes(flat)}, tensor({total}, {}));
    const Argument op = *graph_.argument(graph_.node(first_), "reduce_op");
    const NodeId begun = start(kAllReduceTarget, "all_reduce", std::array{node(joined), op, group_},
                               tensor({total}, {}));
    const NodeId whole = wait(begun, {total});
    unpack(split(whole, sizes, 0, std::array{node(whole), numbers(sizes)}));
  }

  void unpack(const std::vector<NodeId>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      calls_.results.push_back(reshape(parts[i], members_[i].result, members_[i].result));
  }

  Graph& graph_;
  BucketNames& names_;
  std::span<const BucketMember> members_;
  BucketForm form_;
  NodeId first_;
  PartId part_;
  DType dtype_;  // of the bucket
  DeviceId device_;
  std::int64_t g_;
  Argument group_;
  BucketCalls calls_;
};

bool is_cast(const Graph& graph, const Node& n) {
  const std::string_view target = graph.target(n);
  return n.kind == NodeKind::call &&
         (target == "prims.convert_element_type.default" || target == "aten._to_copy.default");
}

}  // namespace

BucketNames::BucketNames(const Graph& graph, PartId part)
    : torch_(torch_version_of(graph.part(part))), graph_(names_of(graph, part)), traced_(torch_) {}

void BucketNames::begin_bucket() {
  traced_ = FxNames(torch_);
}

std::string BucketNames::fresh(std::string_view base) {
  return graph_.create(traced_.create(base));
}

Result<BucketMember> read_bucket_member(const Graph& graph, const WaitedCollective& collective,
                                        std::size_t reads) {
  const Node& start = graph.node(collective.start);
  const auto args = graph.args(start);
  const auto refuse = [](std::string_view why) { return fail(Error::Kind::usage, "{}", why); };
  if (args.empty() || args[0].kind != Kind::node) return refuse("its input is not a tensor");
  BucketMember member{.start = collective.start,
                      .wait = collective.wait,
                      .source = args[0].node(),
                      .dtype = DType::float32};
  const Tensor* input = graph.single_tensor(graph.node(member.source));
  const Tensor* result = graph.single_tensor(graph.node(collective.wait));
  if (input == nullptr || result == nullptr)
    return refuse("its input or its result is not a single tensor");
  for (const auto& [tensor, shape] :
       {std::pair{input, &member.in}, std::pair{result, &member.result}})
    for (const Dim& size : graph.shape(*tensor)) {
      if (size.expression) return refuse("its size is symbolic");
      shape->push_back(size.value);
    }
  if (!is_contiguous(graph, *result)) return refuse("its result is not dense");
  member.elements = graph.numel(*input);
  if (member.elements == 0) return refuse("it is empty");
  member.dtype = result->dtype;
  const CollectiveKind kind = graph.op(start).collective;
  if (kind == CollectiveKind::all_gather && reads == 1 &&
      is_cast(graph, graph.node(member.source))) {
    const auto cast = graph.args(graph.node(member.source));
    if (!cast.empty() && cast[0].kind == Kind::node &&
        graph.single_tensor(graph.node(cast[0].node())) != nullptr) {
      member.cast = member.source;
      member.source = cast[0].node();
    }
  }
  return member;
}

BucketCalls write_bucket(Graph& graph, BucketNames& names, std::span<const BucketMember> members,
                         BucketForm form) {
  return Writer(graph, names, members, form).run();
}

}  // namespace jointer
