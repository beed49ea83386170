// Reads a record like a node of a native capture, except for the entries of a capture's tables:
// modules, stacks and storages are looked up in the graph or added to it.

#include "core/capture/node_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/capture/native_node_writer.h"
#include "core/capture/native_nodes.h"
#include "core/graph/replace_inputs.h"
#include "core/graph/storages.h"

namespace jointer {

using native::give_up;
namespace json = native::json;
using Json = nlohmann::json;

struct RecordParser::Buffers {
  json::parser parser;
  std::string text;  // the record, with the padding that simdjson needs

  json::document iterate(std::string_view record) {
    text.assign(record);
    text.reserve(record.size() + simdjson::SIMDJSON_PADDING);
    return parser.iterate(text);
  }
};

RecordParser::RecordParser() : buffers_(std::make_unique<Buffers>()) {}
RecordParser::~RecordParser() = default;

namespace {

class RecordReader : public native::NodeReader {
 public:
  RecordReader(Graph& graph, PartId part, RecordParser& parser)
      : NodeReader(graph, part, kNoTables), buffers_(parser.buffers()) {
    kind_ = NodeKind::call;
  }

  Node read_record(std::string_view text) {
    json::document document = buffers_.iterate(text);
    std::string_view name;
    const auto found = document.get_object().find_field_unordered("name").get_string().get(name);
    if (found != simdjson::SUCCESS && found != simdjson::NO_SUCH_FIELD)
      throw simdjson::simdjson_error(found);
    self_ = name;
    document.rewind();
    Node node;
    try {
      node = parse(document.get_object());
      check_references();
    } catch (native::Failure& failure) {
      const std::string at = place();
      const std::string self = fmt::format("node {}: ", self_);
      give_up("{}{}", at.starts_with(self) ? at.substr(self.size()) : at, failure.message);
    }
    if (copied_) {
      take_call(node);
    } else if (has_inputs_) {
      give_up("`inputs` needs `copy`");
    }
    if (like_.empty()) {
      set_phase(node);
      return node;
    }
    const NodeId like = graph_.find(part_, like_);
    if (!like) give_up("`like` names {}, but there is no such node", like_);
    take_after(node, graph_.node(like), like);
    return node;
  }

 private:
  static constexpr native::Tables kNoTables{};

  void read_member(Node& node, std::string_view key, json::value value) override {
    if (key == "like") {
      like_ = native::get_text(value);
    } else if (key == "copy") {
      if (value.type() != json::json_type::string) give_up("expected the name of a node");
      copied_ = native::get_text(value);
      needs_target_ = false;
    } else if (key == "inputs") {
      has_inputs_ = true;
      read_inputs(value);
    } else {
      NodeReader::read_member(node, key, value);
    }
  }

  void read_inputs(json::value value) {
    constexpr const char* kExpected = "expected an object with the name of a node per input";
    if (value.type() != json::json_type::object) give_up("{}", kExpected);
    for (json::field input : value.get_object()) {
      std::string old_name(std::string_view(input.unescaped_key()));
      json::value new_name = input.value();
      if (new_name.type() != json::json_type::string) give_up("{}", kExpected);
      inputs_.emplace_back(std::move(old_name), native::get_text(new_name));
    }
  }

  // Gives the node the call of the node that it copies.
  void take_call(Node& node) {
    if (has_op_ || node.target || node.has(Node::has_args) || node.has(Node::has_kwargs))
      give_up("`copy` cannot be used together with `op`, `target`, `args` or `kwargs`");
    const NodeId id = graph_.find(part_, *copied_);
    if (!id) give_up("`copy` names {}, but there is no such node", *copied_);
    const Node copied = graph_.node(id);
    const auto arguments = replace_inputs(graph_, copied, inputs_);
    if (!arguments) give_up("{}", arguments.error().message);
    node.kind = copied.kind;
    node.target = copied.target;
    node.args = arguments->args;
    node.kwargs = arguments->kwargs;
    for (const auto flag : {Node::has_args, Node::has_kwargs}) node.set(flag, copied.has(flag));
  }

