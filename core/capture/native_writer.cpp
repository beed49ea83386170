#include "core/capture/native_writer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/json_writer.h"

namespace jointer {
namespace {

constexpr std::uint32_t kNoIndex = ~0U;

std::string_view op_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::placeholder:
      return "placeholder";
    case NodeKind::call:
      return "call_function";
    case NodeKind::get_attr:
      return "get_attr";
    case NodeKind::output:
      return "output";
  }
  return "";
}

// Writes one part. Table indices are counted anew, in id order: entries of this part alone.
class PartWriter {
 public:
  PartWriter(const Graph& graph, PartId part, JsonWriter& out)
      : graph_(graph), id_(part), part_(graph.part(part)), out_(out) {
    storages_ = number(graph.storage_count(),
                       [&](std::size_t i) { return graph.storage(StorageId(i)).part == part; });
    modules_ = number(graph.module_stack_count(), [&](std::size_t i) {
      return graph.module_stack(ModuleStackId(i)).part == part;
    });
    stacks_ = number(graph.stack_count(),
                     [&](std::size_t i) { return graph.stack(StackId(i)).part == part; });
  }

  void write() {
    out_.begin_object();
    member("format", "jointer-capture");
    out_.key("version");
    out_.integer(1);
    member("kind", to_string(part_.kind));
    if (part_.present.name || !part_.name.empty()) member("name", part_.name);
    if (!part_.torch_version.empty()) member("torch", part_.torch_version);
    if (part_.rank) integer_member("rank", *part_.rank);
    if (part_.world_size) integer_member("world_size", *part_.world_size);
    raw_member("info", part_.info);
    write_groups();
    raw_member("symbols", symbols());
    raw_member("triton_kernels", part_.triton_kernels);
    raw_member("constants", part_.constants);
    out_.raw_members(part_.extra);
    write_tables();
    out_.key("nodes");
    out_.begin_array();
    for (const NodeId id : graph_.order())
      if (graph_.node(id).part == id_) write_node(graph_.node(id));
    out_.end_array();
    out_.end_object();
  }

 private:
  template <class Belongs>
  static std::vector<std::uint32_t> number(std::size_t count, Belongs belongs) {
    std::vector<std::uint32_t> numbers(count, kNoIndex);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (belongs(i)) numbers[i] = next++;
    return numbers;
  }

  void member(std::string_view key, std::string_view text) {
    out_.key(key);
    out_.string(text);
  }
  void text_member(std::string_view key, StringId text) {
    if (text) member(key, graph_.text(text));
  }
  void integer_member(std::string_view key, std::int64_t number) {
    out_.key(key);
    out_.integer(number);
  }
  void raw_member(std::string_view key, std::string_view json) {
    if (json.empty()) return;
    out_.key(key);
    out_.raw(json);
  }
  void flag_member(std::string_view key, bool present, bool value) {
    if (!present) return;
    out_.key(key);
    out_.boolean(value);
  }

  // The symbols as they were, with the assumptions that a person made since.
  std::string symbols() const {
    const Assumptions& assumed = graph_.assumptions();
    if (assumed.empty()) return part_.symbols_json;
    auto json = nlohmann::json::parse(part_.symbols_json, nullptr, false);
    if (!json.is_object()) json = nlohmann::json::object();
    for (const SymbolValue& symbol : graph_.symbols())
      if (symbol.source == SymbolSource::given) json["assumed"][symbol.name] = symbol.value;
    return json.dump();
  }

  void write_groups();
  void write_tables();
  void write_node(const Node& n);
  void write_argument(const Argument& a);
  void write_pairs(std::span<const Argument> pairs);
  void write_value(const Value& v);
  void write_tensor(const Tensor& t);
  void write_dim(const Dim& dim);
  void write_dims(std::string_view key, std::span<const Dim> dims);
  void write_children(std::span<const Argument> children) {
    out_.begin_array();
    for (const Argument& child : children) write_argument(child);
    out_.end_array();
  }

  const Graph& graph_;
  PartId id_;
  const Part& part_;
  JsonWriter& out_;
  std::vector<std::uint32_t> storages_, modules_, stacks_;
};

void PartWriter::write_groups() {
  bool any = false;
  for (const GroupId id : part_.groups) any = any || !graph_.group(id).derived;
  if (!any && !part_.present.groups) return;
  out_.key("groups");
  out_.begin_object();
  for (const GroupId id : part_.groups) {
    const ProcessGroup& group = graph_.group(id);
    if (group.derived) continue;
    out_.key(graph_.text(group.name));
    out_.begin_object();
    out_.key("ranks");
    out_.begin_array();
    for (const std::int32_t rank : group.ranks) out_.integer(rank);
    out_.end_array();
    text_member("desc", group.desc);
    text_member("backend", group.backend);
    if (group.extra) out_.raw_members(graph_.text(group.extra));
    out_.end_object();
  }
  out_.end_object();
}

