// A record is turned into a node of a native capture whose tables are the graph's own: modules,
// stacks and storages are looked up or added, their places take their numbers, and the reader of
// captures does the rest. Arguments are passed on as they stand, so that no number changes.

#include "core/capture/node_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/capture/native_node_writer.h"
#include "core/capture/native_nodes.h"
#include "core/graph/storages.h"

namespace jointer {
namespace {

using native::give_up;
using Json = nlohmann::json;

// Members of a record, the rest of which is already a capture's.
struct Members {
  std::string name, like, val, module, stack;
  std::string rest;  // `"key":value,...`
  bool has_op = false;
};

class RecordReader {
 public:
  RecordReader(Graph& graph, PartId part) : graph_(graph), part_(part) {}

  Node read(std::string_view text) {
    Members members = split(text);
    NodeId like;
    if (!members.like.empty()) {
      like = graph_.find(part_, members.like);
      if (!like) give_up("it is like {}, but there is no such node", members.like);
    }
    std::string json = members.rest;
    const auto add = [&](std::string_view key, std::string_view value) {
      json += fmt::format("{}\"{}\":{}", json.empty() ? "" : ",", key, value);
    };
    if (!members.has_op) add("op", "\"call_function\"");
    if (!members.module.empty()) add("module", std::to_string(module(members.module).index()));
    if (!members.stack.empty()) add("stack", std::to_string(stack(members.stack).index()));
    if (!members.val.empty()) add("val", value(members.val, members.name));
    const native::Tables tables{.storages = {0, graph_.storage_count()},
                                .modules = {0, graph_.module_stack_count()},
                                .stacks = {0, graph_.stack_count()}};
    native::NodeReader reader(graph_, part_, tables);
    simdjson::padded_string padded("{" + json + "}");
    simdjson::ondemand::document document = parser_.iterate(padded);
    Node node;
    try {
      node = reader.parse(document.get_object());
      reader.check_references();
    } catch (native::Failure& failure) {
      const std::string place = reader.place();
      const std::string self = fmt::format("node {}: ", members.name);
      give_up("{}{}", place.starts_with(self) ? place.substr(self.size()) : place, failure.message);
    }
    if (like)
      take_after(node, graph_.node(like), like);
    else
      set_phase(node);
    return node;
  }

 private:
  Members split(std::string_view text) {
    Members members;
    simdjson::padded_string padded(text);
    simdjson::ondemand::document document = parser_.iterate(padded);
    for (simdjson::ondemand::field field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      simdjson::ondemand::value value = field.value();
      if (key == "like") {
        members.like = native::get_text(value);
        continue;
      }
      const std::string_view raw = native::raw(value);
      native::check_json(raw);
      if (key == "val")
        members.val = raw;
      else if (key == "module")
        members.module = raw;
      else if (key == "stack")
        members.stack = raw;
      else
        members.rest += fmt::format("{}{}:{}", members.rest.empty() ? "" : ",",
                                    Json(std::string(key)).dump(), raw);
      if (key == "op") members.has_op = true;
      if (key == "name") members.name = Json::parse(raw).get<std::string>();
    }
    return members;
  }

