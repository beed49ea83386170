#include "views/session/search/node_search.h"

#include <algorithm>

#include "core/base/characters.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {
namespace {

bool contains_any(std::string_view text, const std::vector<std::string>& parts) {
  return std::ranges::any_of(
      parts, [&](const std::string& part) { return text.find(part) != std::string_view::npos; });
}

// "must_save" for "must save" and "must-save".
std::string joined_words(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return text;
}

bool phase_holds(const std::string& text, const Node& node) {
  const auto phase = parse_search_phase(text);
  if (!phase) return false;
  if (*phase == SearchPhase::recomputed) return node.has(Node::recomputed);
  return (node.phase == Phase::forward) == (*phase == SearchPhase::forward);
}

}  // namespace

NodeSearch::NodeSearch(SnapshotPtr snapshot) : snapshot_(std::move(snapshot)) {
  const Graph& graph = snapshot_->graph;
  for (std::size_t i = 0; i < graph.node_count(); ++i) names_.add(graph.name(NodeId(i)));
  for (std::size_t i = 0; i < graph.operator_count(); ++i)
    operators_.add(graph.op(OperatorId(i)).name);
  const ModuleTree& modules = snapshot_->analysis.modules;
  for (std::size_t i = 0; i < modules.size(); ++i) modules_.add(modules.module(ModuleId(i)).path);
  for (std::size_t i = 0; i < graph.stack_count(); ++i)
    stacks_.add(graph.text(graph.stack(StackId(i)).text));
}

NodeSearch::Flags NodeSearch::text_holds(const SearchTerm& term) const {
  const Graph& graph = snapshot_->graph;
  const ModuleTree& modules = snapshot_->analysis.modules;
  Flags names, operators, in_modules, stacks;
  const bool any = term.field == SearchField::anything;
  if (any || term.field == SearchField::name) names = names_.containing(term);
  if (any) operators = operators_.containing(term);
  if (term.field == SearchField::op) operators = operators_.with_part(term);
  if (any) in_modules = modules_.containing(term);
  if (term.field == SearchField::module) in_modules = modules_.with_part(term);
  if (any || term.field == SearchField::stack) stacks = stacks_.containing(term);
  Flags flags(graph.node_count(), 0);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const Node& n = graph.node(NodeId(i));
    // A placeholder's target is its own name, not an operator.
    const bool calls = n.kind == NodeKind::call || n.kind == NodeKind::get_attr;
    const bool holds = (!names.empty() && names[i] != 0) ||
                       (!operators.empty() && calls && operators[n.target.index()] != 0) ||
                       (!in_modules.empty() && in_modules[modules.of(NodeId(i)).index()] != 0) ||
                       (!stacks.empty() && n.stack && stacks[n.stack.index()] != 0);
    flags[i] = holds ? 1 : 0;
  }
  return flags;
}

bool NodeSearch::number_holds(const SearchTerm& term, NodeId id) const {
  const Graph& graph = snapshot_->graph;
  const Analysis& analysis = snapshot_->analysis;
  std::int64_t value = 0;
  switch (term.field) {
    case SearchField::bytes:
      value = graph.output_bytes(graph.node(id));
      if (plan_) {
        const auto of_plan = plan_(id);
        if (!of_plan) return false;
        value = of_plan->bytes;
      }
      break;
    case SearchField::time:
      value = analysis.costs[id.index()].ns;
      break;
    case SearchField::flops:
      value = analysis.flops[id.index()].total;
      break;
    case SearchField::exposed: {
      // Only starts match, since the wait of a collective has the same exposed time.
      if (!graph.is_collective_start(graph.node(id))) return false;
      const std::int32_t c = analysis.simulation.collective_of(id);
      if (c < 0) return false;
      value = analysis.simulation.collectives()[static_cast<std::size_t>(c)].exposed_ns;
      // One nanosecond or less counts as hidden.
      if (value <= 1) value = 0;
      break;
    }
    case SearchField::users:
      value = static_cast<std::int64_t>(snapshot_->users.of(id).size());
      break;
    case SearchField::inputs:
      value = static_cast<std::int64_t>(graph.inputs(id).size());
      break;
    default: {
      const auto step = analysis.memory.step_of(id);
      if (!step) return false;
      value = static_cast<std::int64_t>(*step);
    }
  }
  const auto number = static_cast<double>(value);
  switch (term.relation) {
    case SearchTerm::Relation::less:
      return number < term.number;
    case SearchTerm::Relation::at_most:
      return number <= term.number;
    case SearchTerm::Relation::at_least:
      return number >= term.number;
    case SearchTerm::Relation::more:
      return number > term.number;
    default:
      return number == term.number;
  }
}

