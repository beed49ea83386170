// Terms: g ranks, r this rank's place among them; member i has an input of m_i elements.
//
// All-gather. `bucketing._pre_bucket_all_gather` allocates the result, [g M], casts and copies the
// members' inputs to this rank's row of it; the collective gathers in place. Of one member the
// result is viewed. Of several, each gets a tensor of its own and `split_with_sizes_copy` fills all
// of them in one kernel.
// Reduce-scatter. `bucketing._pre_bucket_reduce_scatter` joins the members rank by rank; results
// are views of what arrives.
// All-reduce. Flattened and joined; results are views.
//
// Torch names dtypes in these calls by their place among all dtypes in `dir(torch)`; torch 2.15 has
// one more than 2.11, at the front, and no longer passes the group's name to the packing operator.
//
// Source: torch/_inductor/fx_passes/bucketing.py (2.15), *_merge_fn_to_trace_custom_ops and
// all_reduce_merge_fn_to_trace, as make_fx records them.
// Deviations: numbers in names go on above the highest one that the graph has; torch also remembers
// those of nodes that went. A reduce-scatter of a padded tensor packs it as it is, where torch
// packs what was padded. A member that is not dense, or has a symbolic size, stays alone.

#include "passes/bucketing/bucket_calls.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "core/graph/storages.h"

namespace jointer {
namespace {

using Kind = Argument::Kind;
using Sizes = std::vector<std::int64_t>;

// dir(torch) of 2.15 without bcomplex32, which stands before all others.
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

// Whether the capture is of a torch before 2.15. One that does not say is not.
bool is_older(std::string_view version) {
  int major = 0, minor = 0;
  const char* end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end) return false;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  return second.ec == std::errc() && (major < 2 || (major == 2 && minor < 15));
}

std::int64_t product(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

bool is_contiguous(const Graph& graph, const Tensor& t) {
  if (!t.has(Tensor::has_stride)) return true;
  Sizes shape;
  for (const Dim& size : graph.shape(t)) shape.push_back(size.value);
  const Sizes dense = contiguous_strides(shape);
  const auto stride = graph.stride(t);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && stride[i].value != dense[i]) return false;
  return true;
}

class Writer {
 public:
  Writer(Graph& graph, FxNames& names, std::span<const BucketMember> members)
      : graph_(graph),
        names_(names),
        members_(members),
        first_(members.front().start),
        part_(graph.node(first_).part),
        input_(graph.args(graph.node(first_))[0].node()),
        dtype_(graph.single_tensor(graph.node(input_))->dtype),
        device_(graph.single_tensor(graph.node(input_))->device),
        g_(graph.group_size(graph.node(first_))),
        group_(*graph.argument(graph.node(first_), "group_name")) {}

  BucketCalls run() {
    switch (graph_.op(graph_.node(first_)).collective) {
      case CollectiveKind::all_gather:
        gather();
        break;
      case CollectiveKind::reduce_scatter:
        scatter();
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
  Argument dtype() { return Argument::of_text(Kind::dtype, graph_.intern(to_string(dtype_))); }
  Argument text(std::string_view key) {
    return Argument::of_text(Kind::string, graph_.intern(key));
  }

  // A dense tensor, or one with strides, in a storage of its own where none is given.
  Value tensor(const Sizes& shape, StorageId storage, std::int64_t offset = 0,
               const Sizes& stride = {}) {
    Tensor t;
    t.dtype = dtype_;
    t.device = device_;
    t.storage = storage ? storage : own(product(shape) * item_size(dtype_));
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
    (is_behind_ ? calls_.behind : calls_.ahead).push_back(id);
    return id;
  }
  NodeId view(NodeId of, const Sizes& sizes, const Sizes& shape, std::int64_t offset = 0) {
    return call("aten.view.default", "view", std::array{node(of), numbers(sizes)},
                tensor(shape, storage_of(of), offset));
  }
  NodeId wait(NodeId start, const Sizes& shape) {
    is_behind_ = true;
    return call("_c10d_functional.wait_tensor.default", "wait_tensor", std::array{node(start)},
                tensor(shape, storage_of(start)));
  }
  // The parts of a tensor, side by side in its last dimension.
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
      parts.push_back(call("_operator.getitem", "getitem",
                           std::array{node(all), number(static_cast<std::int64_t>(i))}, value));
      offset += sizes[i];
    }
    return parts;
  }

  // This rank's place in the group.
  [[nodiscard]] std::int64_t rank() const {
    const std::int64_t rank = graph_.part(part_).rank.value_or(0);
    const GroupId group = graph_.node(first_).group;
    if (!group) return 0;
    const auto& ranks = graph_.group(group).ranks;
    const auto at = std::find(ranks.begin(), ranks.end(), rank);
    return at == ranks.end() ? 0 : at - ranks.begin();
  }
  [[nodiscard]] std::int64_t dtype_place(DType dtype, bool older) const {
    const auto at = std::find(kDtypes.begin(), kDtypes.end(), dtype);
    return (at - kDtypes.begin()) + (older ? 0 : 1);
  }

