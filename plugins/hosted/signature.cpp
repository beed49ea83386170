#include "plugins/hosted/signature.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/graph/derive.h"

namespace jointer {
namespace {

std::string tensor_text(const Graph& graph, const Tensor& tensor) {
  std::string text = fmt::format("{}[", short_name(tensor.dtype));
  for (const Dim& size : graph.shape(tensor)) {
    if (!text.ends_with('[')) text += ", ";
    text += size.expression ? std::string(graph.expression_text(size.expression))
                            : fmt::format("{}", size.value);
  }
  text += ']';
  return tensor.device ? fmt::format("{} on {}", text, graph.text(graph.device(tensor.device).name))
                       : text;
}

// "bf16[8, 16] on cuda:0", or "no tensor".
std::string value_text(const Graph& graph, NodeId id) {
  const Tensor* tensor = graph.single_tensor(graph.node(id));
  return tensor == nullptr ? std::string("no tensor") : tensor_text(graph, *tensor);
}

bool same_value(const Graph& a, NodeId of_a, const Graph& b, NodeId of_b) {
  const Tensor *one = a.single_tensor(a.node(of_a)), *other = b.single_tensor(b.node(of_b));
  if (one == nullptr || other == nullptr) return one == other;
  return one->dtype == other->dtype && a.device_type(*one) == b.device_type(*other) &&
         std::ranges::equal(a.shape(*one), b.shape(*other), {}, &Dim::value, &Dim::value);
}

class Signature {
 public:
  Signature(const Graph& graph, PartId part) {
    std::vector<bool> is_saved(graph.node_count(), false);
    for (const NodeId id : graph.order())
      if (const NodeId partner = graph.node(id).partner) is_saved[partner.index()] = true;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (node.part != part) continue;
      if (node.kind == NodeKind::placeholder && !node.partner) inputs.push_back(id);
      if (node.kind == NodeKind::output) output = id;
    }
    for (const OutputEntry& entry : derive_outputs(graph, part))
      if (!entry.node || !is_saved[entry.node.index()]) outputs.push_back(entry.node);
  }

  // Without values saved for backward. An invalid id stands for an output of None.
  std::vector<NodeId> inputs, outputs;
  NodeId output;
};

class Comparison {
 public:
  Comparison(const Graph& given, const Graph& result, PartId part)
      : given_(given), result_(result), was_(given, part), is_(result, part) {
    if (given.is_pair()) half_ = part.index() == 0 ? " of the forward" : " of the backward";
  }

  [[nodiscard]] const Signature& was() const { return was_; }
  [[nodiscard]] const Signature& is() const { return is_; }

  Result<void> check() const {
    JOINTER_CHECK(check_inputs());
    return check_outputs();
  }

 private:
  Result<void> check_inputs() const {
    const auto name = [](const Graph& graph) {
      return [&graph](NodeId id) { return graph.name(id); };
    };
    const auto lacks = [&](const Graph& graph, const std::vector<NodeId>& inputs, NodeId id,
                           const Graph& of) {
      return std::ranges::find(inputs, of.name(id), name(graph)) == inputs.end();
    };
    for (const NodeId id : was_.inputs)
      if (lacks(result_, is_.inputs, id, given_))
        return refuse("removed the input {}{}", given_.name(id), half_);
    for (const NodeId id : is_.inputs)
      if (lacks(given_, was_.inputs, id, result_))
        return refuse("added the input {}{}", result_.name(id), half_);
    for (std::size_t i = 0; i < was_.inputs.size(); ++i) {
      const NodeId was = was_.inputs[i], is = is_.inputs[i];
      if (given_.name(was) != result_.name(is))
        return refuse("changed the order of the inputs{}: {} is in the position of {}", half_,
                      result_.name(is), given_.name(was));
      if (!same_value(given_, was, result_, is))
        return refuse("changed the input {}{} from {} to {}", result_.name(is), half_,
                      value_text(given_, was), value_text(result_, is));
    }
    return {};
  }

  Result<void> check_outputs() const {
    if (was_.outputs.size() != is_.outputs.size())
      return refuse("returned {}{} instead of {}", counted(is_.outputs.size(), "output"), half_,
                    was_.outputs.size());
    for (std::size_t i = 0; i < was_.outputs.size(); ++i) {
      const NodeId was = was_.outputs[i], is = is_.outputs[i];
      if (was && !is)
        return refuse("returned None as output {}{} instead of {}", i, half_, given_.name(was));
      if (!was && is)
        return refuse("returned {} as output {}{} instead of None", result_.name(is), i, half_);
      if (was && !same_value(given_, was, result_, is))
        return refuse("returned {} ({}) as output {}{} instead of {} ({})", result_.name(is),
                      value_text(result_, is), i, half_, given_.name(was), value_text(given_, was));
    }
    return {};
  }

  template <class... Args>
  static tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) {
    return fail(Error::Kind::run, "{}; a pass must keep the graph's inputs and outputs",
                fmt::format(format, std::forward<Args>(args)...));
  }

  const Graph &given_, &result_;
  Signature was_, is_;
  std::string_view half_;
};

// Copies the descriptors of the given graph to the result. Returns true if any descriptor differed.
bool copy_descriptors(const Graph& given, const Signature& was, Graph& result,
                      const Signature& is) {
  bool any = false;
  const auto take = [&](NodeId from, NodeId to) {
    const std::string_view desc = given.text(given.node(from).desc);
    if (desc == result.text(result.node(to).desc)) return;
    result.node(to).desc = desc.empty() ? StringId() : result.intern(desc);
    any = true;
  };
  for (std::size_t i = 0; i < was.inputs.size(); ++i) take(was.inputs[i], is.inputs[i]);
  const PartId part = given.node(was.output).part;
  if (given.part(part).outputs.size() == result.part(part).outputs.size())
    take(was.output, is.output);
  return any;
}

}  // namespace

Result<void> keep_signature(const Graph& given, Graph& result) {
  if (given.part_count() != result.part_count()) return {};
  std::vector<Comparison> parts;
  for (std::size_t i = 0; i < given.part_count(); ++i) {
    parts.emplace_back(given, result, PartId(i));
    JOINTER_CHECK(parts.back().check());
  }
  bool any = false;
  for (const Comparison& each : parts)
    any = copy_descriptors(given, each.was(), result, each.is()) || any;
  if (!any) return {};
  derive_roles(result);
  return link_pair(result);
}

}  // namespace jointer