void PartWriter::write_tables() {
  const auto table = [&](std::string_view key, bool present,
                         const std::vector<std::uint32_t>& numbers, auto write) {
    const auto mine = [](std::uint32_t number) { return number != kNoIndex; };
    if (!present && std::none_of(numbers.begin(), numbers.end(), mine)) return;
    out_.key(key);
    out_.begin_array();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (mine(numbers[i])) write(i);
    out_.end_array();
  };
  table("storages", part_.present.storages, storages_,
        [&](std::size_t i) { write_dim(graph_.storage(StorageId(i)).bytes); });
  table("modules", part_.present.modules, modules_, [&](std::size_t i) {
    out_.begin_array();
    for (const ModuleFrame& frame : graph_.frames(graph_.module_stack(ModuleStackId(i)))) {
      out_.begin_array();
      out_.string(graph_.text(frame.path));
      out_.string(graph_.text(frame.type));
      out_.end_array();
    }
    out_.end_array();
  });
  table("stacks", part_.present.stacks, stacks_,
        [&](std::size_t i) { out_.string(graph_.text(graph_.stack(StackId(i)).text)); });
}

void PartWriter::write_node(const Node& n) {
  out_.begin_object();
  text_member("name", n.name);
  member("op", op_name(n.kind));
  member("target", graph_.target(n));
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
  if (n.schema_alias) raw_member("schema_alias", graph_.text(n.schema_alias));
  if (n.stack) integer_member("stack", stacks_[n.stack.index()]);
  if (n.module) integer_member("module", modules_[n.module.index()]);
  flag_member("module_from_fwd", n.has(Node::has_module_from_fwd), n.has(Node::module_from_fwd));
  if (n.has(Node::has_seq_nr)) integer_member("seq_nr", n.seq_nr);
  text_member("partitioner_tag", n.partitioner_tag);
  flag_member("autograd_backward", n.has(Node::has_autograd_backward),
              n.has(Node::autograd_backward));
  flag_member("is_gradient_acc", n.has(Node::has_gradient_acc), n.has(Node::gradient_acc));
  if (n.has(Node::has_ac_graph_id)) integer_member("ac_graph_id", n.ac_graph_id);
  text_member("original_aten", n.original_aten);
  if (n.policy != MemoryPolicy::none) member("recompute", to_string(n.policy));
  if (n.custom) raw_member("custom", graph_.text(n.custom));
  if (n.desc) raw_member("desc", graph_.text(n.desc));
  if (n.extra) out_.raw_members(graph_.text(n.extra));
  out_.end_object();
}

void PartWriter::write_pairs(std::span<const Argument> pairs) {
  out_.begin_object();
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    out_.key(graph_.text(pairs[i].text()));
    write_argument(pairs[i + 1]);
  }
  out_.end_object();
}

void PartWriter::write_argument(const Argument& a) {
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
      return wrapped_text("dtype", graph_.text(a.text()));
    case Kind::device:
      return wrapped_text("device", graph_.text(a.text()));
    case Kind::layout:
      return wrapped_text("layout", graph_.text(a.text()));
    case Kind::memory_format:
      return wrapped_text("memory_format", graph_.text(a.text()));
    case Kind::op:
      return wrapped_text("op", graph_.text(a.text()));
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

void PartWriter::write_value(const Value& v) {
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
      member("symint", graph_.expression_text(v.expression()));
      raw_member("hint", graph_.expression_hint(v.expression()));
      break;
    case Kind::constant:
      raw_member("c", graph_.text(v.text()));
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

void PartWriter::write_tensor(const Tensor& t) {
  out_.begin_object();
  write_dims("shape", graph_.shape(t));
  member("dtype", to_string(t.dtype));
  if (t.device) member("device", graph_.text(graph_.device(t.device).name));
  if (t.has(Tensor::has_stride)) write_dims("stride", graph_.stride(t));
  if (t.has(Tensor::has_offset)) {
    out_.key("offset");
    write_dim(graph_.offset(t));
  }
  if (t.has(Tensor::has_storage)) integer_member("storage", storages_[t.storage.index()]);
  flag_member("requires_grad", t.has(Tensor::has_requires_grad), t.has(Tensor::requires_grad));
  flag_member("conj", t.has(Tensor::has_conj), t.has(Tensor::conj));
  flag_member("neg", t.has(Tensor::has_neg), t.has(Tensor::neg));
  if (t.extra) out_.raw_members(graph_.text(t.extra));
  out_.end_object();
}

void PartWriter::write_dim(const Dim& dim) {
  if (!dim.expression) return out_.integer(dim.value);
  out_.begin_object();
  member("sym", graph_.expression_text(dim.expression));
  raw_member("hint", graph_.expression_hint(dim.expression));
  out_.end_object();
}

void PartWriter::write_dims(std::string_view key, std::span<const Dim> dims) {
  out_.key(key);
  out_.begin_array();
  for (const Dim& dim : dims) write_dim(dim);
  out_.end_array();
}

}  // namespace

std::string write_native(const Graph& graph, PartId part) {
  JsonWriter out;
  out.reserve(graph.node_count() * 480);
  PartWriter(graph, part, out).write();
  return out.take();
}

std::string write_native(const Graph& graph) {
  if (!graph.is_pair()) return write_native(graph, PartId(0));
  JsonWriter out;
  out.reserve(graph.node_count() * 480);
  out.begin_object();
  for (const auto& [key, text] :
       {std::pair<std::string_view, std::string_view>{"format", "jointer-capture"},
        {"kind", "pair"},
        {"name", graph.title()}}) {
    out.key(key);
    out.string(text);
  }
  out.key("version");
  out.integer(1);
  out.raw_members(graph.pair_extra());
  out.key("forward");
  PartWriter(graph, PartId(0), out).write();
  out.key("backward");
  PartWriter(graph, PartId(1), out).write();
  out.end_object();
  return out.take();
}

}  // namespace jointer