  // Members that one kernel copies, parted by -1; empty: all of them.
  [[nodiscard]] Sizes copy_groups() const {
    std::vector<std::pair<std::pair<DType, bool>, Sizes>> groups;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Tensor& t = *graph_.single_tensor(graph_.node(members_[i].source));
      const std::pair key{t.dtype, is_contiguous(graph_, t)};
      auto at = std::find_if(groups.begin(), groups.end(),
                             [&](const auto& group) { return group.first == key; });
      if (at == groups.end()) at = groups.insert(groups.end(), {key, {}});
      at->second.push_back(static_cast<std::int64_t>(i));
    }
    Sizes flat;
    if (groups.size() < 2) return flat;
    for (const auto& [key, group] : groups) {
      if (!flat.empty()) flat.push_back(-1);
      flat.insert(flat.end(), group.begin(), group.end());
    }
    return flat;
  }

  void gather() {
    const bool older = is_older(graph_.part(part_).torch_version);
    std::vector<NodeId> sources;
    Sizes sizes, dtypes;
    std::int64_t total = 0;
    for (const BucketMember& m : members_) {
      sources.push_back(m.source);
      sizes.push_back(m.elements);
      dtypes.push_back(dtype_place(dtype_, older));
      total += m.elements;
    }
    std::vector<Argument> args{nodes(sources), number(g_)};
    if (older) args.push_back(group_);
    args.insert(args.end(), {dtype(), numbers(dtypes), number(rank())});
    if (const Sizes groups = copy_groups(); !groups.empty()) args.push_back(numbers(groups));
    const NodeId whole = call("bucketing._pre_bucket_all_gather.default", "_pre_bucket_all_gather",
                              args, tensor({g_ * total}, {}));
    const std::int64_t begin = total * rank();
    const NodeId row =
        call("aten.slice.Tensor", "slice",
             std::array{node(whole), number(0), number(begin), number(begin + total)},
             tensor({total}, storage_of(whole), begin));
    const NodeId start =
        call("_c10d_functional.all_gather_into_tensor_out.default", "all_gather_into_tensor_out",
             std::array{node(row), number(g_), group_}, tensor({g_ * total}, storage_of(whole)),
             std::array{text("out"), node(whole)});
    const NodeId rows = view(wait(start, {g_ * total}), {g_, -1}, {g_, total});
    if (g_ == 1 || members_.size() == 1)
      view_parts(rows, sizes);
    else
      copy_parts(rows, sizes);
  }

  // Seen as the bucket's dtype, which it has: two calls that torch records all the same.
  NodeId same_dtype(NodeId of, const Sizes& shape, std::int64_t offset, const Sizes& stride = {}) {
    const NodeId seen = call("aten.view.dtype", "view", std::array{node(of), dtype()},
                             tensor(shape, storage_of(of), offset, stride));
    return call("aten.alias.default", "alias", std::array{node(seen)},
                tensor(shape, storage_of(of), offset, stride));
  }

