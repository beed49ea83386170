#include "core/graph/storages.h"

#include <algorithm>

namespace jointer {

std::int64_t storage_extent(std::span<const Dim> shape, std::span<const Dim> stride, Dim offset,
                            DType dtype) {
  std::int64_t last = offset.value;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].value == 0) return 0;
    last = saturating_add(last, saturating_mul(shape[i].value - 1, stride[i].value));
  }
  return saturating_mul(saturating_add(last, 1), item_size(dtype));
}

std::vector<std::int64_t> contiguous_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step = saturating_mul(step, std::max<std::int64_t>(shape[i], 1));
  }
  return strides;
}

std::vector<Dim> contiguous_strides(std::span<const Dim> shape) {
  std::vector<std::int64_t> sizes;
  for (const Dim& size : shape) sizes.push_back(size.value);
  std::vector<Dim> strides(shape.size());
  std::size_t i = 0;
  for (const std::int64_t step : contiguous_strides(sizes)) strides[i++].value = step;
  return strides;
}

StorageId StorageDeriver::first_storage(const Argument& argument) const {
  if (argument.kind == Argument::Kind::node) {
    for (const Tensor& t : graph_.tensors(argument.node()))
      if (t.storage) return t.storage;
    return {};
  }
  for (const Argument& child : graph_.children(argument))
    if (const StorageId storage = first_storage(child)) return storage;
  return {};
}

StorageId StorageDeriver::storage_of(const OperatorInfo& op, const Argument& args,
                                     const Argument& kwargs, std::size_t output, Dim bytes) {
  const StorageId shared = shared_storage(op, args, kwargs, output);
  return shared ? shared : fresh(bytes);
}

StorageId StorageDeriver::shared_storage(const OperatorInfo& op, const Argument& args,
                                         const Argument& kwargs, std::size_t output) const {
  const auto positional = graph_.children(args);
  const auto given = [&](std::size_t index) -> StorageId {
    if (const Argument* keyword = graph_.member(kwargs, op.arguments[index].name))
      return first_storage(*keyword);
    return index < positional.size() ? first_storage(positional[index]) : StorageId{};
  };

  if (op.is_getitem && positional.size() == 2 && positional[0].kind == Argument::Kind::node) {
    const Node& tuple = graph_.node(positional[0].node());
    const auto elements = graph_.children(tuple.value);
    const std::int64_t index =
        positional[1].kind == Argument::Kind::integer ? positional[1].integer : std::int64_t{-1};
    if (index >= 0 && static_cast<std::size_t>(index) < elements.size() &&
        elements[static_cast<std::size_t>(index)].kind == Value::Kind::tensor)
      return graph_.tensor(elements[static_cast<std::size_t>(index)].tensor()).storage;
  }
  if (op.has(OperatorTag::silent_alias) && !op.arguments.empty())
    if (const StorageId storage = given(0)) return storage;
  // The schema has a single entry for a list result (split), which stands for all elements.
  if (!op.returns.empty()) {
    const SchemaReturn& returned = op.returns[std::min(output, op.returns.size() - 1)];
    for (std::size_t i = 0; returned.alias_set != 0 && i < op.arguments.size(); ++i)
      if (op.arguments[i].alias_set == returned.alias_set)
        if (const StorageId storage = given(i)) return storage;
  }
  return {};
}

void StorageDeriver::grow(StorageId storage, std::int64_t bytes) {
  Storage& s = graph_.storage(storage);
  if (!s.bytes.expression) s.bytes.value = std::max(s.bytes.value, bytes);
}

}  // namespace jointer
