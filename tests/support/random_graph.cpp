#include "tests/support/random_graph.h"

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>

#include "core/graph/complete.h"
#include "core/graph/storages.h"

namespace jointer::test {
namespace {

// All tensors are [rows, 16]: a schedule depends on the edges, not on the shapes.
constexpr std::int64_t kColumns = 16;

class Builder {
 public:
  Builder(Graph& graph, std::mt19937_64& chance, const RandomGraphOptions& options,
          CaptureKind kind)
      : graph_(graph),
        chance_(chance),
        options_(options),
        kind_(kind),
        part_(graph.add_part({.kind = kind, .name = "random." + std::string(to_string(kind))})),
        storages_(graph, part_) {
    Part& part = graph_.part(part_);
    part.present = {.name = true, .groups = true, .storages = true, .modules = true};
    if (options_.symbols) {
      part.symbols.variables.push_back({.name = "s0", .min = 1, .max = 4096, .hint = pick(1, 64)});
      part.symbols_json = fmt::format(R"({{"vars":{{"s0":{{"min":1,"max":4096,"hint":{}}}}}}})",
                                      *part.symbols.variables.front().hint);
    }
    add_groups();
    for (int i = 0; i < 4; ++i) {
      const std::string path = fmt::format("L['self'].layers.{}.block", i);
      const std::array<ModuleFrame, 2> frames{
          ModuleFrame{graph_.intern("L['self']"), graph_.intern("Model")},
          ModuleFrame{graph_.intern(path), graph_.intern("nn.Block")}};
      modules_.push_back(graph_.add_module_stack(part_, frames));
    }
  }

  void placeholder(const std::string& name, std::string_view desc) {
    Node n = make(name, name, NodeKind::placeholder);
    if (!desc.empty()) n.desc = graph_.intern(desc);
    if (name.starts_with("tangents")) n.partitioner_tag = graph_.intern("is_backward");
    const NodeId id = finish(n, {{.rows = rows(), .device = pick(0, 9) == 0 ? "cpu" : "cuda:0"}});
    if (!name.starts_with("tangents")) inputs_.push_back(id);
  }

  // Adds a value that the forward saves: a placeholder with its name, shape, dtype and device.
  void saved(const Graph& of, NodeId id) {
    const Tensor& t = of.tensors(id).front();
    const Dim size = of.shape(t).front();
    Node n = make(std::string(of.name(id)), of.name(id), NodeKind::placeholder);
    finish(n, {{.rows = size.expression ? symbolic() : size.value,
                .dtype = t.dtype,
                .device = std::string(of.text(of.device(t.device).name))}});
  }

  void calls(std::size_t count, bool backward) {
    backward_ = backward;
    for (std::size_t i = 0; i < count; ++i) call();
    while (!pending_.empty() && pick(0, 3) > 0) wait(pending_.size() - 1);
    if (!backward) of_forward_ = values_.size();
  }

  void output(const std::vector<NodeId>& values, std::string_view desc = {}) {
    std::vector<Argument> elements;
    for (const NodeId id : values)
      elements.push_back(id ? Argument::of_node(id) : Argument::of_none());
    if (desc.empty()) elements.emplace_back();  // None
    Node n = make("output", "output", NodeKind::output);
    if (!desc.empty()) n.desc = graph_.intern(desc);
    const std::array list{graph_.make_children(Argument::Kind::list, elements)};
    n.args = graph_.make_children(Argument::Kind::list, list);
    graph_.add_node(n);
  }

  [[nodiscard]] std::size_t value_count() const { return values_.size(); }
  // One of the values added after the first `first` ones; none if there are none.
  NodeId value_since(std::size_t first) {
    const auto count = static_cast<std::int64_t>(values_.size());
    if (static_cast<std::int64_t>(first) == count) return {};
    return values_[static_cast<std::size_t>(pick(static_cast<std::int64_t>(first), count - 1))];
  }