  void view_parts(NodeId rows, const Sizes& sizes) {
    const std::vector<NodeId> parts =
        split(rows, sizes, g_, std::array{node(rows), numbers(sizes), number(1)});
    std::int64_t total = 0, offset = 0;
    for (const std::int64_t size : sizes) total += size;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const NodeId seen = same_dtype(parts[i], {g_, sizes[i]}, offset, {total, 1});
      calls_.results.push_back(view(seen, members_[i].result, members_[i].result, offset));
      offset += sizes[i];
    }
  }

  void copy_parts(NodeId rows, const Sizes& sizes) {
    const Argument device =
        Argument::of_text(Kind::device, graph_.intern(graph_.text(graph_.device(device_).name)));
    std::vector<NodeId> outs, flat;
    for (const std::int64_t size : sizes) {
      const std::array kwargs{text("dtype"),      dtype(),
                              text("device"),     device,
                              text("pin_memory"), Argument::of_bool(false)};
      outs.push_back(call("aten.empty.memory_format", "empty", std::array{numbers({g_ * size})},
                          tensor({g_ * size}, {}), kwargs));
    }
    for (std::size_t i = 0; i < outs.size(); ++i) {
      const Sizes shape{g_, sizes[i]};
      flat.push_back(same_dtype(view(outs[i], {g_, -1}, shape), shape, 0));
    }
    call("aten.split_with_sizes_copy.out", "split_with_sizes_copy",
         std::array{node(rows), numbers(sizes), number(1)}, {},
         std::array{text("out"), nodes(flat)});
    for (std::size_t i = 0; i < outs.size(); ++i)
      calls_.results.push_back(view(outs[i], members_[i].result, members_[i].result));
  }

  void scatter() {
    std::vector<NodeId> sources;
    Sizes sizes;
    std::int64_t total = 0;
    for (const BucketMember& m : members_) {
      sources.push_back(m.source);
      sizes.push_back(m.elements / g_);
      total += m.elements;
    }
    const NodeId joined =
        call("bucketing._pre_bucket_reduce_scatter.default", "_pre_bucket_reduce_scatter",
             std::array{nodes(sources), number(g_)}, tensor({total}, {}));
    const Argument op = *graph_.argument(graph_.node(first_), "reduce_op");
    const NodeId start =
        call("_c10d_functional.reduce_scatter_tensor.default", "reduce_scatter_tensor",
             std::array{node(joined), op, number(g_), group_}, tensor({total / g_}, {}));
    const NodeId whole = wait(start, {total / g_});
    unpack(whole, split(whole, sizes, 0, std::array{node(whole), numbers(sizes)}));
  }

  void reduce() {
    std::vector<NodeId> flat;
    Sizes sizes;
    std::int64_t total = 0;
    for (const BucketMember& m : members_) {
      const Tensor& t = *graph_.single_tensor(graph_.node(m.source));
      flat.push_back(call("aten.view.default", "view", std::array{node(m.source), numbers({-1})},
                          tensor({m.elements}, t.storage, graph_.offset(t).value)));
      sizes.push_back(m.elements);
      total += m.elements;
    }
    const NodeId joined =
        call("aten.cat.default", "cat", std::array{nodes(flat)}, tensor({total}, {}));
    const Argument op = *graph_.argument(graph_.node(first_), "reduce_op");
    const NodeId start = call("_c10d_functional.all_reduce.default", "all_reduce",
                              std::array{node(joined), op, group_}, tensor({total}, {}));
    const NodeId whole = wait(start, {total});
    unpack(whole, split(whole, sizes, 0, std::array{node(whole), numbers(sizes)}));
  }

  void unpack(NodeId /*whole*/, const std::vector<NodeId>& parts) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      calls_.results.push_back(view(parts[i], members_[i].result, members_[i].result, offset));
      offset += product(members_[i].result);
    }
  }

  Graph& graph_;
  FxNames& names_;
  std::span<const BucketMember> members_;
  NodeId first_;
  PartId part_;
  NodeId input_;
  DType dtype_;
  DeviceId device_;
  std::int64_t g_;
  Argument group_;
  bool is_behind_ = false;
  BucketCalls calls_;
};

bool is_cast(const Graph& graph, const Node& n) {
  const std::string_view target = graph.target(n);
  return n.kind == NodeKind::call &&
         (target == "prims.convert_element_type.default" || target == "aten._to_copy.default");
}

}  // namespace

FxNames::FxNames(const Graph& graph, PartId part) {
  for (const NodeId id : graph.order()) {
    if (graph.node(id).part != part) continue;
    const std::string_view name = graph.name(id);
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    std::int64_t number = 0;
    std::string_view base = name;
    if (digits > 1 && digits < name.size() && name[digits - 1] == '_' &&
        std::from_chars(name.data() + digits, name.data() + name.size(), number).ec == std::errc())
      base = name.substr(0, digits - 1);
    else
      number = 0;
    auto& last = last_.try_emplace(std::string(base), 0).first->second;
    last = std::max(last, number);
  }
}

std::string FxNames::fresh(std::string_view base) {
  const auto [at, is_new] = last_.try_emplace(std::string(base), 0);
  return is_new ? std::string(base) : fmt::format("{}_{}", base, ++at->second);
}

Result<BucketMember> read_bucket_member(const Graph& graph, const WaitedCollective& collective,
                                        std::size_t reads) {
  const Node& start = graph.node(collective.start);
  const auto args = graph.args(start);
  const auto refuse = [](std::string_view why) { return fail(Error::Kind::usage, "{}", why); };
  if (args.empty() || args[0].kind != Kind::node) return refuse("its input is no tensor");
  BucketMember member{.start = collective.start,
                      .wait = collective.wait,
                      .source = args[0].node(),
                      .cast = {},
                      .elements = 0,
                      .in = {},
                      .result = {}};
  const Tensor* input = graph.single_tensor(graph.node(member.source));
  const Tensor* result = graph.single_tensor(graph.node(collective.wait));
  if (input == nullptr || result == nullptr) return refuse("it is not of one tensor");
  for (const auto& [tensor, shape] :
       {std::pair{input, &member.in}, std::pair{result, &member.result}})
    for (const Dim& size : graph.shape(*tensor)) {
      if (size.expression) return refuse("its size is symbolic");
      shape->push_back(size.value);
    }
  if (!is_contiguous(graph, *result)) return refuse("its result is not dense");
  member.elements = graph.numel(*input);
  if (member.elements == 0) return refuse("it is empty");
  const CollectiveKind kind = graph.op(start).collective;
  if (kind == CollectiveKind::all_reduce && !is_contiguous(graph, *input))
    return refuse("its input is not dense");
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

BucketCalls write_bucket(Graph& graph, FxNames& names, std::span<const BucketMember> members) {
  return Writer(graph, names, members).run();
}

}  // namespace jointer
