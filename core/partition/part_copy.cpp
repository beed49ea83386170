#include "core/partition/part_copy.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/graph/constant_tables.h"

namespace jointer {
namespace {

// Adds the members of the JSON object `more` that `text` lacks. Members that are objects or arrays
// in both are merged in the same way, one level down.
std::string merged(const std::string& text, const std::string& more) {
  if (text.empty() || more.empty() || text == more) return text.empty() ? more : text;
  auto known = parse_json(text, "symbols");
  const auto others = parse_json(more, "symbols");
  if (!known || !others || !known->is_object() || !others->is_object()) return text;
  for (const auto& [key, value] : others->items()) {
    OrderedJson& here = (*known)[key];
    if (here.is_null()) {
      here = value;
    } else if (here.is_object() && value.is_object()) {
      for (const auto& [name, member] : value.items())
        if (!here.contains(name)) here[name] = member;
    } else if (here.is_array() && value.is_array()) {
      for (const auto& element : value)
        if (std::ranges::find(here, element) == here.end()) here.push_back(element);
    }
  }
  return write_json(*known);
}

}  // namespace

PartCopy::PartCopy(const Graph& from, Graph& to, CaptureKind kind, std::string name, PartId of)
    : PartCopy(from, to, of) {
  is_first_ = true;
  Part part = from.part(of);
  part.kind = kind;
  part.name = std::move(name);
  part.present.name = true;
  part.outputs.clear();
  part.groups.clear();
  if (to.part_count() == 0) {
    if (!part.torch_version.empty()) to.set_operator_version(part.torch_version);
    for (const auto& [target, schema] : from.operator_schemas())
      to.add_operator_schema(target, schema);
  }
  part_ = to.add_part(std::move(part));
  add_groups(of);
}

PartCopy::PartCopy(const Graph& from, Graph& to, PartId into, PartId of) : PartCopy(from, to, of) {
  part_ = into;
  add_tables(of);
}

PartCopy::PartCopy(const Graph& from, Graph& to, PartId of)
    : from_(from),
      to_(to),
      of_{of},
      copies_(from.node_count()),
      storages_(from.storage_count()),
      module_stacks_(from.module_stack_count()),
      stacks_(from.stack_count()),
      expressions_(from.expression_count()) {}

void PartCopy::include(PartId of) {
  of_.push_back(of);
  add_tables(of);
}

void PartCopy::add_tables(PartId of) {
  SymbolTable& known = to_.part(part_).symbols;
  const auto has = [](const auto& list, const auto& name, auto member) {
    return std::ranges::any_of(list, [&](const auto& each) { return member(each) == name; });
  };
  const auto name_of = [](const auto& each) { return each.name; };
  const auto first_of = [](const auto& each) { return each.first; };
  const SymbolTable& symbols = from_.part(of).symbols;
  for (const auto& each : symbols.variables)
    if (!has(known.variables, each.name, name_of)) known.variables.push_back(each);
  for (const auto& each : symbols.replacements)
    if (!has(known.replacements, each.first, first_of)) known.replacements.push_back(each);
  for (const auto& each : symbols.assumed)
    if (!has(known.assumed, each.first, first_of)) known.assumed.push_back(each);
  for (const auto& each : symbols.asserts)
    if (std::ranges::find(known.asserts, each) == known.asserts.end())
      known.asserts.push_back(each);
  std::string& text = to_.part(part_).symbols_json;
  text = merged(text, from_.part(of).symbols_json);
  add_groups(of);
}

// Reuses groups of the same name, since both halves of a pair share their groups.
void PartCopy::add_groups(PartId of) {
  for (const GroupId id : from_.part(of).groups) {
    const ProcessGroup& group = from_.group(id);
    ProcessGroup copy{.name = text(group.name),
                      .ranks = group.ranks,
                      .desc = text(group.desc),
                      .backend = text(group.backend),
                      .extra = text(group.extra),
                      .derived = group.derived};
    GroupId known;
    for (std::size_t i = 0; i < to_.group_count() && !known; ++i)
      if (to_.group(GroupId(i)).name == copy.name) known = GroupId(i);
    if (!known) known = to_.add_group(std::move(copy));
    auto& groups = to_.part(part_).groups;
    if (std::ranges::find(groups, known) == groups.end()) groups.push_back(known);
  }
}

ExpressionId PartCopy::expression(ExpressionId id) {
  if (!id) return {};
  ExpressionId& copy = expressions_[id.index()];
  // The expression has been parsed before, so parsing cannot fail.
  if (!copy)
    copy = *to_.intern_expression(part_, from_.expression_text(id), from_.expression_hint(id));
  return copy;
}

StorageId PartCopy::storage(StorageId id) {
  if (!id) return {};
  StorageId& copy = storages_[id.index()];
  if (!copy) copy = to_.add_storage(part_, dim(from_.storage(id).bytes));
  return copy;
}

TensorId PartCopy::tensor(const Tensor& tensor) {
  Tensor copy = tensor;
  if (tensor.device) copy.device = to_.intern_device(from_.text(from_.device(tensor.device).name));
  copy.storage = storage(tensor.storage);
  copy.extra = text(tensor.extra);
  std::vector<Dim> shape, stride;
  for (const Dim& size : from_.shape(tensor)) shape.push_back(dim(size));
  for (const Dim& step : from_.stride(tensor)) stride.push_back(dim(step));
  return to_.add_tensor(copy, shape, stride, dim(from_.offset(tensor)));
}

Value PartCopy::value(const Value& value) {
  switch (value.kind) {
    case Value::Kind::none:
      return value;
    case Value::Kind::tensor:
      return Value::of_tensor(tensor(from_.tensor(value.tensor())));
    case Value::Kind::list:
    case Value::Kind::dict: {
      std::vector<Value> children;
      for (const Value& child : from_.children(value)) children.push_back(this->value(child));
      return to_.make_children(value.kind, children);
    }
    case Value::Kind::symbol:
      return Value::of_symbol(expression(value.expression()));
    case Value::Kind::opaque:
      return Value::of_opaque(text(value.text()), text(value.detail()));
    case Value::Kind::key:
    case Value::Kind::constant:
    case Value::Kind::raw:
      break;
  }
  return Value::of_text(value.kind, text(value.text()));
}

Argument PartCopy::argument(const Argument& argument) {
  using Kind = Argument::Kind;
  switch (argument.kind) {
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return argument;
    case Kind::node:
      return Argument::of_node(argument.node() ? copies_[argument.node().index()] : NodeId{});
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::slice:
    case Kind::complex: {
      std::vector<Argument> children;
      for (const Argument& child : from_.children(argument))
        children.push_back(this->argument(child));
      return to_.make_children(argument.kind, children);
    }
    case Kind::symbol:
      return Argument::of_symbol(expression(argument.expression()));
    case Kind::opaque:
      return Argument::of_opaque(text(argument.text()), text(argument.detail()));
    case Kind::string:
    case Kind::dtype:
    case Kind::device:
    case Kind::layout:
    case Kind::memory_format:
    case Kind::op:
    case Kind::raw:
      break;
  }
  return Argument::of_text(argument.kind, text(argument.text()));
}

ModuleStackId PartCopy::module_stack(ModuleStackId id) {
  if (!id) return {};
  ModuleStackId& copy = module_stacks_[id.index()];
  if (copy) return copy;
  std::vector<ModuleFrame> frames;
  for (const ModuleFrame& frame : from_.frames(from_.module_stack(id)))
    frames.push_back({.path = text(frame.path), .type = text(frame.type)});
  return copy = to_.add_module_stack(part_, frames);
}

StackId PartCopy::stack(StackId id) {
  if (!id) return {};
  StackId& copy = stacks_[id.index()];
  if (!copy) copy = to_.add_stack(part_, from_.text(from_.stack(id).text));
  return copy;
}

// In the backward, a call's tensors are in the storages of its inputs or in new storages: a
// recomputed value does not share storage with a saved value, even if the two share it in the joint
// graph.
void PartCopy::find_storages(const Node& node) {
  if (node.kind != NodeKind::call || to_.part(part_).kind != CaptureKind::backward) return;
  for (const Tensor& t : from_.tensors(node))
    if (t.storage) storages_[t.storage.index()] = {};
  const auto inputs = from_.inputs(node);
  for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
    if (!copies_[input->index()]) continue;
    const auto before = from_.tensors(*input), after = to_.tensors(copies_[input->index()]);
    for (std::size_t i = std::min(before.size(), after.size()); i-- > 0;)
      if (before[i].storage) storages_[before[i].storage.index()] = after[i].storage;
  }
}

