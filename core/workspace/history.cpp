#include "core/workspace/history.h"

#include <algorithm>

#include "core/base/json_fields.h"
#include "core/edit/recipe.h"

namespace jointer {
namespace {

constexpr auto kStepTitle = std::tuple(json_field("title", &HistoryStep::title).lenient());
constexpr auto kStepHead =
    std::tuple_cat(kStepTitle, std::tuple(json_field("keep", &HistoryStep::keep)));
constexpr auto kStepExtra = std::tuple(json_rest(&HistoryStep::extra));

// Reads the member `edits`, which is required.
void read_edits(JsonMembers& members, std::vector<Edit>& edits) {
  if (members.find_set("edits") == nullptr) members.expect("edits", "a list");
  members.read_list("edits", [&](const OrderedJson& json, std::size_t i) {
    auto edit = read_edit_tree(json, fmt::format("edit {}", i));
    if (edit)
      edits.push_back(*std::move(edit));
    else
      members.refuse(edit.error().message);
  });
}

OrderedJson edits_to_json(const std::vector<Edit>& edits) {
  OrderedJson json = OrderedJson::array();
  for (const Edit& edit : edits) json.push_back(json_of(edit));
  return json;
}

void read_count(JsonMembers& members, std::string_view key, std::size_t most, std::size_t& count) {
  const OrderedJson* json = members.find(key);
  if (json == nullptr || read_json(*json, count) != nullptr || count > most)
    members.expect(key, fmt::format("an integer from 0 to {}", most));
}

}  // namespace

std::vector<Edit> History::edits_at(std::size_t after) const {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < std::min(after, steps.size()); ++i) {
    edits.resize(std::min(edits.size(), steps[i].keep));
    edits.insert(edits.end(), steps[i].edits.begin(), steps[i].edits.end());
  }
  return edits;
}

void History::add(Edit edit) {
  std::string title = edit.title;
  add(HistoryStep{.title = std::move(title), .keep = edit_count(), .edits = {std::move(edit)}});
}

void History::add(HistoryStep step) {
  steps.resize(place);
  steps.push_back(std::move(step));
  ++place;
}

OrderedJson step_to_json(const HistoryStep& step, std::size_t edits_before) {
  if (step.keep == edits_before && step.edits.size() == 1 &&
      step.title == step.edits.front().title && step.extra.empty())
    return json_of(step.edits.front());
  OrderedJson json;
  write_fields(json, step, kStepHead);
  add_member(json, "edits", edits_to_json(step.edits));
  write_fields(json, step, kStepExtra);
  return json;
}

Result<HistoryStep> step_from_json(const OrderedJson& json, std::size_t edits_before) {
  JsonMembers members(json);
  if (!json.is_object()) return input_error("{}", members.problem());
  if (!members.has("keep")) {
    JOINTER_TRY(Edit edit, read_edit_tree(json));
    return HistoryStep{.title = edit.title, .keep = edits_before, .edits = {std::move(edit)}};
  }
  HistoryStep step;
  read_count(members, "keep", edits_before, step.keep);
  read_fields(members, step, kStepTitle);
  read_edits(members, step.edits);
  read_fields(members, step, kStepExtra);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  return step;
}

OrderedJson states_to_json(const std::vector<KeptState>& states) {
  OrderedJson json = OrderedJson::array();
  for (const KeptState& state : states) {
    OrderedJson& written = json.emplace_back(OrderedJson::object());
    add_member(written, "name", json_of(state.name));
    add_member(written, "edits", edits_to_json(state.edits));
    add_members(written, state.extra);
  }
  return json;
}

Result<std::vector<KeptState>> states_from_json(const OrderedJson& json) {
  if (!json.is_array()) return input_error("`states`: expected a list");
  std::vector<KeptState> states;
  for (const OrderedJson& each : json) {
    KeptState state;
    JsonMembers members(each);
    const OrderedJson* name = members.find("name");
    if (name == nullptr || read_json(*name, state.name) != nullptr)
      return input_error("state {}: `name` is missing or not a string", states.size());
    read_edits(members, state.edits);
    state.extra = members.rest();
    if (!members.problem().empty())
      return input_error("state {}: {}", state.name, members.problem());
    states.push_back(std::move(state));
  }
  return states;
}

void history_to_json(OrderedJson& object, const History& history) {
  OrderedJson steps = OrderedJson::array();
  std::size_t before = 0;
  for (const HistoryStep& step : history.steps) {
    steps.push_back(step_to_json(step, before));
    before = step.edits_after();
  }
  add_member(object, "edits", std::move(steps));
  add_member(object, "place", history.place);
  add_member(object, "states", states_to_json(history.states));
}

Result<History> history_from_json(const OrderedJson& object) {
  History history;
  JsonMembers members(object);
  const OrderedJson* steps = members.find("edits");
  if (steps == nullptr || !steps->is_array())
    return input_error("`edits` is missing or not a list");
  std::size_t before = 0;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    auto step = step_from_json((*steps)[i], before);
    if (!step) return input_error("edit {}: {}", i, step.error().message);
    before = step->edits_after();
    history.steps.push_back(*std::move(step));
  }
  read_count(members, "place", history.steps.size(), history.place);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  if (const OrderedJson* states = members.find("states")) {
    JOINTER_TRY(history.states, states_from_json(*states));
  }
  return history;
}

}  // namespace jointer