bool NodeSearch::shape_holds(const SearchTerm& term, const Node& node) const {
  const Graph& graph = snapshot_->graph;
  const auto tensors = graph.tensors(node);
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
    const auto shape = graph.shape(t);
    return std::search(shape.begin(), shape.end(), term.sizes.begin(), term.sizes.end(),
                       [](const Dim& dim, std::int64_t size) { return dim.value == size; }) !=
           shape.end();
  });
}

NodeSearch::Flags NodeSearch::holds(const SearchTerm& term) const {
  const Graph& graph = snapshot_->graph;
  switch (term.field) {
    case SearchField::anything:
    case SearchField::name:
    case SearchField::op:
    case SearchField::module:
    case SearchField::stack:
      return text_holds(term);
    default:
      break;
  }
  const auto text_matches = [&](std::string_view text) {
    if (text.empty()) return false;
    if (term.pattern) return term.pattern->match(to_qstring(text)).hasMatch();
    return contains_any(lowercase(text), term.texts);
  };
  std::vector<char> groups(graph.group_count());  // by group: its label matches
  if (term.field == SearchField::group)
    for (std::size_t i = 0; i < groups.size(); ++i)
      groups[i] = text_matches(graph.group_label(GroupId(i))) ? 1 : 0;
  SearchTerm tag = term;
  for (std::string& text : tag.texts) text = joined_words(std::move(text));

  Flags flags(graph.node_count(), 0);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const NodeId id(i);
    const Node& n = graph.node(id);
    bool holds = false;
    switch (term.field) {
      case SearchField::tag: {
        const std::string_view policy = to_string(n.policy);
        holds = term.pattern ? text_matches(policy) : contains_any(lowercase(policy), tag.texts);
        break;
      }
      case SearchField::group:
        holds = n.group && groups[n.group.index()] != 0;
        break;
      case SearchField::role:
        holds = text_matches(role_name(n.role));
        break;
      case SearchField::phase:
        holds = std::any_of(term.texts.begin(), term.texts.end(),
                            [&](const std::string& phase) { return phase_holds(phase, n); });
        break;
      case SearchField::dtype: {
        const auto tensors = graph.tensors(n);
        holds = std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
          if (term.pattern) return text_matches(short_name(t.dtype));
          return std::any_of(term.texts.begin(), term.texts.end(), [&](const std::string& type) {
            return type == short_name(t.dtype) || type == to_string(t.dtype);
          });
        });
        break;
      }
      case SearchField::policy:
      case SearchField::decider: {
        const auto of_plan = plan_ ? plan_(id) : std::nullopt;
        holds = of_plan && text_matches(term.field == SearchField::policy ? of_plan->policy
                                                                          : of_plan->decider);
        break;
      }
      case SearchField::shape:
        holds = shape_holds(term, n);
        break;
      default:
        holds = number_holds(term, id);
    }
    flags[i] = holds ? 1 : 0;
  }
  return flags;
}

std::vector<NodeId> NodeSearch::find(const SearchQuery& query) const {
  if (query.terms.empty()) return {};
  const Graph& graph = snapshot_->graph;
  Flags all(graph.node_count(), 1);
  for (const SearchTerm& term : query.terms) {
    const Flags flags = holds(term);
    const char wanted = term.is_negated ? 0 : 1;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (flags[i] != wanted) all[i] = 0;
  }
  std::vector<NodeId> found;
  for (const NodeId id : graph.order())
    if (all[id.index()] != 0) found.push_back(id);
  return found;
}

Result<std::vector<NodeId>> NodeSearch::find(std::string_view query) const {
  JOINTER_TRY(const SearchQuery parsed, parse_search(query));
  for (const SearchTerm& term : parsed.terms)
    if (!plan_ && (term.field == SearchField::policy || term.field == SearchField::decider))
      return fail(Error::Kind::usage,
                  "`policy:` and `by:` work only in the SAC pane, which has the plan. To search "
                  "the tags of the graph's nodes, use `tag:`.");
  return find(parsed);
}

}  // namespace jointer::views
