#include "core/edit/from_record.h"

#include <algorithm>

#include "core/base/json_text.h"
#include "core/base/number_text.h"
#include "core/base/utf8.h"
#include "core/edit/refuse.h"
#include "core/graph/replace_inputs.h"
#include "core/graph/size_text.h"
#include "core/graph/storages.h"

namespace jointer {
namespace {

// Builds the arguments and values of one node in a graph.
class Translator {
 public:
  Translator(Graph& graph, PartId part, std::string_view name)
      : graph_(graph), part_(part), name_(name) {}

  Result<Argument> children(Argument::Kind kind, const ArgumentRecords& records) {
    const std::size_t base = arguments_.size();
    for (const ArgumentRecord& record : records) {
      JOINTER_TRY(arguments_.emplace_back(), this->argument(record));
    }
    const Argument result = graph_.make_children(kind, std::span(arguments_).subspan(base));
    arguments_.resize(base);
    return result;
  }

  // Fails if an argument names a node that does not exist.
  [[nodiscard]] Result<void> check_references() const {
    if (missing_.empty()) return {};
    if (missing_ == name_) return refuse("node {} reads itself: the graph is cyclic", name_);
    return refuse("node {} reads {}, but there is no such node", name_, missing_);
  }

  Result<Value> value(const ValueRecord& record) {
    using Kind = Value::Kind;
    switch (record.kind) {
      case Kind::none:
        break;
      case Kind::tensor:
        return tensor(*record.tensor);
      case Kind::list:
      case Kind::dict: {
        const std::size_t base = values_.size();
        for (const ValueRecord& child : record.children) {
          JOINTER_TRY(values_.emplace_back(), this->value(child));
        }
        const Value result = graph_.make_children(record.kind, std::span(values_).subspan(base));
        values_.resize(base);
        return result;
      }
      case Kind::symbol:
        return symbol(record);
      case Kind::opaque:
        return Value::of_opaque(graph_.intern(record.text), detail(record.detail));
      case Kind::key:
      case Kind::constant:
      case Kind::raw:
        return Value::of_text(record.kind, graph_.intern(record.text));
    }
    return Value{};
  }

 private:
  [[nodiscard]] bool is_float(std::string_view expression) const {
    return graph_.part(part_).symbols.is_float_expression(expression);
  }
  StringId detail(std::string_view text) { return text.empty() ? StringId{} : graph_.intern(text); }

  Result<Argument> argument(const ArgumentRecord& record) {
    using Kind = Argument::Kind;
    switch (record.kind) {
      case Kind::none:
        break;
      case Kind::boolean:
        return Argument::of_bool(record.integer != 0);
      case Kind::integer:
        return Argument::of_int(record.integer);
      case Kind::real:
        return Argument::of_real(record.real());
      case Kind::node:
        return node(record.text);
      case Kind::list:
      case Kind::tuple:
      case Kind::dict:
      case Kind::slice:
      case Kind::complex:
        return children(record.kind, record.children);
      case Kind::symbol: {
        if (is_float(record.text))
          return Argument::of_text(Kind::raw, graph_.intern(fmt::format("{{\"symfloat\":{}}}",
                                                                        quoted_json(record.text))));
        JOINTER_TRY(const ExpressionId expression,
                    graph_.intern_expression(part_, record.text, {}));
        return Argument::of_symbol(expression);
      }
      case Kind::opaque:
        return Argument::of_opaque(graph_.intern(record.text), detail(record.detail));
      case Kind::string:
      case Kind::dtype:
      case Kind::device:
      case Kind::layout:
      case Kind::memory_format:
      case Kind::op:
      case Kind::raw:
        return Argument::of_text(record.kind, graph_.intern(record.text));
    }
    return Argument{};
  }

  Argument node(std::string_view name) {
    const NodeId id = graph_.find(part_, name);
    if (!id && missing_.empty()) missing_ = name;
    return Argument::of_node(id);
  }

