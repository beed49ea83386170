#include "core/edit/collective_call.h"

#include "core/graph/group_argument.h"
#include "core/graph/storages.h"
#include "core/ops/collective_targets.h"

namespace jointer {

ArgumentRecords CollectiveCall::args_with(std::string_view input_name) const {
  using Kind = ArgumentRecord::Kind;
  ArgumentRecords args{CallBuilder::node(input_name)};
  if (!reduce_op.empty()) args.push_back(ArgumentRecord::of_text(Kind::string, reduce_op));
  if (kind != CollectiveKind::all_reduce) args.push_back(ArgumentRecord::of_int(group_size));
  args.push_back(ArgumentRecord::of_text(Kind::string, group_name));
  return args;
}

Result<CollectiveCall> read_collective_call(const Graph& graph, NodeId start) {
  const Node& n = graph.node(start);
  CollectiveCall call{
      .start = start,
      .part = n.part,
      .kind = n.kind == NodeKind::call ? graph.op(n).collective : CollectiveKind::none,
      .target = std::string(graph.target(n))};
  if (call.target != kAllGatherTarget && call.target != kReduceScatterTarget &&
      call.target != kAllReduceTarget)
    return fail(Error::Kind::usage,
                "{} ({}) cannot be merged or split: expected all_gather_into_tensor, "
                "reduce_scatter_tensor or all_reduce of a single tensor",
                graph.name(start), call.target);
  call.group_name = text_argument(graph, n, "group_name");
  call.reduce_op = text_argument(graph, n, "reduce_op");
  call.group_size = graph.group_size(n);
  if (const Argument* size = graph.argument(n, "group_size");
      size != nullptr && size->kind == Argument::Kind::integer)
    call.group_size = size->integer;
  if (const auto inputs = graph.inputs(n); !inputs.empty()) call.input = inputs.front();
  if (call.group_name.empty())
    return fail(Error::Kind::usage,
                "{} cannot be merged or split: its argument `group_name` is missing",
                graph.name(start));
  if (!call.input)
    return fail(Error::Kind::usage, "{} cannot be merged or split: its input is not a tensor",
                graph.name(start));
  if (graph.single_tensor(graph.node(call.input)) == nullptr)
    return fail(Error::Kind::usage,
                "{} cannot be merged or split: its input {} is not a single tensor of known shape",
                graph.name(start), graph.name(call.input));
  return call;
}

Result<NodeId> only_wait(const Graph& graph, const Users& users, NodeId start) {
  const auto readers = users.of(start);
  if (readers.size() == 1 && graph.is_wait(graph.node(readers.front()))) return readers.front();
  if (readers.empty()) return fail(Error::Kind::usage, "nothing waits for {}", graph.name(start));
  return fail(
      Error::Kind::usage, "{1} must be read only by its wait, but {0} reads it",
      graph.name(graph.is_wait(graph.node(readers.front())) ? readers.back() : readers.front()),
      graph.name(start));
}

bool is_dense(const Graph& graph, const Tensor& tensor) {
  return tensor.has(Tensor::has_stride) && is_dense(graph.shape(tensor), graph.stride(tensor));
}

std::vector<std::int64_t> sizes_of(const Graph& graph, NodeId node) {
  std::vector<std::int64_t> sizes;
  for (const Dim& size : graph.shape(*graph.single_tensor(graph.node(node))))
    sizes.push_back(size.value);
  return sizes;
}

TensorRecord tensor_like(const Graph& graph, NodeId node, const std::vector<std::int64_t>& shape,
                         std::string_view of) {
  const Tensor& t = *graph.single_tensor(graph.node(node));
  TensorRecord record{
      .shape = sizes(shape),
      .stride = sizes(contiguous_strides(shape)),
      .offset = SizeRecord{},
      .dtype = t.dtype,
      .device = t.device ? std::string(graph.text(graph.device(t.device).name)) : "cpu"};
  if (!of.empty()) record.storage = {.of = std::string(of)};
  return record;
}

std::string as_dense(const Graph& graph, CallBuilder& calls, NodeId node,
                     const std::vector<std::int64_t>& shape, NodeId like, std::string_view before) {
  const Tensor& t = *graph.single_tensor(graph.node(node));
  const std::vector<std::int64_t> given = sizes_of(graph, node);
  std::string name(graph.name(node));
  std::int64_t offset = graph.offset(t).value;
  if (!is_dense(graph, t)) {
    name = calls.insert("aten.clone.default", {CallBuilder::node(name)}, contiguous_format(),
                        ValueRecord::of_tensor(tensor_like(graph, node, given)), like, before);
    offset = 0;
  }
  if (given == shape) return name;
  TensorRecord view = tensor_like(graph, node, shape, name);
  view.offset = {.value = offset};
  return calls.insert("aten.view.default",
                      {CallBuilder::node(name), ArgumentRecord::of_ints(shape)}, std::move(view),
                      like, before);
}

}  // namespace jointer