  ModuleStackId module(std::string_view text) {
    std::vector<ModuleFrame> frames;
    for (const Json& frame : Json::parse(text)) {
      if (!frame.is_array() || frame.size() != 2 || !frame[0].is_string() || !frame[1].is_string())
        give_up("`module`: a list of [path, class] is expected");
      frames.push_back(
          {graph_.intern(frame[0].get<std::string>()), graph_.intern(frame[1].get<std::string>())});
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

  StackId stack(std::string_view json) {
    const Json parsed = Json::parse(json);
    if (!parsed.is_string()) give_up("`stack`: a text is expected");
    const std::string text = parsed.get<std::string>();
    for (std::size_t i = 0; i < graph_.stack_count(); ++i)
      if (const StackTrace& known = graph_.stack(StackId(i));
          known.part == part_ && graph_.text(known.text) == text)
        return StackId(i);
    return graph_.add_stack(part_, text);
  }

  // The value with numbers of storages.
  std::string value(std::string_view text, std::string_view name) {
    Json json = Json::parse(text);
    std::vector<StorageId> own;
    number_storages(json, name, own);
    return json.dump();
  }

  void number_storages(Json& value, std::string_view name, std::vector<StorageId>& own) {
    if (!value.is_object()) return;
    if (auto t = value.find("t"); t != value.end() && t->is_object()) {
      own.push_back(storage(*t, name, own));
      (*t)["storage"] = own.back().index();
    }
    if (auto list = value.find("list"); list != value.end() && list->is_array())
      for (Json& element : *list) number_storages(element, name, own);
    if (auto dict = value.find("dict"); dict != value.end() && dict->is_object())
      for (auto& [key, element] : dict->items()) number_storages(element, name, own);
  }

  StorageId storage(const Json& tensor, std::string_view name, std::span<const StorageId> own) {
    const auto given = tensor.find("storage");
    if (given == tensor.end()) return graph_.add_storage(part_, bytes_of(tensor));
    if (given->is_object() && given->contains("bytes"))
      return graph_.add_storage(part_, dim((*given)["bytes"]));
    if (!given->is_object() || !given->contains("of") || !(*given)["of"].is_string())
      give_up("`storage` is {{\"of\": NODE}}, {{\"bytes\": N}}, or left out");
    const std::string of = (*given)["of"].get<std::string>();
    std::size_t number = 0;
    if (const auto index = given->find("tensor"); index != given->end()) {
      if (!index->is_number_unsigned()) give_up("`storage`: a tensor's number is expected");
      number = index->get<std::size_t>();
    }
    if (of == name) {
      if (number >= own.size()) give_up("`storage`: {} has no tensor {} yet", of, number);
      return own[number];
    }
    const NodeId owner = graph_.find(part_, of);
    if (!owner) give_up("`storage` is of {}, but there is no such node", of);
    const auto tensors = graph_.tensors(owner);
    if (number >= tensors.size() || !tensors[number].storage)
      give_up("`storage`: {} has no tensor {}", of, number);
    return tensors[number].storage;
  }

  Dim dim(const Json& json) {
    if (json.is_number_integer()) return {.value = json.get<std::int64_t>(), .expression = {}};
    if (!json.is_object() || !json.contains("sym") || !json["sym"].is_string())
      give_up("`bytes`: a number or a symbolic size is expected");
    const Json hint = json.value("hint", Json());
    const auto expression = graph_.intern_expression(
        part_, json["sym"].get<std::string>(), json.contains("hint") ? hint.dump() : std::string());
    if (!expression) give_up("{}", expression.error().message);
    return {.value = 0, .expression = *expression};
  }

  // Of a storage that just holds the tensor. Of a symbolic size: elements times item size.
  Dim bytes_of(const Json& tensor) {
    const auto dtype = parse_dtype(tensor.value("dtype", ""));
    const Json shape = tensor.value("shape", Json::array());
    if (!dtype || !shape.is_array()) return {};  // the reader of captures says what is wrong
    std::vector<Dim> sizes, strides;
    std::string product = std::to_string(item_size(*dtype));
    bool is_symbolic = false;
    for (const Json& size : shape) {
      is_symbolic = is_symbolic || size.is_object();
      const std::string text = size.is_object() ? size.value("sym", std::string("0")) : size.dump();
      product += fmt::format("*({})", text);
      sizes.push_back(
          {.value = size.is_number_integer() ? size.get<std::int64_t>() : 0, .expression = {}});
    }
    if (is_symbolic) return dim({{"sym", product}});
    Dim offset;
    if (const Json given = tensor.value("offset", Json()); given.is_number_integer())
      offset.value = given.get<std::int64_t>();
    if (const Json given = tensor.value("stride", Json()); given.is_array())
      for (const Json& step : given)
        strides.push_back(
            {.value = step.is_number_integer() ? step.get<std::int64_t>() : 0, .expression = {}});
    if (strides.size() != sizes.size()) strides = contiguous_strides(sizes);
    return {.value = storage_extent(sizes, strides, offset, *dtype), .expression = {}};
  }

  void take_after(Node& node, const Node& like, NodeId id) {
    const auto take = [&](Node::Flag has, Node::Flag flag) {
      if (node.has(has) || !like.has(has)) return;
      node.set(has);
      node.set(flag, like.has(flag));
    };
    // The record may put it into the backward itself: it then makes the forward's value again.
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

  // As derive_phases would find it.
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

  Graph& graph_;
  PartId part_;
  simdjson::ondemand::parser parser_;
};

}  // namespace

Result<Node> read_node_record(Graph& graph, PartId part, std::string_view json) {
  try {
    return RecordReader(graph, part).read(json);
  } catch (const native::Failure& failure) {
    return fail(Error::Kind::usage, "{}", failure.message);
  } catch (const std::exception& error) {  // simdjson's and nlohmann's
    return fail(Error::Kind::usage, "it is no valid JSON: {}", error.what());
  }
}

Result<Node> read_call(Graph& graph, const Node& node, const CallText& text) {
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
  JOINTER_TRY(const Node read, read_node_record(graph, node.part, json + "}"));
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

std::string write_node_record(const Graph& graph, const StorageOwners& owners, NodeId id) {
  JsonWriter out;
  native::NodeWriter(graph, owners, out).write(id);
  return out.take();
}

CallRecord write_call(const Graph& graph, const StorageOwners& owners, NodeId id) {
  const auto written = [&](auto write) {
    JsonWriter out;
    native::NodeWriter writer(graph, owners, out);
    write(writer);
    return out.take();
  };
  return {.args = written([&](native::NodeWriter& w) { w.write_args(id); }),
          .kwargs = written([&](native::NodeWriter& w) { w.write_kwargs(id); }),
          .val = written([&](native::NodeWriter& w) { w.write_value(id); })};
}

}  // namespace jointer