// Copies the members that do not refer to other nodes. The caller must set the arguments and
// target.
Node PartCopy::copied_members(const Node& node) {
  find_storages(node);
  Node copy = node;
  copy.part = part_;
  copy.name = text(node.name);
  copy.value = value(node.value);
  copy.first_tensor = copy.tensor_count = copy.first_input = copy.input_count = 0;
  copy.group = {};
  copy.origin = copy.partner = {};
  copy.module = module_stack(node.module);
  copy.stack = stack(node.stack);
  copy.role_target = text(node.role_target);
  copy.partitioner_tag = text(node.partitioner_tag);
  copy.original_aten = text(node.original_aten);
  copy.custom = text(node.custom);
  copy.desc = text(node.desc);
  copy.schema_alias = text(node.schema_alias);
  copy.extra = text(node.extra);
  return copy;
}

NodeId PartCopy::copy(NodeId id) {
  return copy_as(id, from_.name(id));
}

NodeId PartCopy::copy_as(NodeId id, std::string_view name) {
  return copy_as(id, name, from_.target(from_.node(id)));
}

NodeId PartCopy::copy_as(NodeId id, std::string_view name, std::string_view target) {
  const Node& node = from_.node(id);
  Node copy = copied_members(node);
  copy.name = to_.intern(name);
  copy.target = to_.intern_operator(target);
  copy.args = argument(node.args);
  copy.kwargs = argument(node.kwargs);
  if (node.kind == NodeKind::get_attr)
    constants_.push_back({.part = node.part,
                          .target = std::string(from_.target(node)),
                          .name = std::string(target)});
  return copies_[id.index()] = to_.add_node(copy);
}

