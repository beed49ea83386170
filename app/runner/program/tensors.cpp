// Makes the input tensors of a program.
//
// The generated values of a placeholder come from torch's generator for the tensor's device, with
// the seed
//   seed * 1000003 + FNV-1a(name) + rank * 7919     (64 bits, FNV-1a of 32)
// so that a graph whose nodes were moved, or a pair instead of its joint graph, gets the same
// values:
//   floating-point parameters and buffers     0.02 * normal, in fp32, then cast
//   other floating-point tensors              normal, in fp32, then cast
//   complex types                             magnitude one, uniform angle, in fp32, then cast
//   token ids                                 less than the number of rows of the embedding that
//                                             they index
//   bool, uint8                               zero or one
//   other integers                            zero, which is a valid index into anything
// Along a dimension of stride 0, all elements are equal to the first one.
// resources/python/jointer/inputs.py generates the same values, bit for bit.

#include "app/runner/program/tensors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "app/runner/memory/counting_allocator.h"
#include "app/runner/program/arguments.h"
#include "app/runner/program/opaque.h"
#include "app/runner/support/torch_error.h"
#include "core/base/bytes.h"
#include "core/bench/safetensors.h"
#include "core/graph/symbolic_float.h"
#include "core/graph/users.h"

namespace jointer::runner {
namespace {

constexpr double kParameterScale = 0.02;

std::vector<std::int64_t> values_of(std::span<const Dim> dims) {
  std::vector<std::int64_t> values;
  for (const Dim& dim : dims) values.push_back(dim.value);
  return values;
}

at::Device device_of(const Graph& graph, const Tensor& tensor, at::Device main) {
  const DeviceType type = graph.device_type(tensor);
  return type == graph.main_device() ? main : at::Device(at::kCPU);
}

// Keeps the first element along each dimension of stride 0, which expand() creates, since all
// elements along it share memory.
at::Tensor without_repeats(at::Tensor tensor, at::IntArrayRef strides) {
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (strides[d] == 0)
      tensor = tensor.narrow(static_cast<std::int64_t>(d), 0,
                             tensor.size(static_cast<std::int64_t>(d)) == 0 ? 0 : 1);
  return tensor;
}

std::uint32_t fnv1a(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

class InputMaker {
 public:
  InputMaker(const Graph& graph, const InputOptions& options)
      : graph_(graph), options_(options), users_(graph) {}

  Result<c10::IValue> make(const ProgramInput& input) {
    const Node& node = graph_.node(input.node);
    switch (node.value.kind) {
      case Value::Kind::tensor:
        return make_tensor(input.node, node);
      case Value::Kind::symbol:
        return c10::IValue(graph_.expression_value(node.value.expression()));
      case Value::Kind::opaque:
        return opaque(input.node, node);
      default:
        return make_number(input.node, node);
    }
  }

 private:
  Result<c10::IValue> make_tensor(NodeId id, const Node& node) {
    const std::string name(graph_.name(id));
    const Tensor& tensor = graph_.tensor(node.value.tensor());
    JOINTER_TRY(const at::ScalarType dtype, scalar_type(tensor.dtype));
    at::Tensor values;
    if (options_.given != nullptr) {
      const auto found = options_.given->find(name);
      if (found == options_.given->end())
        return input_error("the given inputs (--inputs) contain no tensor {}", name);
      if (found->second.sizes() != values_of(graph_.shape(tensor)))
        return input_error("input {} has the shape [{}], but the graph expects [{}]", name,
                           fmt::join(found->second.sizes(), ", "),
                           fmt::join(values_of(graph_.shape(tensor)), ", "));
      if (found->second.scalar_type() != dtype)
        return input_error("input {} is {}, but the graph expects {}", name,
                           c10::toString(found->second.scalar_type()), to_string(tensor.dtype));
      values = found->second;
      // NaN differs from itself, so compare only values that repeat.
      const at::Tensor distinct = without_repeats(values, values_of(graph_.stride(tensor)));
      if (distinct.numel() != values.numel() && !distinct.expand_as(values).equal(values))
        return input_error(
            "input {} repeats its elements along dimensions of stride 0, but the given elements "
            "differ",
            name);
    } else {
      values = made_up(id, node, tensor, dtype).to(dtype);
    }
    return place(tensor, dtype, values);
  }

  // None for a value that is neither a tensor nor a number.
  [[nodiscard]] Result<c10::IValue> make_number(NodeId id, const Node& node) const {
    const auto number = symbolic_float(graph_, node.value);
    if (!number) return c10::IValue();
    if (!number->hint)
      return input_error("placeholder {} is the number {}, whose value is not in the capture",
                         graph_.name(id), number->expression);
    return c10::IValue(*number->hint);
  }

  // A mesh or a similar object needs no value if it is used only for its process groups, which are
  // found by name.
  Result<c10::IValue> opaque(NodeId id, const Node& node) {
    const std::string_view type = opaque_type(graph_, node.value);
    if (type == "Generator") return generator(graph_.name(id));
    if (type == kProcessGroup) return group_name(graph_, node.value);
    for (const NodeId user : users_.of(id)) {
      const Node& call = graph_.node(user);
      if (call.kind == NodeKind::call && opaque_type(graph_, call.value) != kProcessGroup)
        return input_error(
            "placeholder {} is a {}, which {} needs and only Python provides; use the backend "
            "`python`",
            graph_.name(id), type, graph_.name(user));
    }
    return c10::IValue();
  }

  c10::IValue generator(std::string_view name) const {
    at::Generator generator = at::globalContext().defaultGenerator(options_.device).clone();
    generator.set_current_seed(seed_of(name));
    return c10::IValue(generator);
  }

  [[nodiscard]] std::uint64_t seed_of(std::string_view name) const {
    return options_.seed * 1000003 + fnv1a(name) + static_cast<std::uint64_t>(options_.rank) * 7919;
  }

  at::Tensor made_up(NodeId id, const Node& node, const Tensor& tensor, at::ScalarType dtype) {
    const at::Device device = device_of(graph_, tensor, options_.device);
    at::Generator generator = at::globalContext().defaultGenerator(device).clone();
    generator.set_current_seed(seed_of(graph_.name(id)));
    const auto real = at::TensorOptions().dtype(at::kFloat).device(device);
    const auto whole = real.dtype(at::kLong);
    const std::vector<std::int64_t> shape = values_of(graph_.shape(tensor));
    if (at::isComplexType(dtype)) {
      const at::Tensor angle = at::rand(shape, generator, real) * (2 * M_PI);
      return at::polar(at::ones(shape, real), angle);
    }
    if (is_floating(tensor.dtype)) {
      const at::Tensor normal = at::randn(shape, generator, real);
      const bool is_weight = node.role == Role::parameter || node.role == Role::buffer;
      return is_weight ? normal * kParameterScale : normal;
    }
    if (tensor.dtype == DType::boolean || tensor.dtype == DType::uint8)
      return at::randint(0, 2, shape, generator, whole);
    const std::int64_t rows = indexed_rows(id);
    return at::randint(0, rows, shape, generator, whole);
  }

  // The number of rows in the table that a placeholder's values index; 1 if there is no table.
  // Searches for the table through calls that only reshape, split, join, gather or cast the values.
  std::int64_t indexed_rows(NodeId from) {
    std::vector<NodeId> open{from};
    std::vector<bool> seen(graph_.node_count(), false);
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      if (seen[at.index()]) continue;
      seen[at.index()] = true;
      for (const NodeId user : users_.of(at)) {
        const Node& node = graph_.node(user);
        if (node.kind != NodeKind::call) continue;
        const std::string_view packet = graph_.op(node).packet();
        if (packet == "aten.embedding") {
          const Argument* table = graph_.argument(node, "weight");
          const Tensor* weight = table != nullptr && table->kind == Argument::Kind::node
                                     ? graph_.single_tensor(graph_.node(table->node()))
                                     : nullptr;
          if (weight != nullptr && weight->rank > 0) return graph_.shape(*weight)[0].value;
        }
        const bool passes = graph_.op(node).is_view || graph_.op(node).is_getitem ||
                            graph_.is_wait(node) || graph_.is_collective_start(node) ||
                            packet == "aten._to_copy" || packet == "aten.clone" ||
                            packet == "aten.split" || packet == "aten.cat" ||
                            packet == "prims.convert_element_type";
        if (passes) open.push_back(user);
      }
    }
    return 1;
  }

  // Returns the values in the captured layout. Placeholders that share a storage in the capture
  // also share one here.
  c10::IValue place(const Tensor& tensor, at::ScalarType dtype, const at::Tensor& values) {
    const at::Device device = device_of(graph_, tensor, options_.device);
    const std::vector<std::int64_t> shape = values_of(graph_.shape(tensor));
    const auto options = at::TensorOptions().dtype(dtype).device(device);
    const auto item = static_cast<std::int64_t>(c10::elementSize(dtype));
    at::Tensor placed;
    if (tensor.storage && tensor.has(Tensor::has_stride)) {
      const StorageId storage = graph_.real_storage(tensor.storage);
      at::Tensor& base = bases_[storage.value()];
      if (!base.defined())
        base = at::empty({graph_.storage(storage).bytes.value},
                         at::TensorOptions().dtype(at::kByte).device(device));
      const std::int64_t elements = base.numel() / item;
      placed =
          base.narrow(0, 0, elements * item)
              .view(dtype)
              .as_strided(shape, values_of(graph_.stride(tensor)), graph_.offset(tensor).value);
    } else {
      placed = at::empty(shape, options);
    }
    const at::IntArrayRef strides = placed.strides();
    without_repeats(placed, strides).copy_(without_repeats(values, strides));
    return c10::IValue(placed);
  }

  const Graph& graph_;
  const InputOptions& options_;
  Users users_;
  std::unordered_map<std::uint32_t, at::Tensor> bases_;  // by real storage
};

using Json = nlohmann::json;

// Appends the numbers in a nested list, in order. Leaves out floats if `Number` is an integer.
template <class Number>
void flatten(const Json& data, std::vector<Number>& numbers) {
  if (data.is_array()) {
    for (const Json& element : data) flatten(element, numbers);
  } else if (data.is_boolean()) {
    numbers.push_back(data.get<bool>() ? 1 : 0);
  } else if (data.is_number_integer()) {
    numbers.push_back(data.get<Number>());
  } else if constexpr (std::is_floating_point_v<Number>) {
    if (data.is_number()) {
      numbers.push_back(data.get<Number>());
    } else if (data.is_object() && data.contains("f") && data["f"].is_string()) {
      const auto& name = data["f"].get_ref<const std::string&>();
      numbers.push_back(name == "nan" ? NAN : name == "-inf" ? -INFINITY : INFINITY);
    }
  }
}

// The numbers as a tensor, in a dtype that holds each number of `dtype`.
at::Tensor tensor_of(const Json& data, at::ScalarType dtype) {
  if (at::isIntegralType(dtype, /*includeBool=*/true)) {
    std::vector<std::int64_t> numbers;
    flatten(data, numbers);
    return at::tensor(numbers, at::kLong);
  }
  std::vector<double> numbers;
  flatten(data, numbers);
  const at::Tensor reals = at::tensor(numbers, at::kDouble);
  // The data of a complex number is a list of its two parts.
  const bool are_pairs = at::isComplexType(dtype) && reals.numel() % 2 == 0;
  return are_pairs ? at::view_as_complex(reals.view({-1, 2})) : reals;
}

// Fills a tensor with the capture's data for the constant `name`. Returns a note for the user if
// the capture contains no data for it, or if the data does not fit the tensor.
std::string fill(const at::Tensor& to, const Json& table, const std::string& name) {
  if (!table.is_object() || !table.contains(name) || !table[name].is_object() ||
      !table[name].contains("data"))
    return fmt::format("constant {} is not in the capture: its values are generated", name);
  const at::Tensor values = tensor_of(table[name]["data"], to.scalar_type());
  if (values.numel() != to.numel())
    return fmt::format("constant {}: its data does not fit its shape, so its values are generated",
                       name);
  without_repeats(to, to.strides()).copy_(without_repeats(values.view(to.sizes()), to.strides()));
  return {};
}

// Calls `make` for a placeholder or constant. If it fails, the error says for which one.
template <class Make>
InputOr<c10::IValue> guarded(NodeId node, const InputOptions& options, const Make& make) {
  const auto failed = [&](std::string text, bool out_of_memory = false, bool of_device = false) {
    return tl::unexpected<InputError>({.node = node,
                                       .out_of_memory = out_of_memory,
                                       .of_device = of_device,
                                       .text = std::move(text)});
  };
  try {
    options.before_each(node);
    Result<c10::IValue> made = make();
    if (!made) return failed(made.error().message);
    options.after_each();
    return *std::move(made);
  } catch (const c10::OutOfMemoryError& error) {
    return failed(without_advice(error.what_without_backtrace()), true);
  } catch (const c10::AcceleratorError& error) {
    const bool no_memory = is_out_of_memory(error);
    return failed(summary(error), no_memory, !no_memory);
  } catch (const c10::Error& error) {
    return failed(summary(error));
  } catch (const std::bad_alloc&) {
    return failed("out of memory", true);
  }
}

}  // namespace

Result<NamedTensors> read_safetensors(const std::string& path) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  JOINTER_TRY(const auto entries, read_safetensors_index(path, bytes.view()));
  NamedTensors tensors;
  for (const SafetensorsEntry& entry : entries) {
    JOINTER_TRY(const at::ScalarType dtype, scalar_type(entry.dtype));
    at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(dtype));
    if (entry.bytes > 0)
      std::memcpy(tensor.mutable_data_ptr(), bytes.view().data() + entry.offset,
                  static_cast<std::size_t>(entry.bytes));
    tensors.emplace(entry.name, std::move(tensor));
  }
  return tensors;
}