  // Mutations of inputs as torch leaves them: at the end, first the forward's, then the backward's.
  void copy_into_inputs() {
    if (!options_.input_copies) return;
    for (const bool backward : {false, true})
      for (std::int64_t i = pick(0, 2); i-- > 0;) {
        backward_ = backward;
        graph_.node(copy_into_input()).partitioner_tag =
            graph_.intern(backward ? "must_be_in_backward" : "must_be_in_forward");
      }
    backward_ = true;
  }

  // Some distinct values to return.
  std::vector<NodeId> some(std::size_t max) {
    std::vector<NodeId> chosen;
    for (std::size_t i = 0; i < max; ++i) chosen.push_back(value());
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
  }

 private:
  std::int64_t pick(std::int64_t min, std::int64_t max) {
    // Not std::uniform_int_distribution: its numbers differ between libraries.
    return min + static_cast<std::int64_t>(chance_() % static_cast<std::uint64_t>(max - min + 1));
  }
  NodeId value() {
    // Recent values are read more often.
    const auto count = static_cast<std::int64_t>(values_.size());
    const std::int64_t from = pick(0, 2) == 0 ? 0 : std::max<std::int64_t>(0, count - 6);
    return values_[static_cast<std::size_t>(pick(from, count - 1))];
  }

  void add_groups() {
    for (const char* name : {"0", "1", "2"}) {
      const auto size = static_cast<std::int32_t>(1 << pick(0, 3));
      ProcessGroup group{.name = graph_.intern(name)};
      for (std::int32_t rank = 0; rank < size; ++rank) group.ranks.push_back(rank * (8 / size));
      // Descriptions may repeat, or be missing.
      if (pick(0, 2) > 0) group.desc = graph_.intern(pick(0, 1) == 0 ? "mesh_tp" : "mesh_dp");
      if (graph_.group_count() >= 3) {  // the second half uses the groups of the first
        graph_.part(part_).groups.emplace_back(graph_.part(part_).groups.size());
        continue;
      }
      graph_.part(part_).groups.push_back(graph_.add_group(std::move(group)));
    }
  }

  using Rows = std::int64_t;
  static constexpr Rows kSymbolic = -1;
  Rows symbolic() const { return options_.symbols ? kSymbolic : 8; }
  Rows rows() { return options_.symbols && pick(0, 3) == 0 ? kSymbolic : pick(0, 40); }

  struct Output {
    Rows rows;
    DType dtype = DType::float32;
    std::string device = "cuda:0";
  };
  static Output tensor(Rows rows) { return {.rows = rows}; }
  Output like(NodeId id) {
    const Tensor& t = graph_.tensors(id).front();
    const Dim size = graph_.shape(t).front();
    return {.rows = size.expression ? kSymbolic : size.value, .dtype = t.dtype};
  }

  Node make(std::string_view name, std::string_view target, NodeKind kind) {
    Node n;
    n.part = part_;
    n.name = graph_.intern(name);
    n.target = graph_.intern_operator(target);
    n.kind = kind;
    n.set(Node::has_args);
    n.partitioner_tag = graph_.intern(backward_ ? "is_backward" : "is_forward");
    return n;
  }

  TensorId add_tensor(const Node& n, const Output& out, std::size_t index) {
    Dim size{.value = out.rows, .expression = {}}, bytes;
    if (out.rows == kSymbolic) {
      size = {.value = 0, .expression = *graph_.intern_expression(part_, "s0", "1")};
      bytes.expression = *graph_.intern_expression(
          part_, fmt::format("{}*s0", kColumns * item_size(out.dtype)), "1");
    } else {
      bytes.value = out.rows * kColumns * item_size(out.dtype);
    }
    const std::array<Dim, 2> shape{size, Dim{.value = kColumns, .expression = {}}};
    const std::array<Dim, 2> stride{Dim{.value = kColumns, .expression = {}},
                                    Dim{.value = 1, .expression = {}}};
    Tensor t;
    t.dtype = out.dtype;
    t.storage = n.kind == NodeKind::call
                    ? storages_.storage_of(graph_.op(n), n.args, n.kwargs, index, bytes)
                    : storages_.fresh(bytes);
    // A view is on the device of its storage.
    const DeviceId device = graph_.storage(t.storage).device;
    t.device = device ? device : graph_.intern_device(options_.on_cpu ? "cpu" : out.device);
    t.set(Tensor::has_stride);
    t.set(Tensor::has_storage);
    return graph_.add_tensor(t, shape, stride, {});
  }