NodeId PartCopy::copy_as_placeholder(NodeId id) {
  return from_.node(id).kind == NodeKind::placeholder ? copy(id)
                                                      : copy_as_placeholder(id, from_.name(id));
}

NodeId PartCopy::copy_as_placeholder(NodeId id, std::string_view name) {
  Node copy = copied_members(from_.node(id));
  copy.kind = NodeKind::placeholder;
  copy.name = to_.intern(name);
  copy.target = to_.intern_operator(name);
  copy.args = to_.make_children(Argument::Kind::list, {});
  copy.kwargs = to_.make_children(Argument::Kind::dict, {});
  copy.set(Node::has_args, false);
  copy.set(Node::has_kwargs, false);
  copy.schema_alias = {};
  return copies_[id.index()] = to_.add_node(copy);
}

NodeId PartCopy::copy_wrapped(NodeId id, const Wrapping& wrapping) {
  const Node& node = from_.node(id);
  Node copy = copied_members(node);
  copy.name = to_.intern(wrapping.name);
  copy.target = to_.intern_operator(wrapping.target);
  copy.schema_alias = {};
  if (wrapping.also_returns)
    copy.value =
        to_.make_children(Value::Kind::list, std::array{*wrapping.also_returns, copy.value});
  std::vector<Argument> args;
  if (wrapping.before) args.push_back(Argument::of_node(wrapping.before));
  args.push_back(Argument::of_text(Argument::Kind::op, to_.intern(from_.target(node))));
  for (const Argument& each : from_.args(node)) args.push_back(argument(each));
  copy.args = to_.make_children(Argument::Kind::list, args);
  copy.set(Node::has_args);
  std::vector<Argument> keywords;
  for (const Argument& each : from_.children(node.kwargs)) keywords.push_back(argument(each));
  if (!wrapping.keyword.empty()) {
    keywords.push_back(Argument::of_text(Argument::Kind::string, to_.intern(wrapping.keyword)));
    keywords.push_back(Argument::of_node(wrapping.keyword_value));
    copy.set(Node::has_kwargs);
  }
  copy.kwargs = to_.make_children(Argument::Kind::dict, keywords);
  return copies_[id.index()] = to_.add_node(copy);
}

NodeId PartCopy::copy_as_getitem(NodeId id, std::string_view name, const Argument& args) {
  Node copy = copied_members(from_.node(id));
  copy.name = to_.intern(name);
  copy.target = to_.intern_operator("_operator.getitem");
  copy.schema_alias = {};
  copy.args = args;
  copy.kwargs = to_.make_children(Argument::Kind::dict, {});
  copy.set(Node::has_args);
  copy.set(Node::has_kwargs, false);
  return copies_[id.index()] = to_.add_node(copy);
}

NodeId PartCopy::add(Node node) {
  node.part = part_;
  return to_.add_node(node);
}