  Result<Value> symbol(const ValueRecord& record) {
    const std::string& hint = record.detail;
    if (is_real(hint) || is_float(record.text))
      return Value::of_text(
          Value::Kind::raw,
          graph_.intern(fmt::format("{{\"symfloat\":{}{}{}}}", quoted_json(record.text),
                                    hint.empty() ? "" : ",\"hint\":", hint)));
    JOINTER_TRY(const ExpressionId expression, this->expression(record.text, hint));
    return Value::of_symbol(expression);
  }
  Result<ExpressionId> expression(std::string_view text, std::string_view hint) {
    if (!hint.empty() && hint != "null" && !number_of<std::int64_t>(hint))
      return refuse("`{}` is not an integer", first_characters(hint, 40));
    return graph_.intern_expression(part_, text, hint);
  }

  Result<Dim> size(const SizeRecord& record) {
    if (!record.symbol) return Dim{.value = record.value};
    JOINTER_TRY(const ExpressionId expression,
                this->expression(record.symbol->expression, record.symbol->hint));
    return Dim{.value = 0, .expression = expression};
  }
  Result<void> sizes(const std::vector<SizeRecord>& records, std::vector<Dim>& dims) {
    dims.clear();
    for (const SizeRecord& record : records) {
      JOINTER_TRY(dims.emplace_back(), size(record));
    }
    return {};
  }

  Result<Value> tensor(const TensorRecord& record) {
    Tensor tensor;
    tensor.dtype = record.dtype;
    if (!record.device.empty()) tensor.device = graph_.intern_device(record.device);
    JOINTER_CHECK(sizes(record.shape, shape_));
    stride_.clear();
    if (record.stride) {
      JOINTER_CHECK(sizes(*record.stride, stride_));
      tensor.set(Tensor::has_stride);
    }
    Dim offset;
    if (record.offset) {
      JOINTER_TRY(offset, size(*record.offset));
      tensor.set(Tensor::has_offset);
    }
    const auto flag = [&](std::optional<bool> given, Tensor::Flag has, Tensor::Flag which) {
      tensor.set(has, given.has_value());
      tensor.set(which, given.value_or(false));
    };
    flag(record.requires_grad, Tensor::has_requires_grad, Tensor::requires_grad);
    flag(record.conj, Tensor::has_conj, Tensor::conj);
    flag(record.neg, Tensor::has_neg, Tensor::neg);
    if (!record.extra.empty()) tensor.extra = graph_.intern(record.extra);
    JOINTER_TRY(tensor.storage, storage(record, offset));
    tensor.set(Tensor::has_storage);
    own_.push_back(tensor.storage);
    return Value::of_tensor(graph_.add_tensor(tensor, shape_, stride_, offset));
  }

  Result<StorageId> storage(const TensorRecord& tensor, Dim offset) {
    if (!tensor.storage) {
      JOINTER_TRY(const Dim bytes, own_bytes(tensor, offset));
      return graph_.add_storage(part_, bytes);
    }
    const StorageRecord& record = *tensor.storage;
    if (record.bytes) {
      JOINTER_TRY(const Dim bytes, size(*record.bytes));
      return graph_.add_storage(part_, bytes);
    }
    if (record.of == name_) {
      if (record.tensor < own_.size()) return own_[record.tensor];
      return refuse("`storage`: {} has no tensor {} yet", record.of, record.tensor);
    }
    const NodeId owner = graph_.find(part_, record.of);
    if (!owner) return refuse("`storage` names {}, but there is no such node", record.of);
    const auto tensors = graph_.tensors(owner);
    if (record.tensor >= tensors.size() || !tensors[record.tensor].storage)
      return refuse("`storage`: {} has no tensor {}", record.of, record.tensor);
    return tensors[record.tensor].storage;
  }

  // The size of the smallest storage that holds the tensor being built or, if its shape is
  // symbolic, the number of elements times the item size.
  Result<Dim> own_bytes(const TensorRecord& tensor, Dim offset) {
    const auto is_symbolic = [](const Dim& size) { return static_cast<bool>(size.expression); };
    if (std::ranges::none_of(shape_, is_symbolic))
      return Dim{.value =
                     storage_extent(shape_, tensor.stride ? stride_ : contiguous_strides(shape_),
                                    offset, tensor.dtype)};
    std::string product = std::to_string(item_size(tensor.dtype));
    for (const Dim& size : shape_) product += fmt::format("*({})", size_text(graph_, size));
    JOINTER_TRY(const ExpressionId expression, graph_.intern_expression(part_, product, {}));
    return Dim{.value = 0, .expression = expression};
  }