  NodeId finish(Node& n, const std::vector<Output>& outputs, bool list = false) {
    std::vector<Value> values;
    for (const Output& out : outputs)
      values.push_back(Value::of_tensor(add_tensor(n, out, values.size())));
    n.set(Node::has_value);
    n.value = list ? graph_.make_children(Value::Kind::list, values) : values.front();
    const NodeId id = graph_.add_node(n);
    if (!list) values_.push_back(id);
    return id;
  }

  NodeId add_call(std::string_view target, const std::vector<Argument>& args,
                  const std::vector<Output>& outputs, bool list = false) {
    const std::string name =
        fmt::format("{}{}", kind_ == CaptureKind::backward ? "b" : "f", ++count_);
    Node n = make(name, target, NodeKind::call);
    n.args = graph_.make_children(Argument::Kind::list, args);
    if (pick(0, 2) == 0) n.module = modules_[static_cast<std::size_t>(pick(0, 3))];
    if (pick(0, 9) == 0) n.policy = static_cast<MemoryPolicy>(pick(1, 5));
    if (pick(0, 9) == 0) {
      n.seq_nr = pick(0, 99);
      n.set(Node::has_seq_nr);
    }
    return finish(n, outputs, list);
  }
  static Argument ref(NodeId id) { return Argument::of_node(id); }

  void call() {
    const NodeId a = value(), b = value();
    switch (pick(0, 13)) {
      case 0:
        add_call("aten.relu.default", {ref(a)}, {like(a)});
        break;
      case 1:
      case 2:
        add_call("aten.mul.Tensor", {ref(a), ref(b)}, {like(a)});
        break;
      case 3:
        add_call("aten.mm.default", {ref(a), ref(b)}, {tensor(rows())});
        break;
      case 4:
      case 5:
        add_call("aten.view.default", {ref(a)}, {like(a)});
        break;
      case 6:
        if (!options_.writes) break;
        add_call("aten.add_.Tensor", {ref(a), ref(b)}, {like(a)});
        break;
      case 7: {
        const std::vector<Argument> both{ref(a), ref(b), ref(a)};
        add_call("aten.cat.default", {graph_.make_children(Argument::Kind::list, both)},
                 {tensor(rows())});
        break;
      }
      case 8: {
        const NodeId split = add_call("aten.split.Tensor", {ref(a), Argument::of_int(4)},
                                      {like(a), like(a)}, /*list=*/true);
        for (std::int64_t i = 0; i < pick(1, 2); ++i)
          add_call("_operator.getitem", {ref(split), Argument::of_int(i)}, {like(a)});
        break;
      }
      case 9:
        add_call("aten.native_dropout.default",
                 {ref(a), Argument::of_real(0.25), Argument::of_bool(true)},
                 {like(a), {.rows = like(a).rows, .dtype = DType::boolean}}, /*list=*/true);
        break;
      case 10:
      case 11:
        collective(a);
        break;
      case 12:
        if (!pending_.empty())
          wait(static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(pending_.size()) - 1)));
        break;
      default:
        add_call("aten._to_copy.default", {ref(a)},
                 {{.rows = like(a).rows, .dtype = DType::bfloat16}});
    }
  }

  NodeId copy_into_input() {
    const auto last = static_cast<std::int64_t>(inputs_.size()) - 1;
    const NodeId to = inputs_[static_cast<std::size_t>(pick(0, last))];
    // The forward copies only values that it has computed itself.
    const auto count = static_cast<std::int64_t>(backward_ ? values_.size() : of_forward_);
    const NodeId from = values_[static_cast<std::size_t>(pick(0, count - 1))];
    const NodeId copy = add_call("aten.copy_.default", {ref(to), ref(from)}, {like(to)});
    values_.pop_back();  // it is unused
    return copy;
  }