NodeId PartCopy::add_output(NodeId like, std::span<const NodeId> values, std::string_view desc) {
  const Node& node = from_.node(like);
  Node output = copied_members(node);
  output.target = to_.intern_operator(from_.target(node));
  std::vector<Argument> elements;
  for (const NodeId id : values)
    elements.push_back(id ? Argument::of_node(id) : Argument::of_none());
  const std::array tuple{to_.make_children(Argument::Kind::tuple, elements)};
  output.args = to_.make_children(Argument::Kind::list, tuple);
  output.kwargs = argument(node.kwargs);
  output.set(Node::has_args);
  output.desc = desc.empty() ? StringId{} : to_.intern(desc);
  return copies_[like.index()] = to_.add_node(output);
}

void PartCopy::copy_from(NodeId id, NodeId other) {
  copies_[id.index()] = copies_[other.index()];
  const auto before = from_.tensors(id), after = to_.tensors(copies_[id.index()]);
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    if (before[i].storage && !storages_[before[i].storage.index()])
      storages_[before[i].storage.index()] = after[i].storage;
}

NodeId PartCopy::copy_unwrapped(NodeId id, const Unwrapping& unwrapping) {
  const Node& node = from_.node(id);
  Node copy = copied_members(from_.node(unwrapping.described));
  copy.kind = NodeKind::call;
  copy.name = to_.intern(unwrapping.name);
  copy.schema_alias = {};
  const auto given = from_.args(node);
  copy.target = to_.intern_operator(from_.text(given[unwrapping.first].text()));
  std::vector<Argument> args, keywords;
  for (const Argument& each : given.subspan(unwrapping.first + 1)) args.push_back(argument(each));
  const auto named = from_.children(node.kwargs);
  for (std::size_t i = 0; i + 1 < named.size(); i += 2) {
    if (from_.text(named[i].text()) == unwrapping.keyword) continue;
    keywords.push_back(argument(named[i]));
    keywords.push_back(argument(named[i + 1]));
  }
  copy.args = to_.make_children(Argument::Kind::list, args);
  copy.kwargs = to_.make_children(Argument::Kind::dict, keywords);
  copy.set(Node::has_args);
  copy.set(Node::has_kwargs, !keywords.empty());
  if (!unwrapping.elements.empty()) {
    std::vector<Value> values;
    for (const NodeId element : unwrapping.elements)
      values.push_back(element ? value(from_.node(element).value) : Value{});
    copy.value = to_.make_children(Value::Kind::list, values);
    copy.set(Node::has_value);
  }
  return copies_[id.index()] = to_.add_node(copy);
}

void PartCopy::copy_table_entries(PartId of, OrderedJson& constants) {
  const PerTable<std::size_t> firsts_from = first_entries(from_, of);
  const PerTable<std::size_t> firsts_to = first_entries(to_, part_);
  visit_table_numbers(constants, [&](ConstantTable table, OrderedJson& number) {
    const std::size_t id = of_table(firsts_from, table) + number.get<std::size_t>();
    const std::size_t first = of_table(firsts_to, table);
    switch (table) {
      case ConstantTable::storages:
        if (id < from_.storage_count()) number = storage(StorageId(id)).index() - first;
        break;
      case ConstantTable::modules:
        if (id < from_.module_stack_count())
          number = module_stack(ModuleStackId(id)).index() - first;
        break;
      case ConstantTable::stacks:
        if (id < from_.stack_count()) number = stack(StackId(id)).index() - first;
        break;
    }
  });
}

void PartCopy::finish_constants() {
  auto kept = OrderedJson::parse(to_.part(part_).constants, nullptr, false);
  // A new part starts with all constants of the part that it was made from; only the copied ones
  // stay.
  if (!kept.is_object() || is_first_) kept = OrderedJson::object();
  bool any = false;
  for (const PartId of : of_) {
    const auto all = OrderedJson::parse(from_.part(of).constants, nullptr, false);
    if (!all.is_object()) continue;
    any = true;
    for (const auto& [target, description] : all.items()) {
      const std::string& wanted = target;
      const auto copied = std::ranges::find_if(constants_, [&](const Constant& each) {
        return each.part == of && each.target == wanted;
      });
      if (copied == constants_.end()) continue;
      auto one = OrderedJson::object({{copied->name, description}});
      copy_table_entries(of, one);
      kept[copied->name] = std::move(one[copied->name]);
    }
  }
  if (any) to_.part(part_).constants = kept.dump();
}

}  // namespace jointer
