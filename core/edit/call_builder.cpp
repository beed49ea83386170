#include "core/edit/call_builder.h"

#include "core/edit/edit.h"
#include "core/graph/dtype.h"
#include "core/graph/storages.h"

namespace jointer {
namespace {

// `split_with_sizes` for aten.split_with_sizes.default, `getitem` for _operator.getitem.
std::string base_name(std::string_view target) {
  const std::size_t first = target.find('.');
  const std::size_t last = target.find('.', first + 1);
  return std::string(target.substr(
      first + 1, last == std::string_view::npos ? std::string_view::npos : last - first - 1));
}

}  // namespace

OrderedJson to_json(const TensorRecord& tensor) {
  OrderedJson json = {
      {"shape", tensor.shape},
      {"dtype", std::string(to_string(tensor.dtype))},
      {"device", tensor.device},
      {"stride", tensor.stride.empty() ? contiguous_strides(tensor.shape) : tensor.stride},
      {"offset", tensor.offset}};
  if (!tensor.of.empty()) json["storage"] = {{"of", tensor.of}};
  return {{"t", std::move(json)}};
}

std::string CallBuilder::fresh_name(std::string_view base) {
  std::string name(base);
  int& next = next_.try_emplace(name, 0).first->second;
  while (graph_.find(part_, name) || taken_.contains(name))
    name = fmt::format("{}_{}", base, ++next);
  taken_.insert(name);
  return name;
}

std::string CallBuilder::insert(std::string_view target, OrderedJson args, OrderedJson kwargs,
                                OrderedJson val, NodeId like, std::string_view before,
                                bool in_backward) {
  std::string name = fresh_name(base_name(target));
  OrderedJson node = {{"name", name},
                      {"target", std::string(target)},
                      {"args", std::move(args)},
                      {"kwargs", std::move(kwargs)},
                      {"val", std::move(val)},
                      {"like", std::string(graph_.name(like))}};
  if (in_backward) node["autograd_backward"] = true;
  changes_.emplace_back(InsertNode{.node = node.dump(), .before = std::string(before)});
  return name;
}

void CallBuilder::replace(NodeId node, std::string_view target, const OrderedJson& args,
                          const OrderedJson& kwargs) {
  changes_.emplace_back(ReplaceCall{.node = edit_name(graph_, node),
                                    .target = std::string(target),
                                    .args = args.dump(),
                                    .kwargs = kwargs.dump()});
}

}  // namespace jointer