  void collective(NodeId input) {
    const std::array<Argument, 1> group{
        Argument::of_text(Argument::Kind::string, graph_.intern(std::to_string(pick(0, 2))))};
    const Argument sum = Argument::of_text(Argument::Kind::string, graph_.intern("sum"));
    NodeId start;
    if (pick(0, 1) == 0)
      start = add_call("_c10d_functional.all_reduce.default", {ref(input), sum, group[0]},
                       {like(input)});
    else
      start = add_call("_c10d_functional.all_gather_into_tensor.default",
                       {ref(input), Argument::of_int(2), group[0]}, {tensor(pick(0, 80))});
    values_.pop_back();  // read only through its wait
    pending_.push_back(start);
    if (pick(0, 2) == 0) wait(pending_.size() - 1);
  }

  void wait(std::size_t index) {
    const NodeId start = pending_[index];
    add_call("_c10d_functional.wait_tensor.default", {ref(start)}, {like(start)});
    if (pick(0, 9) > 0) pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  Graph& graph_;
  std::mt19937_64& chance_;
  const RandomGraphOptions& options_;
  CaptureKind kind_;
  PartId part_;
  StorageDeriver storages_;
  std::vector<ModuleStackId> modules_;
  std::vector<NodeId> values_, pending_;
  std::vector<NodeId> inputs_;
  std::size_t of_forward_ = 0;  // number of values at the end of the forward
  std::size_t count_ = 0;
  bool backward_ = false;
};

void add_backward(Builder& joint, const RandomGraphOptions& options) {
  std::vector<NodeId> returned = joint.some(2);
  std::string desc;
  for (std::size_t i = 0; i < returned.size(); ++i)
    desc += fmt::format(R"({{"type":"PlainAOTOutput","idx":{}}},)", i);
  joint.placeholder("tangents_1", R"({"type":"TangentAOTInput"})");
  const std::size_t first = joint.value_count();
  joint.calls(options.calls - options.calls / 2, true);
  for (int i = 0; i < 3; ++i) {
    returned.push_back(joint.value_since(first));
    desc += R"({"type":"GradAOTOutput","grad_of":{"type":"PlainAOTInput"}},)";
  }
  desc.pop_back();
  joint.copy_into_inputs();
  joint.output(returned, "[" + desc + "]");
}

void add_joint(Graph& graph, std::mt19937_64& chance, const RandomGraphOptions& options) {
  Builder joint(graph, chance, options, CaptureKind::joint);
  joint.placeholder("primals_1", R"({"type":"ParamAOTInput","target":"layers.0.weight"})");
  joint.placeholder("primals_2", R"({"type":"ParamAOTInput","target":"layers.1.weight"})");
  joint.placeholder("primals_3", R"({"type":"PlainAOTInput"})");
  joint.calls(options.calls / 2, false);
  if (options.gradients) return add_backward(joint, options);
  joint.placeholder("tangents_1", R"({"type":"TangentAOTInput"})");
  joint.calls(options.calls - options.calls / 2, true);
  const std::vector<NodeId> returned = joint.some(4);
  joint.copy_into_inputs();
  joint.output(returned);
}

void add_pair(Graph& graph, std::mt19937_64& chance, const RandomGraphOptions& options) {
  Builder forward(graph, chance, options, CaptureKind::forward);
  forward.placeholder("primals_1", R"({"type":"ParamAOTInput","target":"layers.0.weight"})");
  forward.placeholder("primals_2", R"({"type":"PlainAOTInput"})");
  forward.calls(options.calls / 2, false);
  const std::vector<NodeId> saved = forward.some(5);
  forward.output(saved);
  Builder backward(graph, chance, options, CaptureKind::backward);
  for (const NodeId id : saved) backward.saved(graph, id);
  backward.placeholder("tangents_1", "");
  backward.calls(options.calls - options.calls / 2, true);
  backward.output(backward.some(3));
}

}  // namespace

Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options) {
  std::mt19937_64 chance(seed);
  Graph graph;
  if (options.pair)
    add_pair(graph, chance, options);
  else
    add_joint(graph, chance, options);
  graph.set_title(options.pair ? "random" : graph.part(PartId(0)).name);
  if (const auto done = complete(graph); !done) throw std::runtime_error(done.error().message);
  return graph;
}

}  // namespace jointer::test