InputOr<Inputs> make_inputs(const Graph& graph, const Program& program,
                            const InputOptions& options) {
  Inputs inputs;
  InputMaker maker(graph, options);
  for (const ProgramInput& input : program.inputs) {
    std::optional<Uncounted> uncounted;
    if (input.released) uncounted.emplace();
    auto value = guarded(input.node, options, [&] { return maker.make(input); });
    if (!value) return tl::unexpected(std::move(value.error()));
    inputs.values.push_back(*std::move(value));
  }
  return inputs;
}

InputOr<void> make_constants(const Graph& graph, const Program& program,
                             const InputOptions& options, Inputs& inputs) {
  if (program.constants_of_graph.empty()) return {};
  InputOptions made_up = options;
  made_up.given = nullptr;
  InputMaker maker(graph, made_up);
  std::vector<Json> tables;  // by part
  for (std::uint32_t part = 0; part < graph.part_count(); ++part)
    tables.push_back(
        Json::parse(graph.part(PartId(part)).constants, nullptr, /*allow_exceptions=*/false));
  const auto make = [&](const ProgramInput& constant) -> Result<c10::IValue> {
    const Node& node = graph.node(constant.node);
    if (graph.single_tensor(node) == nullptr)
      return opaque_type(graph, node.value) == kProcessGroup ? group_name(graph, node.value)
                                                             : c10::IValue();
    JOINTER_TRY(c10::IValue value, maker.make(constant));
    const std::string name(graph.target(node));
    if (std::string note = fill(value.toTensor(), tables[node.part.index()], name); !note.empty())
      inputs.notes.push_back(std::move(note));
    return value;
  };
  for (const ProgramInput& constant : program.constants_of_graph) {
    auto value = guarded(constant.node, options, [&] { return make(constant); });
    if (!value) return tl::unexpected(std::move(value.error()));
    inputs.constants.push_back(*std::move(value));
  }
  return {};
}

}  // namespace jointer::runner
