#include "core/cost/work_key.h"

#include <fmt/format.h>
#include <array>
#include <charconv>

#include "core/cost/collective_model.h"
#include "core/graph/group_argument.h"
#include "core/graph/storages.h"

namespace jointer {
namespace {

void append(std::string& text, std::int64_t number) {
  if (number >= 0 && number < 10) {
    text += static_cast<char>('0' + number);
    return;
  }
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

void append_layout(std::string& text, std::span<const Dim> shape, std::span<const Dim> stride) {
  if (is_dense(shape, stride)) return;
  std::array<std::uint8_t, 256> buffer;  // a rank fits into a byte
  const std::span order = std::span(buffer).first(shape.size());
  bool expanded = false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    // Insertion sort: tensors have few dimensions, and equal strides keep their order.
    std::size_t at = i;
    for (; at > 0 && stride[order[at - 1]].value < stride[i].value; --at) order[at] = order[at - 1];
    order[at] = static_cast<std::uint8_t>(i);
    expanded = expanded || (stride[i].value == 0 && shape[i].value > 1);
  }
  text += is_dense(shape, stride, [&](std::size_t i) { return order[i]; }) ? '^' : '~';
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0) text += '.';
    append(text, order[i]);
  }
  if (expanded) text += '*';
}

void append_tensor(const Graph& graph, const Tensor& t, std::string& text) {
  const auto shape = graph.shape(t);
  text += short_name(t.dtype);
  text += '[';
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    append(text, shape[i].value);
  }
  text += ']';
  if (t.has(Tensor::has_stride)) append_layout(text, shape, graph.stride(t));
  if (!t.device) return;
  const Device& device = graph.device(t.device);
  if (device.type == graph.main_device()) return;
  // The device type, without the index.
  const std::string_view name = graph.text(device.name);
  text += '@';
  text += name.substr(0, name.find(':'));
}

void append_tensors(const Graph& graph, NodeId id, std::string& text) {
  const auto tensors = graph.tensors(id);
  if (tensors.size() == 1) return append_tensor(graph, tensors.front(), text);
  text += '{';
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0) text += ", ";
    append_tensor(graph, tensors[i], text);
  }
  text += '}';
}

struct ArgumentWriter {
  const Graph& graph;
  std::string& text;
  bool with_reals;

  void children(const Argument& argument, char open, char close) {
    text += open;
    bool first = true;
    for (const Argument& child : graph.children(argument)) {
      if (!first) text += ", ";
      first = false;
      write(child);
    }
    text += close;
  }

  void write(const Argument& argument) {
    using enum Argument::Kind;
    switch (argument.kind) {
      case none:
        text += "None";
        return;
      case boolean:
        text += argument.integer != 0 ? "True" : "False";
        return;
      case integer:
        append(text, argument.integer);
        return;
      case real:
        if (with_reals)
          fmt::format_to(std::back_inserter(text), "{}", argument.real);
        else
          text += '#';
        return;
      case node:
        append_tensors(graph, argument.node(), text);
        return;
      case symbol:
        append(text, graph.expression_value(argument.expression()));
        return;
      case complex:
        text += '#';
        return;
      case list:
      case tuple:
      case slice:
        children(argument, '[', ']');
        return;
      case dict:
        children(argument, '{', '}');
        return;
      case dtype:
      case layout:
      case memory_format:
      case op:
      case string:
      case opaque:
      case raw:
        text += graph.text(argument.text());
        return;
      case device: {
        const std::string_view name = graph.text(argument.text());
        const std::string_view kind = name.substr(0, name.find(':'));
        // A graph captured on a GPU does the same work when it runs on a CPU.
        text += parse_device_type(kind) == graph.main_device() ? "here" : kind;
        return;
      }
    }
  }
};

}  // namespace

void append_work(const Graph& graph, const Node& node, std::string& text) {
  const OperatorInfo& op = graph.op(node);
  text += op.name;
  text += '(';
  ArgumentWriter writer{graph, text, op.packet() == "aten.pow"};
  bool first = true;
  const auto separate = [&] {
    if (!first) text += ", ";
    first = false;
  };
  for (const Argument& argument : graph.args(node)) {
    separate();
    writer.write(argument);
  }
  const auto kwargs = graph.children(node.kwargs);
  for (std::size_t i = 0; i + 1 < kwargs.size(); i += 2) {
    separate();
    writer.write(kwargs[i]);
    text += '=';
    writer.write(kwargs[i + 1]);
  }
  text += ')';
}

CollectiveWork collective_work(const Graph& graph, const Node& collective, DeviceType runs_on,
                               std::int64_t ranks_per_machine) {
  const GroupPlacement placement = place_group(graph, collective, ranks_per_machine);
  CollectiveWork work{.kind = graph.op(collective).collective,
                      .backend = runs_on == DeviceType::cpu ? "gloo" : "nccl",
                      .ranks = known_group_size(graph, collective).value_or(1),
                      .machines = placement.nodes,
                      .bytes = collective_bytes(graph, collective)};
  for (const NodeId input : graph.inputs(collective))
    if (const auto tensors = graph.tensors(input); !tensors.empty()) {
      work.dtype = tensors.front().dtype;
      break;
    }
  return work;
}

DeviceType parse_device_type(std::string_view name) {
  if (name == "cpu") return DeviceType::cpu;
  if (name == "cuda") return DeviceType::cuda;
  return DeviceType::other;
}

}  // namespace jointer
