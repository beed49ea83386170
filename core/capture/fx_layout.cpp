// Computes the strides and the storage offset of an operator's output.
//
// Terms: the base is the operator's first argument that is a node, whose storage an output may
// share.
// Steps: (1) an operator that neither returns a view nor works in place returns a dense tensor at
// offset 0; (2) the result of an in-place operator has the layout of the base, and the layout of a
// view follows from that of the base according to the operator's definition, with one rule per
// family below; (3) if the base has no layout, or the view has no rule or lacks a number that its
// strides need, the result is assumed dense, at an unknown offset; if only the start of a slice is
// unknown, only the offset is unknown. Cost: linear in the rank and in the operator's arguments.
//
// Source: the definitions of the operators in torch's ATen/native (TensorShape.cpp, and
// computeStride in TensorUtils.cpp for views). Deviation: torch gives the output of a pointwise
// operator the axis order of the inputs; here it is row-major. Both occupy the same number of
// bytes.

#include "core/capture/fx_layout.h"

#include <algorithm>
#include <array>

#include "core/base/checked.h"
#include "core/base/is_one_of.h"
#include "core/graph/expression.h"
#include "core/graph/storages.h"

namespace jointer::fx {
namespace {

bool is_symbolic(std::span<const Dim> dims) {
  return std::ranges::any_of(dims, [](const Dim& d) { return bool{d.expression}; });
}

Dim number(std::int64_t value) {
  return {.value = value};
}

std::vector<Dim> copy(std::span<const Dim> dims) {
  return {dims.begin(), dims.end()};
}

// The name without its namespace, such as "view" for aten.view.
std::string_view bare(std::string_view packet) {
  return packet.substr(packet.find('.') + 1);
}

// Returns base + count * stride, or nullopt if the result is not a known number.
std::optional<Dim> advance(const std::optional<Dim>& base, std::int64_t count, Dim stride) {
  if (!base || base->expression || stride.expression) return std::nullopt;
  const auto step = checked_mul(count, stride.value);
  const auto sum = step ? checked_add(base->value, *step) : std::nullopt;
  return sum ? std::optional(number(*sum)) : std::nullopt;
}

}  // namespace

std::optional<Dim> LayoutDeriver::multiply(Dim a, Dim b) {
  if (!a.expression && !b.expression) return number(saturating_mul(a.value, b.value));
  if (!a.expression && a.value == 1) return b;
  if (!b.expression && b.value == 1) return a;
  const auto text = [&](Dim d) {
    return d.expression ? fmt::format("({})", graph_.expression_text(d.expression))
                        : std::to_string(d.value);
  };
  const auto product = graph_.intern_expression(part_, text(a) + "*" + text(b), {});
  if (!product) return std::nullopt;
  return Dim{.value = 0, .expression = *product};
}

std::vector<Dim> LayoutDeriver::dense(std::span<const Dim> shape) {
  if (!is_symbolic(shape)) return contiguous_strides(shape);
  std::vector<Dim> strides(shape.size());
  Dim step = number(1);
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step = multiply(step, shape[i]).value_or(step);
  }
  return strides;
}

Dim LayoutDeriver::storage_bytes(std::span<const Dim> shape, std::span<const Dim> stride,
                                 Dim offset, DType dtype) {
  if (!is_symbolic(shape) && !is_symbolic(stride) && !offset.expression)
    return number(storage_extent(shape, stride, offset, dtype));
  Dim bytes = number(item_size(dtype));
  for (const Dim& size : shape) bytes = multiply(bytes, size).value_or(bytes);
  return bytes;
}

bool LayoutDeriver::is_dense(std::span<const Dim> shape, std::span<const Dim> stride) {
  // Compares values rather than texts, because the same product can be written in several ways.
  // Each symbol has a small value, computed from its name, so that products do not overflow.
  const auto value = [&](Dim d) -> std::optional<std::int64_t> {
    if (!d.expression) return d.value;
    const auto expression = Expression::parse(graph_.expression_text(d.expression));
    if (!expression) return std::nullopt;
    const auto result = expression->evaluate([](std::string_view symbol) {
      std::int64_t code = 7;
      for (const char c : symbol) code = (code * 31 + c) % 251;
      return std::optional(code + 2);
    });
    return result ? std::optional(*result) : std::nullopt;
  };
  if (stride.size() != shape.size()) return false;
  const std::vector<Dim> expected = dense(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == number(1) || stride[i] == expected[i]) continue;
    const auto given = value(stride[i]), wanted = value(expected[i]);
    if (!given || given != wanted) return false;
  }
  return true;
}

