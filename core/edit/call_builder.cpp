#include "core/edit/call_builder.h"

#include "core/edit/edit.h"

namespace jointer {
namespace {

// Returns the name, without a number, of a node that calls `target`: `split_with_sizes` for
// aten.split_with_sizes.default, `getitem` for _operator.getitem.
std::string base_name(std::string_view target) {
  const std::size_t first = target.find('.');
  const std::size_t last = target.find('.', first + 1);
  return std::string(target.substr(
      first + 1, last == std::string_view::npos ? std::string_view::npos : last - first - 1));
}

}  // namespace

ArgumentRecords contiguous_format() {
  using Kind = ArgumentRecord::Kind;
  return {ArgumentRecord::of_text(Kind::string, "memory_format"),
          ArgumentRecord::of_text(Kind::memory_format, "contiguous_format")};
}

std::string CallBuilder::fresh_name(std::string_view base) {
  std::string name(base);
  int& next = next_.try_emplace(name, 0).first->second;
  while (graph_.find(part_, name) || taken_.contains(name))
    name = fmt::format("{}_{}", base, ++next);
  taken_.insert(name);
  return name;
}

std::string CallBuilder::insert(std::string_view target, ArgumentRecords args,
                                ArgumentRecords kwargs, ValueRecord val, NodeId like,
                                std::string_view before) {
  std::string name = fresh_name(base_name(target));
  changes_.emplace_back(InsertNode{.node = NodeRecord{.name = name,
                                                      .target = std::string(target),
                                                      .args = std::move(args),
                                                      .kwargs = std::move(kwargs),
                                                      .val = std::move(val),
                                                      .like = std::string(graph_.name(like))},
                                   .before = std::string(before)});
  return name;
}

void CallBuilder::replace(NodeId node, std::string_view target, ArgumentRecords args) {
  changes_.emplace_back(ReplaceCall{.node = edit_name(graph_, node),
                                    .target = std::string(target),
                                    .args = std::move(args),
                                    .kwargs = ArgumentRecords{}});
}

}  // namespace jointer
