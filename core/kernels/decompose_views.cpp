// Decomposes views, concatenations, indexing, and calls that create or convert tensors.

#include <algorithm>

#include "core/kernels/decomposed_norms.h"
#include "core/kernels/decomposer.h"

namespace jointer::kernels {

// --- Views ---

void Decomposer::alias_rule(const Node& node) {
  give(input(node, "self"));
}

void Decomposer::reshape_rule(const Node& node) {
  FxNode view = made(FxKind::reshape, node, {of(graph_.args(node).front())});
  const std::string_view packet = graph_.op(node).packet();
  if (packet != "aten.squeeze" && packet != "aten.unsqueeze") view.target = "aten.reshape.default";
  view.numbers = view.result().shape;
  view.is_view = true;
  give_made(std::move(view));
}

void Decomposer::permute_rule(const Node& node) {
  const FxId from = input(node, "self");
  const std::int64_t rank = builder_.rank(from);
  Sizes order;
  const auto wrapped = [rank](std::int64_t dim) { return wrapped_dim(dim, rank); };
  if (const Argument* dims = arg(node, "dims")) {
    for (const std::int64_t dim : arguments_.integers(*dims)) order.push_back(wrapped(dim));
  } else {
    for (std::int64_t i = 0; i < rank; ++i) order.push_back(i);
    const Argument *first = arg(node, "dim0"), *second = arg(node, "dim1");
    const std::int64_t a = first ? wrapped(arguments_.integer(*first)) : 0;
    const std::int64_t b = second ? wrapped(arguments_.integer(*second)) : rank - 1;
    if (rank > 1) std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  }
  if (static_cast<std::int64_t>(order.size()) != rank) return fallback_rule(node);
  give(builder_.permute(from, std::move(order)));
}

void Decomposer::expand_rule(const Node& node) {
  FxNode view = made(FxKind::expand, node, {input(node, "self")});
  view.numbers = view.result().shape;
  view.is_view = true;
  give_made(std::move(view));
}

void Decomposer::slice_rule(const Node& node) {
  const FxId from = input(node, "self");
  const std::int64_t dim = wrapped_dim(number(node, "dim"), builder_.rank(from));
  const std::int64_t size = builder_.shape(from)[static_cast<std::size_t>(dim)];
  const std::int64_t first = number(node, "start");
  const Argument* length = arg(node, "length");  // of narrow, which has no end
  const auto [start, end] =
      slice_bounds(first,
                   length != nullptr ? wrapped_dim(first, size) + arguments_.integer(*length)
                                     : number(node, "end", size),
                   size);
  FxNode view = made(FxKind::slice, node, {from}, {dim, start, end, number(node, "step", 1)});
  view.is_view = true;
  give_made(std::move(view));
}

void Decomposer::select_rule(const Node& node) {
  const FxId from = input(node, "self");
  const std::int64_t dim = wrapped_dim(number(node, "dim"), builder_.rank(from));
  const auto at = static_cast<std::size_t>(dim);
  const std::int64_t which = wrapped_dim(number(node, "index"), builder_.shape(from)[at]);
  FxTensor part = builder_.tensor(from);
  part.shape[at] = 1;
  FxNode view = made(FxKind::slice, node, {from}, {dim, which, which + 1, 1});
  view.results = {std::move(part)};
  view.is_view = true;
  const FxId sliced = builder_.add(std::move(view));
  FxNode squeezed = made(FxKind::reshape, node, {sliced});
  squeezed.numbers = squeezed.result().shape;
  squeezed.is_view = true;
  give_made(std::move(squeezed));
}

void Decomposer::split_rule(const Node& node) {
  const FxId from = input(node, "self");
  const auto tensors = graph_.tensors(node);
  const std::int64_t dim = wrapped_dim(number(node, "dim"), builder_.rank(from));
  FxNode parts;
  parts.kind = FxKind::split;
  parts.target = graph_.target(node);
  parts.is_tuple = true;
  parts.is_view = true;
  parts.inputs = {from};
  parts.numbers = {dim};
  const bool is_unbind = graph_.op(node).packet() == "aten.unbind";
  for (const Tensor& tensor : tensors) {
    FxTensor part = captured_tensor(graph_, tensor);
    if (is_unbind) {
      part.shape.insert(part.shape.begin() + dim, 1);
      part.stride.insert(part.stride.begin() + dim, 1);
    }
    parts.numbers.push_back(part.shape[static_cast<std::size_t>(dim)]);
    parts.results.push_back(std::move(part));
  }
  const auto all = parts.results;
  const FxId tuple = builder_.add(std::move(parts));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FxId part = builder_.getitem(tuple, static_cast<std::int64_t>(i), all[i]);
    if (!is_unbind) {
      give(part);
      continue;
    }
    const FxTensor seen = captured_tensor(graph_, tensors[i]);
    give(builder_.reshape(part, seen.shape));
    builder_.graph.nodes.back().results.front().stride = seen.stride;
  }
}