bool LayoutDeriver::is_assumed_dense(std::span<const Dim> shape, std::span<const Dim> stride,
                                     Dim offset) {
  if (!is_symbolic(shape) && !is_symbolic(stride) && !offset.expression) return false;
  return offset != number(0) || !is_dense(shape, stride);
}

Layout LayoutDeriver::derive(const Node& node, std::size_t output, std::span<const Dim> shape,
                             DType dtype) {
  const OperatorInfo& op = graph_.op(node);
  const bool aliases = node.kind == NodeKind::call && (op.is_view || op.mutates);
  if (!aliases) return {.stride = dense(shape), .offset = number(0)};
  const Base base = base_of(node);
  if (base.tensor != nullptr) {
    Derived derived = op.mutates ? Derived{{.stride = copy(base.stride), .offset = base.offset}}
                                 : view(node, base, output, shape, dtype);
    if (derived && derived->stride.size() == shape.size()) return *std::move(derived);
  }
  return {.stride = dense(shape), .offset = std::nullopt, .is_exact = false};
}

LayoutDeriver::Base LayoutDeriver::base_of(const Node& node) const {
  for (const Argument& argument : graph_.args(node)) {
    if (argument.kind != Argument::Kind::node) continue;
    const Tensor* tensor = graph_.single_tensor(graph_.node(argument.node()));
    if (tensor == nullptr || !tensor->has(Tensor::has_stride)) return {};
    Base base{.tensor = tensor,
              .shape = graph_.shape(*tensor),
              .stride = graph_.stride(*tensor),
              .offset = std::nullopt};
    if (tensor->has(Tensor::has_offset)) base.offset = graph_.offset(*tensor);
    return base;
  }
  return {};
}

std::optional<std::int64_t> LayoutDeriver::integer(const Node& node, std::string_view name,
                                                   std::int64_t fallback) const {
  const Argument* argument = graph_.argument(node, name);
  if (argument == nullptr || argument->kind == Argument::Kind::none) return fallback;
  if (argument->kind != Argument::Kind::integer) return std::nullopt;
  return argument->integer;
}

std::optional<std::size_t> LayoutDeriver::axis(const Node& node, std::string_view name,
                                               std::int64_t fallback, std::size_t rank) const {
  auto value = integer(node, name, fallback);
  const auto axes = static_cast<std::int64_t>(rank);
  if (!value || *value < -axes || *value >= axes) return std::nullopt;
  return static_cast<std::size_t>(*value < 0 ? *value + axes : *value);
}

LayoutDeriver::Derived LayoutDeriver::view(const Node& node, const Base& base, std::size_t output,
                                           std::span<const Dim> shape, DType dtype) {
  static constexpr std::array<std::string_view, 6> kSame{"alias",      "detach",     "view_of",
                                                         "lift_fresh", "contiguous", "to"};
  static constexpr std::array<std::string_view, 5> kReshape{"view", "_unsafe_view", "reshape",
                                                            "_reshape_alias", "flatten"};
  static constexpr std::array<std::string_view, 5> kPermute{"t", "transpose", "permute", "swapaxes",
                                                            "unsqueeze"};
  static constexpr std::array<std::string_view, 8> kSlice{
      "slice", "select", "narrow", "split", "split_with_sizes", "chunk", "unbind", "as_strided"};
  const std::string_view packet = bare(graph_.op(node).packet());
  if (packet == "view" && graph_.op(node).name.ends_with(".dtype"))
    return reinterpreted(base, packet, dtype);
  if (is_one_of(packet, kSame)) return Layout{.stride = copy(base.stride), .offset = base.offset};
  if (is_one_of(packet, kReshape)) return reshaped(base, shape);
  if (is_one_of(packet, kPermute)) return permuted(node, base, packet);
  if (is_one_of(packet, kSlice)) return sliced(node, base, output, packet);
  if (packet == "expand") return expanded(base, shape);
  if (packet == "squeeze") {
    // The remaining axes keep their strides; removed axes have size 1.
    Layout layout{.offset = base.offset};
    std::size_t left = 0;
    for (std::size_t i = 0; i < base.shape.size() && left < shape.size(); ++i) {
      const bool must_stay = base.shape.size() - i == shape.size() - left;
      if (base.shape[i] != shape[left] && !must_stay) continue;
      if (base.shape[i] == number(1) && !must_stay &&
          !(shape[left] == number(1) && axis(node, "dim", -1, base.shape.size()) != i))
        continue;
      layout.stride.push_back(base.stride[i]);
      ++left;
    }
    return layout;
  }
  if (packet == "view_as_real" || packet == "view_as_complex")
    return reinterpreted(base, packet, dtype);
  return std::nullopt;
}

