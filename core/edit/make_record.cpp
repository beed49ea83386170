#include "core/edit/make_record.h"

#include "core/graph/storages.h"

namespace jointer {
namespace {

SizeRecord size_record(const Graph& graph, const Dim& dim) {
  if (!dim.expression) return {.value = dim.value};
  return {.symbol = std::make_shared<const SymbolRecord>(
              SymbolRecord{.expression = std::string(graph.expression_text(dim.expression)),
                           .hint = std::string(graph.expression_hint(dim.expression))})};
}

std::vector<SizeRecord> size_records(const Graph& graph, std::span<const Dim> dims) {
  std::vector<SizeRecord> records;
  records.reserve(dims.size());
  for (const Dim& dim : dims) records.push_back(size_record(graph, dim));
  return records;
}

// Records everything except the storage.
void describe(const Graph& graph, const Tensor& t, TensorRecord& record) {
  record.shape = size_records(graph, graph.shape(t));
  record.dtype = t.dtype;
  if (t.device) record.device = graph.text(graph.device(t.device).name);
  if (t.has(Tensor::has_stride)) record.stride = size_records(graph, graph.stride(t));
  if (t.has(Tensor::has_offset)) record.offset = size_record(graph, graph.offset(t));
  if (t.has(Tensor::has_requires_grad)) record.requires_grad = t.has(Tensor::requires_grad);
  if (t.has(Tensor::has_conj)) record.conj = t.has(Tensor::conj);
  if (t.has(Tensor::has_neg)) record.neg = t.has(Tensor::neg);
  record.extra = graph.text(t.extra);
}

class ValueRecorder {
 public:
  ValueRecorder(const Graph& graph, const StorageOwners& owners, NodeId id,
                const std::function<NamedTensor(StorageOwners::Owner)>& name_owner)
      : graph_(graph), owners_(owners), id_(id), name_owner_(name_owner) {}

  void record(const Value& value, ValueRecord& record) {
    using Kind = Value::Kind;
    record.kind = value.kind;
    switch (value.kind) {
      case Kind::none:
        break;
      case Kind::tensor:
        record_tensor(graph_.tensor(value.tensor()), record.tensor.emplace());
        break;
      case Kind::list:
      case Kind::dict:
        for (const Value& child : graph_.children(value))
          this->record(child, record.children.emplace_back());
        break;
      case Kind::symbol:
        record.text = graph_.expression_text(value.expression());
        record.detail = graph_.expression_hint(value.expression());
        break;
      case Kind::opaque:
        record.detail = graph_.text(value.detail());
        [[fallthrough]];
      case Kind::key:
      case Kind::constant:
      case Kind::raw:
        record.text = graph_.text(value.text());
        break;
    }
  }

 private:
  void record_tensor(const Tensor& t, TensorRecord& record) {
    describe(graph_, t, record);
    const std::size_t number = next_++;
    if (!t.storage) return;
    const StorageOwners::Owner owner = owners_.of(t.storage);
    if (owner.node == id_ && owner.tensor == number) {
      const Dim bytes = graph_.storage(t.storage).bytes;
      if (bytes.expression || bytes.value != own_bytes(t))
        record.storage.emplace().bytes = size_record(graph_, bytes);
      return;
    }
    NamedTensor named = name_owner_ ? name_owner_(owner) : NamedTensor{};
    if (named.node.empty()) named = {graph_.name(owner.node), owner.tensor};
    StorageRecord& storage = record.storage.emplace();
    storage.of = named.node;
    storage.tensor = named.tensor;
  }

  // Size in bytes of the storage that a tensor gets if its record describes none.
  [[nodiscard]] std::int64_t own_bytes(const Tensor& t) const {
    return t.has(Tensor::has_stride)
               ? storage_extent(graph_.shape(t), graph_.stride(t), graph_.offset(t), t.dtype)
               : graph_.bytes(t);
  }