// --- Concatenation, creation and conversion ---

void Decomposer::cat_rule(const Node& node) {
  FxIds inputs;
  for (const Argument& each : elements(node, "tensors"))
    if (const FxId id = of(each); id >= 0 && product(builder_.shape(id)) > 0) inputs.push_back(id);
  // If all tensors are empty, all are kept.
  if (inputs.empty())
    for (const Argument& each : elements(node, "tensors"))
      if (const FxId id = of(each); id >= 0) inputs.push_back(id);
  FxNode joined = made(FxKind::cat, node, std::move(inputs));
  const auto rank = static_cast<std::int64_t>(joined.result().shape.size());
  joined.numbers = {wrapped_dim(number(node, "dim"), rank)};
  if (joined.inputs.size() == 1) joined.kind = FxKind::clone;
  const FxId first = joined.inputs.empty() ? -1 : joined.inputs.front();
  const bool is_repeated =
      joined.inputs.size() > 1 && builder_.rank(first) == rank &&
      std::ranges::all_of(joined.inputs, [first](FxId each) { return each == first; }) &&
      product(builder_.shape(first)) * static_cast<std::int64_t>(joined.inputs.size()) ==
          product(joined.result().shape);
  if (!is_repeated) return give_made(std::move(joined));
  // Inductor expands and copies a tensor that is repeated.
  const auto at = static_cast<std::size_t>(joined.numbers[0]);
  const FxId lifted = builder_.unsqueeze(first, joined.numbers[0]);
  FxTensor result = builder_.tensor(lifted);
  result.shape[at] = static_cast<std::int64_t>(joined.inputs.size());
  result.stride[at] = 0;
  Sizes sizes = result.shape;
  FxNode wide =
      node_of(FxKind::expand, "aten.expand.default", {lifted}, std::move(sizes), std::move(result));
  wide.is_view = true;
  const FxId copy = builder_.dense_copy(builder_.add(std::move(wide)));
  give(builder_.reshape(copy, Sizes(joined.result().shape)));
}

void Decomposer::stack_rule(const Node& node) {
  const FxTensor result = captured(node);
  const std::int64_t dim =
      wrapped_dim(number(node, "dim"), static_cast<std::int64_t>(result.shape.size()));
  FxIds inputs;
  const auto tensors = elements(node, "tensors");
  if (dim + 1 < static_cast<std::int64_t>(result.shape.size())) {
    // A concatenation of the tensors as they are, seen with one more dimension.
    for (const Argument& each : tensors) inputs.push_back(of(each));
    FxTensor flat = result;
    flat.shape.erase(flat.shape.begin() + dim);
    flat.shape[static_cast<std::size_t>(dim)] *= static_cast<std::int64_t>(tensors.size());
    flat.stride = dense_strides(flat.shape);
    FxNode joined = made(FxKind::cat, node, std::move(inputs), {dim});
    joined.target = "aten.cat.default";
    joined.results = {std::move(flat)};
    if (joined.inputs.size() == 1) joined.kind = FxKind::clone;
    return give(builder_.reshape(builder_.add(std::move(joined)), result.shape));
  }
  for (const Argument& each : tensors) inputs.push_back(builder_.unsqueeze(of(each), dim));
  FxNode joined = made(FxKind::cat, node, std::move(inputs), {dim});
  joined.target = "aten.cat.default";
  give_made(std::move(joined));
}

void Decomposer::convert_rule(const Node& node) {
  FxId value = of(graph_.args(node).front());
  FxTensor result = captured(node);
  if (result.is_on_gpu != builder_.tensor(value).is_on_gpu) {
    FxNode copy = made(FxKind::device_copy, node, {value});
    copy.target = "prims.device_put.default";
    copy.results.front().dtype = builder_.dtype(value);
    value = builder_.add(std::move(copy));
    if (builder_.dtype(value) == result.dtype) return give(value);
  }
  FxNode converted = made(FxKind::convert, node, {value});
  converted.target = "prims.convert_element_type.default";
  if (builder_.dtype(value) == result.dtype) converted.kind = FxKind::clone;
  give_made(std::move(converted));
}

void Decomposer::clone_rule(const Node& node) {
  give_made(made(FxKind::clone, node, {of(graph_.args(node).front())}));
}

