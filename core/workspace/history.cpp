#include "core/workspace/history.h"

#include <algorithm>
#include <initializer_list>

#include "core/edit/recipe.h"

namespace jointer {
namespace {

OrderedJson edit_to_json(const Edit& edit) {
  return OrderedJson::parse(write_edit(edit), nullptr, false);
}

Result<Edit> edit_from_json(const OrderedJson& json, const std::string& where = "edit") {
  return read_edit(write_json(json), where);
}

std::string members_besides(const OrderedJson& json,
                            std::initializer_list<std::string_view> known) {
  std::string members;
  for (const auto& [key, value] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end()) keep_member(members, key, value);
  return members;
}

Result<std::vector<Edit>> edits_from_json(const OrderedJson& json) {
  if (!json.is_array()) return input_error("`edits`: expected a list");
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < json.size(); ++i) {
    JOINTER_TRY(Edit edit, edit_from_json(json[i], fmt::format("edit {}", i)));
    edits.push_back(std::move(edit));
  }
  return edits;
}

OrderedJson edits_to_json(const std::vector<Edit>& edits) {
  OrderedJson json = OrderedJson::array();
  for (const Edit& edit : edits) json.push_back(edit_to_json(edit));
  return json;
}

Result<std::size_t> count_member(const OrderedJson& json, const char* key, std::size_t most) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned() || found->get<std::size_t>() > most)
    return input_error("`{}`: expected a whole number from 0 to {}", key, most);
  return found->get<std::size_t>();
}

std::size_t edits_after(const HistoryStep& step) {
  return step.keep + step.edits.size();
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
  const std::size_t before = place == 0 ? 0 : edits_after(steps[place - 1]);
  std::string title = edit.title;
  add(HistoryStep{.title = std::move(title), .keep = before, .edits = {std::move(edit)}});
}

void History::add(HistoryStep step) {
  steps.resize(place);
  steps.push_back(std::move(step));
  ++place;
}

OrderedJson step_to_json(const HistoryStep& step, std::size_t edits_before) {
  if (step.keep == edits_before && step.edits.size() == 1 &&
      step.title == step.edits.front().title && step.extra.empty())
    return edit_to_json(step.edits.front());
  OrderedJson json{
      {"title", step.title}, {"keep", step.keep}, {"edits", edits_to_json(step.edits)}};
  add_members(json, step.extra);
  return json;
}

Result<HistoryStep> step_from_json(const OrderedJson& json, std::size_t edits_before) {
  HistoryStep step;
  if (!json.is_object()) return input_error("expected an object");
  if (!json.contains("keep")) {
    JOINTER_TRY(Edit edit, edit_from_json(json));
    return HistoryStep{.title = edit.title, .keep = edits_before, .edits = {std::move(edit)}};
  }
  JOINTER_TRY(step.keep, count_member(json, "keep", edits_before));
  if (const auto title = json.find("title"); title != json.end() && title->is_string())
    step.title = title->get<std::string>();
  JOINTER_TRY(step.edits, edits_from_json(json.contains("edits") ? json["edits"] : OrderedJson()));
  step.extra = members_besides(json, {"title", "keep", "edits"});
  return step;
}

OrderedJson states_to_json(const std::vector<KeptState>& states) {
  OrderedJson json = OrderedJson::array();
  for (const KeptState& state : states) {
    json.push_back({{"name", state.name}, {"edits", edits_to_json(state.edits)}});
    add_members(json.back(), state.extra);
  }
  return json;
}

Result<std::vector<KeptState>> states_from_json(const OrderedJson& json) {
  if (!json.is_array()) return input_error("`states`: expected a list");
  std::vector<KeptState> states;
  for (const OrderedJson& each : json) {
    KeptState state;
    if (!each.is_object() || !each.contains("name") || !each["name"].is_string())
      return input_error("state {}: it has no name", states.size());
    state.name = each["name"].get<std::string>();
    auto edits = edits_from_json(each.contains("edits") ? each["edits"] : OrderedJson());
    if (!edits) return input_error("state {}: {}", state.name, edits.error().message);
    state.edits = *std::move(edits);
    state.extra = members_besides(each, {"name", "edits"});
    states.push_back(std::move(state));
  }
  return states;
}

void history_to_json(OrderedJson& object, const History& history) {
  object["edits"] = OrderedJson::array();
  std::size_t before = 0;
  for (const HistoryStep& step : history.steps) {
    object["edits"].push_back(step_to_json(step, before));
    before = edits_after(step);
  }
  object["place"] = history.place;
  object["states"] = states_to_json(history.states);
}

Result<History> history_from_json(const OrderedJson& object) {
  History history;
  const auto steps = object.find("edits");
  if (steps == object.end() || !steps->is_array()) return input_error("it has no list `edits`");
  std::size_t before = 0;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    auto step = step_from_json((*steps)[i], before);
    if (!step) return input_error("edit {}: {}", i, step.error().message);
    before = edits_after(*step);
    history.steps.push_back(*std::move(step));
  }
  JOINTER_TRY(history.place, count_member(object, "place", history.steps.size()));
  if (object.contains("states")) {
    JOINTER_TRY(history.states, states_from_json(object["states"]));
  }
  return history;
}

}  // namespace jointer