  ModuleStackId read_module(json::value value) override {
    std::vector<ModuleFrame> frames;
    const auto text = [&](json::value part) {
      if (part.type() != json::json_type::string) give_up("expected a list of [path, class]");
      return graph_.intern(native::get_text(part));
    };
    if (value.type() != json::json_type::array) give_up("expected a list of [path, class]");
    for (json::value frame : value.get_array()) {
      std::vector<StringId> texts;
      if (frame.type() != json::json_type::array) give_up("expected a list of [path, class]");
      for (json::value each : frame.get_array()) texts.push_back(text(each));
      if (texts.size() != 2) give_up("expected a list of [path, class]");
      frames.push_back({texts[0], texts[1]});
    }
    for (std::size_t i = 0; i < graph_.module_stack_count(); ++i) {
      const ModuleStack& known = graph_.module_stack(ModuleStackId(i));
      const auto of = graph_.frames(known);
      if (known.part == part_ && std::equal(of.begin(), of.end(), frames.begin(), frames.end(),
                                            [](const ModuleFrame& a, const ModuleFrame& b) {
                                              return a.path == b.path && a.type == b.type;
                                            }))
        return ModuleStackId(i);
    }
    return graph_.add_module_stack(part_, frames);
  }

  StackId read_stack(json::value value) override {
    if (value.type() != json::json_type::string) give_up("expected a string");
    const std::string_view text = native::get_text(value);
    for (std::size_t i = 0; i < graph_.stack_count(); ++i)
      if (const StackTrace& known = graph_.stack(StackId(i));
          known.part == part_ && graph_.text(known.text) == text)
        return StackId(i);
    return graph_.add_stack(part_, text);
  }

  StorageId read_storage(json::value value) override {
    own_.push_back(named_storage(value));
    return own_.back();
  }
  StorageId unnamed_storage(const Tensor& tensor, Dim offset) override {
    own_.push_back(graph_.add_storage(part_, bytes_of(tensor, offset)));
    return own_.back();
  }

  StorageId named_storage(json::value value) {
    std::optional<std::string> of;
    std::optional<Dim> bytes;
    std::int64_t number = 0;
    if (value.type() == json::json_type::object)
      for (json::field field : value.get_object()) {
        const std::string_view key = field.unescaped_key();
        json::value member = field.value();
        if (key == "bytes")
          bytes = read_dim(member);
        else if (key == "of" && member.type() == json::json_type::string)
          of = native::get_text(member);
        else if (key == "tensor")
          number = native::get_int(member);
      }
    if (bytes) return graph_.add_storage(part_, *bytes);
    if (!of) give_up("`storage` is {{\"of\": NODE}}, {{\"bytes\": N}}, or left out");
    if (number < 0) give_up("`storage`: expected the number of a tensor");
    const auto index = static_cast<std::size_t>(number);
    if (*of == self_) {
      if (index >= own_.size()) give_up("`storage`: {} has no tensor {} yet", *of, index);
      return own_[index];
    }
    const NodeId owner = graph_.find(part_, *of);
    if (!owner) give_up("`storage` names {}, but there is no such node", *of);
    const auto tensors = graph_.tensors(owner);
    if (index >= tensors.size() || !tensors[index].storage)
      give_up("`storage`: {} has no tensor {}", *of, index);
    return tensors[index].storage;
  }

  // Bytes of the smallest storage for the tensor; for symbolic sizes, elements times item size.
  Dim bytes_of(const Tensor& tensor, Dim offset) {
    const auto is_symbolic = [](const Dim& size) { return static_cast<bool>(size.expression); };
    if (std::ranges::none_of(shape_, is_symbolic)) {
      const std::vector<Dim> strides =
          tensor.has(Tensor::has_stride) ? stride_ : contiguous_strides(shape_);
      return {.value = storage_extent(shape_, strides, offset, tensor.dtype), .expression = {}};
    }
    std::string product = std::to_string(item_size(tensor.dtype));
    for (const Dim& size : shape_)
      product += size.expression ? fmt::format("*({})", graph_.expression_text(size.expression))
                                 : fmt::format("*({})", size.value);
    const auto expression = graph_.intern_expression(part_, product, {});
    if (!expression) give_up("{}", expression.error().message);
    return {.value = 0, .expression = *expression};
  }