  const Graph& graph_;
  const StorageOwners& owners_;
  NodeId id_;
  const std::function<NamedTensor(StorageOwners::Owner)>& name_owner_;
  std::size_t next_ = 0;  // index of the next tensor
};

ArgumentRecord record_argument(const Graph& graph, const Argument& argument) {
  using Kind = Argument::Kind;
  ArgumentRecord record{.kind = argument.kind};
  switch (argument.kind) {
    case Kind::none:
      break;
    case Kind::boolean:
    case Kind::integer:
      record.integer = argument.integer;
      break;
    case Kind::real:
      return ArgumentRecord::of_real(argument.real);
    case Kind::node:
      record.text = graph.name(argument.node());
      break;
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::slice:
    case Kind::complex:
      record.children = record_args(graph, argument);
      break;
    case Kind::symbol:
      record.text = graph.expression_text(argument.expression());
      break;
    case Kind::opaque:
      record.detail = graph.text(argument.detail());
      [[fallthrough]];
    case Kind::string:
    case Kind::dtype:
    case Kind::device:
    case Kind::layout:
    case Kind::memory_format:
    case Kind::op:
    case Kind::raw:
      record.text = graph.text(argument.text());
      break;
  }
  return record;
}

}  // namespace

StorageOwners::StorageOwners(const Graph& graph) : owners_(graph.storage_count()) {
  for (const NodeId id : graph.order()) {
    const auto tensors = graph.tensors(id);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].storage) continue;
      Owner& owner = owners_[tensors[i].storage.index()];
      if (!owner.node) owner = {id, i};
    }
  }
}

ArgumentRecords record_args(const Graph& graph, const Argument& list_or_dict) {
  const auto children = graph.children(list_or_dict);
  ArgumentRecords records;
  records.reserve(children.size());
  for (const Argument& child : children) records.push_back(record_argument(graph, child));
  return records;
}

NodeRecord record_node(const Graph& graph, const StorageOwners& owners, NodeId id) {
  const Node& n = graph.node(id);
  const auto text = [&](StringId given) {
    return given ? std::optional(std::string(graph.text(given))) : std::nullopt;
  };
  const auto flag = [&](Node::Flag has, Node::Flag which) {
    return n.has(has) ? std::optional(n.has(which)) : std::nullopt;
  };
  NodeMarks marks{
      .schema_alias = text(n.schema_alias),
      .custom = text(n.custom),
      .desc = text(n.desc),
      .stack = n.stack ? text(graph.stack(n.stack).text) : std::nullopt,
      .module_from_fwd = flag(Node::has_module_from_fwd, Node::module_from_fwd),
      .partitioner_tag = text(n.partitioner_tag),
      .autograd_backward = flag(Node::has_autograd_backward, Node::autograd_backward),
      .is_gradient_acc = flag(Node::has_gradient_acc, Node::gradient_acc),
      .original_aten = text(n.original_aten),
      .recompute = n.policy == MemoryPolicy::none ? std::nullopt : std::optional(n.policy),
      .extra = std::string(graph.text(n.extra)),
  };
  if (n.module) {
    auto& frames = marks.module.emplace();
    for (const ModuleFrame& frame : graph.frames(graph.module_stack(n.module)))
      frames.emplace_back(graph.text(frame.path), graph.text(frame.type));
  }
  if (n.has(Node::has_seq_nr)) marks.seq_nr = n.seq_nr;
  if (n.has(Node::has_ac_graph_id)) marks.ac_graph_id = n.ac_graph_id;
  NodeRecord record{.name = std::string(graph.text(n.name)), .marks = std::move(marks)};
  if (n.has(Node::has_value)) record.val = record_value(graph, owners, id);
  return record;
}

void record_call(const Graph& graph, const Node& node, NodeRecord& record) {
  if (node.kind != NodeKind::call) record.op = node.kind;
  record.target = std::string(graph.target(node));
  if (node.has(Node::has_args)) record.args = record_args(graph, node.args);
  if (node.has(Node::has_kwargs)) record.kwargs = record_args(graph, node.kwargs);
}

ValueRecord record_value(const Graph& graph, const StorageOwners& owners, NodeId id,
                         const std::function<NamedTensor(StorageOwners::Owner)>& name_owner) {
  ValueRecord record;
  ValueRecorder(graph, owners, id, name_owner).record(graph.node(id).value, record);
  return record;
}

TensorRecord record_tensor(const Graph& graph, NodeId id) {
  TensorRecord record;
  describe(graph, *graph.single_tensor(graph.node(id)), record);
  return record;
}

}  // namespace jointer
