#include "core/capture/native_node_writer.h"

#include <cmath>

namespace jointer::native {

void write_frames(const Graph& graph, const ModuleStack& stack, JsonWriter& out) {
  out.begin_array();
  for (const ModuleFrame& frame : graph.frames(stack)) {
    out.begin_array();
    out.string(graph.text(frame.path));
    out.string(graph.text(frame.type));
    out.end_array();
  }
  out.end_array();
}

void NodeWriter::write(NodeId id) {
  const Node& n = graph_.node(id);
  out_.begin_object();
  text_member("name", n.name);
  out_.string_member("op", name_in(kNodeOps, n.kind));
  out_.string_member("target", graph_.target(n));
  if (n.has(Node::has_args)) {
    out_.key("args");
    write_children(graph_.args(n));
  }
  if (n.has(Node::has_kwargs)) {
    out_.key("kwargs");
    write_pairs(graph_.children(n.kwargs));
  }
  if (n.has(Node::has_value)) {
    out_.key("val");
    write_value(n.value);
  }
  if (n.schema_alias) out_.raw_member("schema_alias", graph_.text(n.schema_alias));
  if (n.stack) out_.integer_member("stack", tables_.stacks[n.stack.index()]);
  if (n.module) out_.integer_member("module", tables_.modules[n.module.index()]);
  flag_member("module_from_fwd", n.has(Node::has_module_from_fwd), n.has(Node::module_from_fwd));
  if (n.has(Node::has_seq_nr)) out_.integer_member("seq_nr", n.seq_nr);
  text_member("partitioner_tag", n.partitioner_tag);
  flag_member("autograd_backward", n.has(Node::has_autograd_backward),
              n.has(Node::autograd_backward));
  flag_member("is_gradient_acc", n.has(Node::has_gradient_acc), n.has(Node::gradient_acc));
  if (n.has(Node::has_ac_graph_id)) out_.integer_member("ac_graph_id", n.ac_graph_id);
  text_member("original_aten", n.original_aten);
  if (n.policy != MemoryPolicy::none) out_.string_member("recompute", to_string(n.policy));
  if (n.custom) out_.raw_member("custom", graph_.text(n.custom));
  if (n.desc) out_.raw_member("desc", graph_.text(n.desc));
  if (n.extra) out_.raw_members(graph_.text(n.extra));
  out_.end_object();
}

void NodeWriter::write_pairs(std::span<const Argument> pairs) {
  out_.begin_object();
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    out_.key(graph_.text(pairs[i].text()));
    write_argument(pairs[i + 1]);
  }
  out_.end_object();
}

void NodeWriter::write_argument(const Argument& a) {
  using Kind = Argument::Kind;
  const auto wrapped = [&](std::string_view key, auto write) {
    out_.begin_object();
    out_.key(key);
    write();
    out_.end_object();
  };
  const auto wrapped_text = [&](std::string_view key, std::string_view text) {
    wrapped(key, [&] { out_.string(text); });
  };
  const auto wrapped_children = [&](std::string_view key) {
    wrapped(key, [&] { write_children(graph_.children(a)); });
  };
  switch (a.kind) {
    case Kind::none:
      return out_.null();
    case Kind::boolean:
      return out_.boolean(a.integer != 0);
    case Kind::integer:
      return out_.integer(a.integer);
    case Kind::real:
      if (std::isfinite(a.real)) return out_.real(a.real);
      return wrapped_text("f", std::isnan(a.real) ? "nan" : a.real > 0 ? "inf" : "-inf");
    case Kind::string:
      return out_.string(graph_.text(a.text()));
    case Kind::node:
      return wrapped_text("n", graph_.name(a.node()));
    case Kind::list:
      return write_children(graph_.children(a));
    case Kind::tuple:
      return wrapped_children("tuple");
    case Kind::slice:
      return wrapped_children("slice");
    case Kind::complex:
      return wrapped_children("complex");
    case Kind::dict:
      return wrapped("dict", [&] { write_pairs(graph_.children(a)); });
    case Kind::dtype:
    case Kind::device:
    case Kind::layout:
    case Kind::memory_format:
    case Kind::op:
      return wrapped_text(name_in(kTextArguments, a.kind), graph_.text(a.text()));
    case Kind::symbol:
      return wrapped_text("symint", graph_.expression_text(a.expression()));
    case Kind::raw:
      return out_.raw(graph_.text(a.text()));
    case Kind::opaque:
      out_.begin_object();
      text_member("opaque", a.text());
      text_member("repr", a.detail());
      return out_.end_object();
  }
}

void NodeWriter::write_value(const Value& v) {
  using Kind = Value::Kind;
  if (v.kind == Kind::none) return out_.null();
  if (v.kind == Kind::raw) return out_.raw(graph_.text(v.text()));
  out_.begin_object();
  switch (v.kind) {
    case Kind::tensor:
      out_.key("t");
      write_tensor(graph_.tensor(v.tensor()));
      break;
    case Kind::list:
      out_.key("list");
      out_.begin_array();
      for (const Value& child : graph_.children(v)) write_value(child);
      out_.end_array();
      break;
    case Kind::dict: {
      out_.key("dict");
      out_.begin_object();
      const auto pairs = graph_.children(v);
      for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        out_.key(graph_.text(pairs[i].text()));
        write_value(pairs[i + 1]);
      }
      out_.end_object();
      break;
    }
    case Kind::symbol:
      out_.string_member("symint", graph_.expression_text(v.expression()));
      out_.raw_member("hint", graph_.expression_hint(v.expression()));
      break;
    case Kind::constant:
      out_.raw_member("c", graph_.text(v.text()));
      break;
    case Kind::opaque:
      text_member("opaque", v.text());
      text_member("repr", v.detail());
      break;
    case Kind::none:
    case Kind::key:
    case Kind::raw:
      break;
  }
  out_.end_object();
}

void NodeWriter::write_tensor(const Tensor& t) {
  out_.begin_object();
  write_dims("shape", graph_.shape(t));
  out_.string_member("dtype", to_string(t.dtype));
  if (t.device) out_.string_member("device", graph_.text(graph_.device(t.device).name));
  if (t.has(Tensor::has_stride)) write_dims("stride", graph_.stride(t));
  if (t.has(Tensor::has_offset)) {
    out_.key("offset");
    write_dim(graph_.offset(t));
  }
  if (t.has(Tensor::has_storage))
    out_.integer_member("storage", tables_.storages[t.storage.index()]);
  flag_member("requires_grad", t.has(Tensor::has_requires_grad), t.has(Tensor::requires_grad));
  flag_member("conj", t.has(Tensor::has_conj), t.has(Tensor::conj));
  flag_member("neg", t.has(Tensor::has_neg), t.has(Tensor::neg));
  if (t.extra) out_.raw_members(graph_.text(t.extra));
  out_.end_object();
}

void NodeWriter::write_dim(const Dim& dim) {
  if (!dim.expression) return out_.integer(dim.value);
  out_.begin_object();
  out_.string_member("sym", graph_.expression_text(dim.expression));
  out_.raw_member("hint", graph_.expression_hint(dim.expression));
  out_.end_object();
}

void NodeWriter::write_dims(std::string_view key, std::span<const Dim> dims) {
  out_.key(key);
  out_.begin_array();
  for (const Dim& dim : dims) write_dim(dim);
  out_.end_array();
}

}  // namespace jointer::native