  void take_after(Node& node, const Node& like, NodeId id) {
    const auto take = [&](Node::Flag has, Node::Flag flag) {
      if (node.has(has) || !like.has(has)) return;
      node.set(has);
      node.set(flag, like.has(flag));
    };
    // If the record itself places the node in the backward, the node recomputes the forward's
    // value.
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

  // Sets the phase as derive_phases would.
  void set_phase(Node& node) {
    const std::string_view tag = graph_.text(node.partitioner_tag);
    bool is_backward = tag == "is_backward" || node.has(Node::has_autograd_backward);
    if (graph_.part(part_).kind == CaptureKind::backward) {
      is_backward = true;
      node.set(Node::recomputed, tag == "is_forward");
    } else if (tag.empty()) {
      is_backward = is_backward || reads_backward(node.args) || reads_backward(node.kwargs);
    }
    node.phase = is_backward ? Phase::backward : Phase::forward;
  }
  bool reads_backward(const Argument& argument) const {
    if (argument.kind == Argument::Kind::node)
      return graph_.node(argument.node()).phase == Phase::backward;
    const auto children = graph_.children(argument);
    return std::any_of(children.begin(), children.end(),
                       [&](const Argument& child) { return reads_backward(child); });
  }

  RecordParser::Buffers& buffers_;
  std::string self_, like_;
  std::optional<std::string> copied_;
  bool has_inputs_ = false;
  std::vector<std::pair<std::string, std::string>> inputs_;
  std::vector<StorageId> own_;  // of the tensors read so far
};

}  // namespace

Result<Node> read_node_record(Graph& graph, PartId part, std::string_view json,
                              RecordParser& parser) {
  try {
    return RecordReader(graph, part, parser).read_record(json);
  } catch (const native::Failure& failure) {
    return fail(Error::Kind::usage, "{}", failure.message);
  } catch (const std::exception& error) {  // simdjson's and nlohmann's
    return fail(Error::Kind::usage, "it is not valid JSON: {}", error.what());
  }
}

Result<Node> read_call(Graph& graph, const Node& node, const CallText& text, RecordParser& parser) {
  std::string json = fmt::format("{{\"name\":{}", Json(graph.text(node.name)).dump());
  const auto add = [&](std::string_view key, const std::string* value) {
    if (value != nullptr) json += fmt::format(",\"{}\":{}", key, *value);
  };
  const std::string target =
      Json(text.target != nullptr ? *text.target : std::string(graph.target(node)))
          .dump(-1, ' ', false, Json::error_handler_t::replace);
  add("target", &target);
  add("args", text.args);
  add("kwargs", text.kwargs);
  add("val", text.val);
  JOINTER_TRY(const Node read, read_node_record(graph, node.part, json + "}", parser));
  Node result = node;
  result.target = read.target;
  if (text.args != nullptr) result.args = read.args;
  if (text.kwargs != nullptr) result.kwargs = read.kwargs;
  if (text.val != nullptr) result.value = read.value;
  for (const auto& [given, flag] : {std::pair{text.args, Node::has_args},
                                    {text.kwargs, Node::has_kwargs},
                                    {text.val, Node::has_value}})
    if (given != nullptr) result.set(flag);
  return result;
}

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

std::string write_node_record(const Graph& graph, const StorageOwners& owners, NodeId id,
                              const RecordCopy* copy) {
  JsonWriter out;
  native::NodeWriter(graph, owners, out).write(id, copy);
  return out.take();
}

namespace {

template <class Write>
std::string written(const Graph& graph, const StorageOwners& owners, const RecordNames& names,
                    Write write) {
  JsonWriter out;
  native::NodeWriter writer(graph, owners, out, &names);
  write(writer);
  return out.take();
}

}  // namespace

CallRecord write_call(const Graph& graph, const StorageOwners& owners, NodeId id,
                      const RecordNames& names) {
  using Writer = native::NodeWriter;
  return {.args = written(graph, owners, names, [&](Writer& w) { w.write_args(id); }),
          .kwargs = written(graph, owners, names, [&](Writer& w) { w.write_kwargs(id); }),
          .val = write_value(graph, owners, id, names)};
}

std::string write_value(const Graph& graph, const StorageOwners& owners, NodeId id,
                        const RecordNames& names) {
  return written(graph, owners, names, [&](native::NodeWriter& w) { w.write_value(id); });
}

void write_value(const Graph& graph, const StorageOwners& owners, NodeId id,
                 const RecordNames& names, JsonWriter& out) {
  native::NodeWriter(graph, owners, out, &names).write_value(id);
}

}  // namespace jointer