LayoutDeriver::Derived LayoutDeriver::permuted(const Node& node, const Base& base,
                                               std::string_view packet) {
  Layout layout{.stride = copy(base.stride), .offset = base.offset};
  const std::size_t rank = base.shape.size();
  if (packet == "t") {
    std::reverse(layout.stride.begin(), layout.stride.end());
  } else if (packet == "unsqueeze") {
    const auto at = axis(node, "dim", 0, rank + 1);
    if (!at) return std::nullopt;
    const auto step = *at < rank ? multiply(base.shape[*at], base.stride[*at]) : number(1);
    if (!step) return std::nullopt;
    layout.stride.insert(layout.stride.begin() + static_cast<std::ptrdiff_t>(*at), *step);
  } else if (packet == "permute") {
    const Argument* dims = graph_.argument(node, "dims");
    if (dims == nullptr) return std::nullopt;
    const auto axes = graph_.children(*dims);
    if (axes.size() != rank) return std::nullopt;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t from =
          axes[i].integer < 0 ? axes[i].integer + static_cast<std::int64_t>(rank) : axes[i].integer;
      if (axes[i].kind != Argument::Kind::integer || from < 0 ||
          from >= static_cast<std::int64_t>(rank))
        return std::nullopt;
      layout.stride[i] = base.stride[static_cast<std::size_t>(from)];
    }
  } else if (rank > 0) {
    const bool named = graph_.argument(node, "dim0") != nullptr;
    const auto a = axis(node, named ? "dim0" : "axis0", 0, rank);
    const auto b = axis(node, named ? "dim1" : "axis1", 0, rank);
    if (!a || !b) return std::nullopt;
    std::swap(layout.stride[*a], layout.stride[*b]);
  }
  return layout;
}

LayoutDeriver::Derived LayoutDeriver::sliced(const Node& node, const Base& base, std::size_t output,
                                             std::string_view packet) {
  const auto numbers = [&](const Argument* list) {
    std::vector<Dim> dims;
    if (list == nullptr) return dims;
    for (const Argument& child : graph_.children(*list))
      if (child.kind == Argument::Kind::integer) dims.push_back(number(child.integer));
    return dims;
  };
  if (packet == "as_strided") {
    Layout layout{.stride = numbers(graph_.argument(node, "stride")), .offset = base.offset};
    const Argument* offset = graph_.argument(node, "storage_offset");
    if (offset != nullptr && offset->kind != Argument::Kind::none) {
      layout.offset = std::nullopt;
      if (offset->kind == Argument::Kind::integer) layout.offset = number(offset->integer);
    }
    return layout;
  }
  const auto dim = axis(node, "dim", 0, base.shape.size());
  if (!dim) return std::nullopt;
  const Dim size = base.shape[*dim], step = base.stride[*dim];
  Layout layout{.stride = copy(base.stride), .offset = std::nullopt};
  std::optional<std::int64_t> from;  // index of the first element along the axis
  if (packet == "slice") {
    const auto every = integer(node, "step", 1);
    from = integer(node, "start", 0);
    const auto stride = every ? multiply(step, number(*every)) : std::nullopt;
    if (!stride) return std::nullopt;
    layout.stride[*dim] = *stride;
  } else if (packet == "select" || packet == "unbind") {
    from = packet == "select" ? integer(node, "index", 0)
                              : std::optional(static_cast<std::int64_t>(output));
    layout.stride.erase(layout.stride.begin() + static_cast<std::ptrdiff_t>(*dim));
  } else if (packet == "narrow") {
    from = integer(node, "start", 0);
  } else if (packet == "split") {
    if (const auto each = integer(node, "split_size", 0); each && *each > 0)
      from = checked_mul(*each, static_cast<std::int64_t>(output));
  } else if (packet == "chunk") {
    const auto chunks = integer(node, "chunks", 1);
    if (chunks && *chunks > 0 && !size.expression)
      from = checked_mul((size.value + *chunks - 1) / *chunks, static_cast<std::int64_t>(output));
  } else if (packet == "split_with_sizes") {
    const Argument* list = graph_.argument(node, "split_sizes");
    const std::vector<Dim> sizes = numbers(list);
    if (list != nullptr && sizes.size() == graph_.children(*list).size()) {
      from = 0;
      for (std::size_t i = 0; i < std::min(output, sizes.size()) && from; ++i)
        from = checked_add(*from, sizes[i].value);
    }
  }
  if (from && *from < 0) {
    if (size.expression)
      from.reset();
    else
      from = std::max<std::int64_t>(*from + size.value, 0);
  }
  if (from && !size.expression) from = std::min(*from, size.value);
  if (from) layout.offset = advance(base.offset, *from, step);
  return layout;
}