void Decomposer::full_rule(const Node& node) {
  const Argument* value = arg(node, "fill_value");
  if (value == nullptr) value = arg(node, "s");
  FxNode filled = made(FxKind::full, node, {});
  filled.target = "aten.full.default";
  filled.scalars = {value ? arguments_.real(*value)
                    : graph_.target(node).find("ones") != std::string_view::npos ? 1.0
                                                                                 : 0.0};
  filled.reals = value != nullptr && value->kind == Argument::Kind::real ? 1 : 0;
  give_made(std::move(filled));
}

void Decomposer::empty_rule(const Node& node) {
  FxNode blank = made(FxKind::empty, node, {});
  blank.target = "aten.empty.memory_format";
  give_made(std::move(blank));
}

void Decomposer::arange_rule(const Node& node) {
  give_made(made(FxKind::iota, node, {}));
}

// --- Indexing ---

void Decomposer::embedding_rule(const Node& node) {
  give_made(made(FxKind::embedding, node, {input(node, "weight"), input(node, "indices")}));
}

void Decomposer::embedding_gradient_rule(const Node& node) {
  give(embedding_gradient(builder_, input(node, "grad_output"), input(node, "indices"),
                          number(node, "num_weights"), number(node, "padding_idx", -1),
                          version_ > TorchVersion{2, 11}));
}

void Decomposer::slice_gradient_rule(const Node& node) {
  const FxId gradient = input(node, "grad_output");
  const FxTensor result = captured(node);
  const FxId zeros = builder_.full(result.shape, result.dtype, result.is_on_gpu, 0);
  const std::int64_t dim =
      wrapped_dim(number(node, "dim"), static_cast<std::int64_t>(result.shape.size()));
  const std::int64_t size = result.shape[static_cast<std::size_t>(dim)];
  const auto [start, end] = slice_bounds(number(node, "start"), number(node, "end", size), size);
  FxNode scattered = made(FxKind::slice_scatter, node, {zeros, gradient},
                          {dim, start, end, number(node, "step", 1)});
  scattered.target = "aten.slice_scatter.default";
  builder_.origin = NodeId();  // a pass of Inductor replaces the scatter with one without an origin
  give_made(std::move(scattered));
}

void Decomposer::index_rule(const Node& node) {
  FxIds inputs{input(node, "self")};
  for (const Argument& each : elements(node, "indices")) inputs.push_back(of(each));
  give_made(made(FxKind::index, node, std::move(inputs)));
}

void Decomposer::index_select_rule(const Node& node) {
  const FxId self = input(node, "self");
  const std::int64_t dim = wrapped_dim(number(node, "dim"), builder_.rank(self));
  FxIds inputs{self};
  inputs.resize(static_cast<std::size_t>(dim) + 1, -1);
  inputs.push_back(input(node, "index"));
  FxNode selected = made(FxKind::index, node, std::move(inputs));
  selected.target = "aten.index.Tensor";
  give_made(std::move(selected));
}

void Decomposer::index_put_rule(const Node& node) {
  FxIds inputs{input(node, "self"), input(node, "values")};
  for (const Argument& each : elements(node, "indices")) inputs.push_back(of(each));
  give_made(
      made(FxKind::index_put, node, std::move(inputs), {number(node, "accumulate") != 0 ? 1 : 0}));
}

void Decomposer::gather_rule(const Node& node) {
  const FxId self = input(node, "self");
  const std::int64_t dim = wrapped_dim(number(node, "dim"), builder_.rank(self));
  give_made(made(FxKind::gather, node, {self, input(node, "index")}, {dim}));
}

void Decomposer::scatter_rule(const Node& node) {
  const FxId self = input(node, "self"), index = input(node, "index");
  FxId source = input(node, "src");
  if (const Argument* value = arg(node, "value"); value && arguments_.is_number(*value))
    source = builder_.full(builder_.shape(index), builder_.dtype(self),
                           builder_.tensor(self).is_on_gpu, arguments_.real(*value));
  if (source < 0) return fallback_rule(node);
  const std::int64_t dim = wrapped_dim(number(node, "dim"), builder_.rank(self));
  const bool adds = graph_.op(node).packet() == "aten.scatter_add";
  give_made(made(FxKind::scatter, node, {self, index, source}, {dim, adds ? 1 : 0}));
}

void Decomposer::cumsum_rule(const Node& node) {
  const FxId self = input(node, "self");
  const std::int64_t dim = wrapped_dim(number(node, "dim"), builder_.rank(self));
  give_made(made(FxKind::scan, node, {self}, {dim}));
}

}  // namespace jointer::kernels