  Graph& graph_;
  PartId part_;
  std::string_view name_;
  std::vector<Argument> arguments_;  // a stack: children of the lists being built
  std::vector<Value> values_;        // a stack: values of the lists being built
  std::vector<Dim> shape_, stride_;  // of the tensor being built
  std::vector<StorageId> own_;       // of the tensors read so far
  std::string_view missing_;         // the first name without a node
};

template <class T>
Result<T> in_member(std::string_view member, Result<T> made) {
  if (made) return made;
  return refuse("`{}`: {}", member, made.error().message);
}

// Sets the node's operator, arguments and value to those that the record gives.
template <class Record>
Result<void> set_call(Graph& graph, const Record& record, Node& node) {
  using Kind = Argument::Kind;
  const std::string name(graph.text(node.name));
  Translator translator(graph, node.part, name);
  if (record.target) node.target = graph.intern_operator(*record.target);
  if (record.args) {
    JOINTER_TRY(node.args, in_member("args", translator.children(Kind::list, *record.args)));
    node.set(Node::has_args);
  }
  if (record.kwargs) {
    JOINTER_TRY(node.kwargs, in_member("kwargs", translator.children(Kind::dict, *record.kwargs)));
    node.set(Node::has_kwargs);
  }
  if (record.val) {
    JOINTER_TRY(node.value, in_member("val", translator.value(*record.val)));
    node.set(Node::has_value);
  }
  return translator.check_references();
}

// Gives the node the call of the node that its record copies, with the inputs replaced as the
// record says.
Result<void> copy_call(Graph& graph, const NodeRecord& record, Node& node) {
  const NodeId id = graph.find(node.part, *record.copy);
  if (!id) return refuse("`copy` names {}, but there is no such node", *record.copy);
  const Node copied = graph.node(id);
  JOINTER_TRY(const CallArguments arguments,
              replace_inputs(graph, copied, record.inputs.value_or(InputNames{})));
  node.kind = copied.kind;
  node.target = copied.target;
  node.args = arguments.args;
  node.kwargs = arguments.kwargs;
  for (const auto flag : {Node::has_args, Node::has_kwargs}) node.set(flag, copied.has(flag));
  return {};
}

ModuleStackId module_stack(Graph& graph, PartId part,
                           const std::vector<std::pair<std::string, std::string>>& module) {
  std::vector<ModuleFrame> frames;
  for (const auto& [path, type] : module)
    frames.push_back({graph.intern(path), graph.intern(type)});
  for (std::size_t i = 0; i < graph.module_stack_count(); ++i) {
    const ModuleStack& known = graph.module_stack(ModuleStackId(i));
    if (known.part == part && std::ranges::equal(graph.frames(known), frames,
                                                 [](const ModuleFrame& a, const ModuleFrame& b) {
                                                   return a.path == b.path && a.type == b.type;
                                                 }))
      return ModuleStackId(i);
  }
  return graph.add_module_stack(part, frames);
}

StackId stack_trace(Graph& graph, PartId part, std::string_view text) {
  const StringId id = graph.intern(text);
  for (std::size_t i = 0; i < graph.stack_count(); ++i)
    if (const StackTrace& known = graph.stack(StackId(i)); known.part == part && known.text == id)
      return StackId(i);
  return graph.add_stack(part, text);
}

// Sets the members that describe the node, except its call.
void set_marks(Graph& graph, const NodeMarks& marks, Node& node) {
  const auto set_text = [&](const std::optional<std::string>& given, StringId& text) {
    if (given) text = graph.intern(*given);
  };
  const auto take_flag = [&](std::optional<bool> given, Node::Flag has, Node::Flag flag) {
    if (!given) return;
    node.set(has);
    node.set(flag, *given);
  };
  if (marks.stack) node.stack = stack_trace(graph, node.part, *marks.stack);
  if (marks.module) node.module = module_stack(graph, node.part, *marks.module);
  take_flag(marks.module_from_fwd, Node::has_module_from_fwd, Node::module_from_fwd);
  take_flag(marks.autograd_backward, Node::has_autograd_backward, Node::autograd_backward);
  take_flag(marks.is_gradient_acc, Node::has_gradient_acc, Node::gradient_acc);
  node.seq_nr = marks.seq_nr.value_or(0);
  node.set(Node::has_seq_nr, marks.seq_nr.has_value());
  node.ac_graph_id = marks.ac_graph_id.value_or(0);
  node.set(Node::has_ac_graph_id, marks.ac_graph_id.has_value());
  node.policy = marks.recompute.value_or(MemoryPolicy::none);
  set_text(marks.partitioner_tag, node.partitioner_tag);
  set_text(marks.original_aten, node.original_aten);
  set_text(marks.schema_alias, node.schema_alias);
  set_text(marks.custom, node.custom);
  set_text(marks.desc, node.desc);
  if (!marks.extra.empty()) node.extra = graph.intern(marks.extra);
}

// Makes `like`, whose id is `id`, the node's origin. The node gets the phase and the flag
// `recomputed` of `like` and, where the record leaves them out, its module, stack trace,
// partitioner tag, annotations, backward mark and sequence number.
void take_after(const Node& like, NodeId id, Node& node) {
  const auto take = [&](Node::Flag has, Node::Flag flag) {
    if (node.has(has) || !like.has(has)) return;
    node.set(has);
    node.set(flag, like.has(flag));
  };
  // If the record marks the node as backward but `like` is in the forward, the node recomputes the
  // forward's value.
  const bool again = node.has(Node::autograd_backward) && like.phase == Phase::forward;
  node.phase = again ? Phase::backward : like.phase;
  node.origin = id;
  node.set(Node::recomputed, again || like.has(Node::recomputed));
  if (!node.module) {
    node.module = like.module;
    take(Node::has_module_from_fwd, Node::module_from_fwd);
  }
  if (!node.stack) node.stack = like.stack;
  if (!node.partitioner_tag) node.partitioner_tag = like.partitioner_tag;
  if (!node.custom) node.custom = like.custom;
  take(Node::has_autograd_backward, Node::autograd_backward);
  if (!node.has(Node::has_seq_nr) && like.has(Node::has_seq_nr)) {
    node.set(Node::has_seq_nr);
    node.seq_nr = like.seq_nr;
  }
}

bool reads_backward(const Graph& graph, const Argument& argument) {
  if (argument.kind == Argument::Kind::node)
    return graph.node(argument.node()).phase == Phase::backward;
  return std::ranges::any_of(graph.children(argument),
                             [&](const Argument& child) { return reads_backward(graph, child); });
}

// Sets the phase from the node's part, its tags and, if it has no partitioner tag, the phases of
// its inputs. In a backward graph, also sets whether the node is recomputed.
void set_phase(const Graph& graph, Node& node) {
  const std::string_view tag = graph.text(node.partitioner_tag);
  bool is_backward = tag == "is_backward" || node.has(Node::has_autograd_backward);
  if (graph.part(node.part).kind == CaptureKind::backward) {
    is_backward = true;
    node.set(Node::recomputed, tag == "is_forward");
  } else if (tag.empty()) {
    is_backward =
        is_backward || reads_backward(graph, node.args) || reads_backward(graph, node.kwargs);
  }
  node.phase = is_backward ? Phase::backward : Phase::forward;
}

}  // namespace

Result<Node> node_of(Graph& graph, PartId part, const NodeRecord& record) {
  if (!record.copy && !record.target) return refuse("`target` is missing");
  if (!record.copy && record.inputs) return refuse("`inputs` needs `copy`");
  if (record.copy && (record.op || record.target || record.args || record.kwargs))
    return refuse("`copy` cannot be used together with `op`, `target`, `args` or `kwargs`");
  Node node;
  node.part = part;
  node.name = graph.intern(record.name);
  node.kind = record.op.value_or(NodeKind::call);
  JOINTER_CHECK(set_call(graph, record, node));
  set_marks(graph, *record.marks, node);
  if (record.copy) JOINTER_CHECK(copy_call(graph, record, node));
  if (record.like.empty()) {
    set_phase(graph, node);
    return node;
  }
  const NodeId like = graph.find(part, record.like);
  if (!like) return refuse("`like` names {}, but there is no such node", record.like);
  take_after(graph.node(like), like, node);
  return node;
}

Result<Node> replaced_call(Graph& graph, const Node& node, const ReplaceCall& replace) {
  Node result = node;
  JOINTER_CHECK(set_call(graph, replace, result));
  return result;
}

}  // namespace jointer