LayoutDeriver::Derived LayoutDeriver::expanded(const Base& base, std::span<const Dim> shape) {
  if (shape.size() < base.shape.size()) return std::nullopt;
  const std::size_t added = shape.size() - base.shape.size();
  Layout layout{.stride = std::vector<Dim>(shape.size()), .offset = base.offset};
  for (std::size_t i = added; i < shape.size(); ++i)
    if (base.shape[i - added] == shape[i]) layout.stride[i] = base.stride[i - added];
  return layout;
}

// Merges adjacent axes of the base between which there are no gaps. Returns nullopt unless the new
// axes split each merged axis evenly. An empty result is dense; a symbolic one is assumed dense,
// which is exact if the base is dense.
LayoutDeriver::Derived LayoutDeriver::reshaped(const Base& base, std::span<const Dim> shape) {
  if (std::ranges::equal(shape, base.shape))
    return Layout{.stride = copy(base.stride), .offset = base.offset};
  const bool symbolic = is_symbolic(shape) || is_symbolic(base.shape) || is_symbolic(base.stride);
  Layout layout{.stride = dense(shape), .offset = base.offset};
  if (symbolic) {
    layout.is_exact = is_dense(base.shape, base.stride);
    return layout;
  }
  const auto is_zero = [](const Dim& d) { return d.value == 0; };
  if (std::ranges::any_of(base.shape, is_zero) || base.shape.empty()) return layout;
  std::size_t at = shape.size();
  std::int64_t step = base.stride.back().value, block = 1, taken = 1;
  for (std::size_t i = base.shape.size(); i-- > 0;) {
    block = saturating_mul(block, base.shape[i].value);
    const bool ends = i == 0 || (base.shape[i - 1].value != 1 &&
                                 base.stride[i - 1].value != saturating_mul(block, step));
    if (!ends) continue;
    while (at > 0 && (taken < block || shape[at - 1].value == 1)) {
      --at;
      layout.stride[at] = number(saturating_mul(taken, step));
      taken = saturating_mul(taken, shape[at].value);
    }
    if (taken != block) return std::nullopt;
    if (i > 0) {
      step = base.stride[i - 1].value;
      block = taken = 1;
    }
  }
  return at == 0 ? Derived(std::move(layout)) : std::nullopt;
}

// Returns the layout of the same bytes, read as elements of a different type.
LayoutDeriver::Derived LayoutDeriver::reinterpreted(const Base& base, std::string_view packet,
                                                    DType dtype) {
  const std::int64_t from = item_size(base.tensor->dtype), to = item_size(dtype);
  if (from <= 0 || to <= 0 || is_symbolic(base.stride)) return std::nullopt;
  const auto scaled = [&](Dim d) { return number(saturating_mul(d.value, from) / to); };
  Layout layout{.offset = std::nullopt};
  for (const Dim& stride : base.stride) layout.stride.push_back(scaled(stride));
  if (packet == "view_as_real") {
    layout.stride.push_back(number(1));
  } else if (packet == "view_as_complex") {
    if (layout.stride.empty()) return std::nullopt;
    layout.stride.pop_back();
  } else if (!layout.stride.empty()) {
    layout.stride.back() = number(1);
  }
  if (base.offset && !base.offset->expression) layout.offset = scaled(*base.offset);
  return layout;
}

}  // namespace jointer::fx
