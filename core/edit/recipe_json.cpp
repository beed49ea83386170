// Writes and reads recipes as JSON.

#include <algorithm>
#include <array>
#include <tuple>

#include "core/base/json_fields.h"
#include "core/edit/recipe.h"
#include "core/edit/record_json.h"

namespace jointer {

constexpr auto json_fields(const MoveNodes* /*of*/) {
  return std::tuple(json_field("move", &MoveNodes::nodes).required(),
                    json_field("before", &MoveNodes::before).required(),
                    json_rest(&MoveNodes::extra));
}

constexpr auto json_fields(const RemoveNode* /*of*/) {
  return std::tuple(json_field("remove", &RemoveNode::node).required(),
                    json_rest(&RemoveNode::extra));
}

constexpr auto json_fields(const Decision* /*of*/) {
  return std::tuple(json_field("node", &Decision::node).if_set(),
                    json_field("action", &Decision::action).required(),
                    json_field("reason", &Decision::reason).if_set(),
                    json_field("effect", &Decision::effect).if_set(), json_rest(&Decision::extra));
}

constexpr auto json_fields(const RecipeGraph* /*of*/) {
  return std::tuple(json_field("nodes", &RecipeGraph::nodes).if_set(),
                    json_field("hash", &RecipeGraph::hash).required(),
                    json_field("after", &RecipeGraph::after).if_set(),
                    json_field("rank_hash", &RecipeGraph::rank_hash).if_set(),
                    json_field("rank_after", &RecipeGraph::rank_after).if_set(),
                    json_field("groups", &RecipeGraph::groups).if_set(),
                    json_field("devices", &RecipeGraph::devices).if_set(),
                    json_rest(&RecipeGraph::extra));
}

namespace {

using Json = OrderedJson;

Result<std::optional<Shared<ValueRecord>>> read_shared_value(const Json& json) {
  return read_value(json);
}
Json shared_value_json(const Shared<ValueRecord>& value) {
  return value_json(*value);
}

// Field tables for the members before and after those that a table cannot describe.
constexpr auto kReplaced = std::tuple(json_field("replace", &ReplaceCall::node).required());
constexpr auto kReplacement =
    std::tuple(json_field("target", &ReplaceCall::target).if_set(),
               json_own_form("args", &ReplaceCall::args, optionally<read_args>, args_json),
               json_own_form("kwargs", &ReplaceCall::kwargs, optionally<read_kwargs>, kwargs_json),
               json_own_form("val", &ReplaceCall::val, read_shared_value, shared_value_json),
               json_raw("custom", &ReplaceCall::custom, JsonForm::object_or_null),
               json_rest(&ReplaceCall::extra));
constexpr auto kPlace =
    std::tuple(json_field("before", &InsertNode::before).required(), json_rest(&InsertNode::extra));
constexpr auto kEditHead =
    std::tuple(json_field("title", &Edit::title), json_field("by", &Edit::by).if_set(),
               json_field("notes", &Edit::notes).if_set());

// Version 2 added `inputs` and `copy`, which readers of version 1 would ignore.
constexpr std::int64_t kVersion = 2, kOldestVersion = 1;
constexpr std::size_t kFingerprintLine = 64;  // characters: 16 nodes
constexpr int kIndent = 2;
constexpr int kChangesDepth = 3;    // document, edits, edit, changes
constexpr std::size_t kShort = 96;  // an array or object up to this length is written on one line

// --- Writing ---

void print_line(const Json& json, std::string& out) {
  if (!json.is_structured()) {
    out += write_json(json);
    return;
  }
  out += json.is_array() ? '[' : '{';
  bool first = true;
  for (const auto& item : json.items()) {
    if (!first) out += ", ";
    first = false;
    if (json.is_object()) out += quoted_json(item.key()) + ": ";
    print_line(item.value(), out);
  }
  out += json.is_array() ? ']' : '}';
}

// Prints strings, as many per line as fit.
void print_filled(const Json& texts, const std::string& indent, std::string& out) {
  out += '[';
  std::size_t width = kShort;  // so that the first one begins a line
  for (const Json& text : texts) {
    const std::string written = write_json(text);
    if (width + written.size() + 2 > kShort) {
      out += "\n" + indent;
      width = indent.size();
    } else {
      out += ' ';
      ++width;
    }
    out += written + ",";
    width += written.size() + 1;
  }
  out.back() = ']';
}

// Prints one change per line, if it fits. The document, graphs, edits and lists of changes span
// several lines; each short value within them is on one line.
void print(const Json& json, int depth, std::string& out) {
  const bool holds_changes =
      depth == kChangesDepth && json.is_array() && !json.empty() && json.front().is_object();
  const bool spreads = !json.empty() && ((json.is_object() && depth < kChangesDepth) ||
                                         (json.is_array() && depth == 1) || holds_changes);
  const std::string indent(static_cast<std::size_t>(kIndent * depth), ' ');
  std::string line;
  if (!spreads) print_line(json, line);
  if (!spreads && (!json.is_structured() || line.size() + indent.size() <= kShort)) {
    out += line;
    return;
  }
  if (depth > kChangesDepth && json.is_array() &&
      std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_string(); })) {
    print_filled(json, indent + std::string(kIndent, ' '), out);
    return;
  }
  out += json.is_array() ? "[" : "{";
  bool first = true;
  for (const auto& item : json.items()) {
    out += (first ? "\n" : ",\n") + indent + std::string(kIndent, ' ');
    first = false;
    if (json.is_object()) out += quoted_json(item.key()) + ": ";
    print(item.value(), depth + 1, out);
  }
  out += "\n" + indent + (json.is_array() ? "]" : "}");
}

struct ChangeWriter {
  template <HasJsonFields Kind>
  Json operator()(const Kind& change) const {
    return json_of(change);
  }
  Json operator()(const SetPolicy& set) const {
    Json json;
    add_member(json, "policy",
               set.policy == MemoryPolicy::none ? Json() : Json(to_string(set.policy)));
    add_member(json, "select", set.nodes.empty() ? json_of(set.select) : json_of(set.nodes));
    if (set.region.kind != RegionChange::Kind::keep)
      add_member(json, "ac_graph_id",
                 set.region.kind == RegionChange::Kind::set ? Json(set.region.id) : Json());
    add_members(json, set.extra);
    return json;
  }
  Json operator()(const InsertNode& insert) const {
    Json json;
    add_member(json, "insert", node_json(*insert.node));
    write_fields(json, insert, kPlace);
    return json;
  }
  Json operator()(const ReplaceCall& replace) const {
    Json json;
    write_fields(json, replace, kReplaced);
    if (!replace.inputs.empty()) add_member(json, "inputs", json_of(replace.inputs));
    write_fields(json, replace, kReplacement);
    return json;
  }
  Json operator()(const RestoreNode&) const { return nullptr; }
  Json operator()(const RestoreCall&) const { return nullptr; }
};

// The oldest version whose readers understand all members of the change.
std::int64_t version_of(const Json& change) {
  const auto has = [](const Json& object, const char* key) {
    return object.is_object() && object.contains(key);
  };
  const auto insert = change.find("insert");
  const bool copies = insert != change.end() && (has(*insert, "copy") || has(*insert, "inputs"));
  return copies || (has(change, "replace") && has(change, "inputs")) ? 2 : kOldestVersion;
}

// --- Reading ---

SetPolicy read_policy(JsonMembers& members) {
  SetPolicy set;
  if (const Json* select = members.find("select"); select != nullptr && select->is_array()) {
    members.read("select", set.nodes);
    if (set.nodes.empty())
      members.refuse(members.place_of("select") + ": expected at least one node");
  } else {
    read_fields(members, set, std::tuple(json_field("select", &SetPolicy::select).required()));
  }
  if (const Json* region = members.find("ac_graph_id")) {
    set.region.kind = region->is_null() ? RegionChange::Kind::remove : RegionChange::Kind::set;
    if (!region->is_null() && read_json(*region, set.region.id) != nullptr)
      members.expect("ac_graph_id", "an integer or null");
  }
  if (const Json* policy = members.find_set("policy")) {
    std::string name;
    if (read_json(*policy, name) != nullptr) members.expect("policy", "a string or null");
    const auto known = parse_memory_policy(name);
    if (!known || *known == MemoryPolicy::none)
      members.refuse(fmt::format("{}: unknown policy `{}`; expected null or one of {}",
                                 members.place(), name, memory_policy_names()));
    else
      set.policy = *known;
  }
  set.extra = members.rest();
  return set;
}

InsertNode read_insert(JsonMembers& members) {
  InsertNode insert;
  const Json& json = *members.find("insert");
  read_fields(members, insert, kPlace);
  if (!json.is_object()) {
    members.expect("insert", "an object");
    return insert;
  }
  auto node = read_node(
      json, fmt::format("{}: cannot insert a node before {}", members.place(), insert.before));
  if (node)
    insert.node = *std::move(node);
  else
    members.refuse(node.error().message);
  return insert;
}

void read_inputs(JsonMembers& members, ReplaceCall& replace) {
  const Json* inputs = members.find("inputs");
  if (inputs == nullptr) return;
  for (const char* key : {"target", "args", "kwargs"})
    if (members.has(key))
      members.refuse(
          fmt::format("{}: `inputs` and `{}` cannot be used together", members.place(), key));
  if (!inputs->is_object() || inputs->empty())
    return members.expect("inputs", "an object with a node name for each input");
  for (const auto& input : inputs->items()) {
    auto& [from, to] = replace.inputs.emplace_back(input.key(), std::string());
    if (const char* expected = read_json(input.value(), to))
      members.refuse(
          fmt::format("{}, {}: expected {}", members.place_of("inputs"), from, expected));
  }
}

template <class Kind>
Kind read_kind(JsonMembers& members) {
  Kind change;
  read_fields(members, change);
  return change;
}

Change read_change(JsonMembers& members) {
  constexpr std::array<const char*, 5> kKinds{"move", "policy", "insert", "remove", "replace"};
  const auto count =
      std::ranges::count_if(kKinds, [&](const char* kind) { return members.has(kind); });
  if (count == 0)
    members.refuse(members.place() +
                   ": not a known change (move, policy, insert, remove, replace); use a newer "
                   "Jointer");
  if (count > 1) members.refuse(members.place() + ": expected a single change");
  if (members.has("policy")) return read_policy(members);
  if (members.has("insert")) return read_insert(members);
  if (members.has("remove")) return read_kind<RemoveNode>(members);
  if (members.has("move")) return read_kind<MoveNodes>(members);
  ReplaceCall replace;
  read_fields(members, replace, kReplaced);
  read_inputs(members, replace);
  read_fields(members, replace, kReplacement);
  return replace;
}

// Reads an edit, and records problems in `document`. `where`: the edit's location in the document.
Edit read_edit(const Json& json, const std::string& where, JsonMembers& document) {
  JsonMembers members(json, where);
  Edit edit;
  read_fields(members, edit, kEditHead);
  if (!members.has("changes")) members.expect("changes", "a list");
  members.read_list("changes", [&](const Json& change, std::size_t i) {
    JsonMembers inner(change, fmt::format("{}, change {}", where, i));
    edit.changes.push_back(read_change(inner));
    members.check(inner);
  });
  members.read_list("decisions", [&](const Json& decision, std::size_t i) {
    JsonMembers inner(decision, fmt::format("{}, decision {}", where, i));
    read_fields(inner, edit.decisions.emplace_back());
    members.check(inner);
  });
  edit.extra = members.rest();
  document.check(members);
  return edit;
}

// Reads the record of a graph. `fingerprints`: the document's member, keyed by graph.
RecipeGraph read_graph(const std::string& key, const Json& json, JsonMembers& fingerprints,
                       JsonMembers& document) {
  JsonMembers members(json, "graphs, " + key);
  if (key != "graph" && key != "forward" && key != "backward")
    members.refuse(members.place() + ": unknown graph; expected graph, forward or backward");
  RecipeGraph graph;
  graph.key = key;
  read_fields(members, graph);
  fingerprints.read_list(key, [&](const Json& line, std::size_t /*at*/) {
    std::string text;
    if (read_json(line, text) != nullptr)
      members.refuse(fmt::format("fingerprints, {}: expected a list of strings", key));
    graph.fingerprint += text;
  });
  document.check(members);
  return graph;
}

Recipe read_document(JsonMembers& members) {
  Recipe recipe;
  const Json* format = members.find("format");
  if (format == nullptr || *format != "jointer-recipe")
    members.refuse("not a recipe: expected `format` to be \"jointer-recipe\"");
  std::optional<std::int64_t> version;
  if (const Json* json = members.find("version"); json != nullptr && json->is_number_integer())
    version = json->get<std::int64_t>();
  if (!version)
    members.refuse("`version` is missing or not an integer");
  else if (*version < kOldestVersion || *version > kVersion)
    members.refuse(fmt::format(
        "recipe version {} is not supported: this program reads versions {} to {}{}", *version,
        kOldestVersion, kVersion, *version > kVersion ? "; use a newer Jointer" : ""));
  if (!members.problem().empty()) return recipe;
  members.read("name", recipe.name);
  const Json none = Json::object();
  const Json* lines = members.find_set("fingerprints");
  if (lines != nullptr && !lines->is_object()) members.expect("fingerprints", "an object");
  JsonMembers fingerprints(lines != nullptr ? *lines : none, "fingerprints");
  if (const Json* graphs = members.find_set("graphs")) {
    if (!graphs->is_object())
      members.expect("graphs", "an object");
    else
      for (const auto& graph : graphs->items())
        recipe.graphs.push_back(read_graph(graph.key(), graph.value(), fingerprints, members));
  }
  members.check(fingerprints);
  if (const Json* edits = members.find("edits"); edits == nullptr || !edits->is_array())
    members.refuse("`edits` is missing or not a list");
  members.read_list("edits", [&](const Json& edit, std::size_t i) {
    recipe.edits.push_back(read_edit(edit, fmt::format("edit {}", i), members));
  });
  members.read("expects", recipe.expects);
  recipe.extra = members.rest();
  return recipe;
}

Result<Json> parse(std::string_view text) {
  auto tree = parse_tree(text);
  if (tree) return *std::move(tree);
  if (tree.error().is_too_deep)
    return input_error("nested more than {} levels deep", kMaxJsonDepth);
  if (tree.error().byte == 0) return input_error("invalid JSON: a number is too large");
  return input_error("invalid JSON near byte {}; is the file truncated or damaged?",
                     tree.error().byte);
}

}  // namespace

std::string write_recipe(const Recipe& recipe) {
  Json json;
  add_member(json, "format", "jointer-recipe");
  add_member(json, "version", kOldestVersion);
  if (!recipe.name.empty()) add_member(json, "name", json_of(recipe.name));
  Json graphs, fingerprints = Json::object();
  for (const RecipeGraph& graph : recipe.graphs) {
    add_member(graphs, graph.key, json_of(graph));
    Json lines = Json::array();
    for (std::size_t at = 0; at < graph.fingerprint.size(); at += kFingerprintLine)
      lines.push_back(graph.fingerprint.substr(at, kFingerprintLine));
    if (!lines.empty()) add_member(fingerprints, graph.key, std::move(lines));
  }
  if (!graphs.is_null()) add_member(json, "graphs", std::move(graphs));
  Json edits = Json::array();
  std::int64_t version = kOldestVersion;
  for (const Edit& edit : recipe.edits) {
    edits.push_back(json_of(edit));
    for (const Json& change : edits.back()["changes"])
      version = std::max(version, version_of(change));
  }
  add_member(json, "edits", std::move(edits));
  json["version"] = version;
  add_members(json, recipe.extra);
  if (!recipe.expects.empty()) add_member(json, "expects", json_of(recipe.expects));
  if (!fingerprints.empty()) add_member(json, "fingerprints", std::move(fingerprints));
  std::string out;
  print(json, 0, out);
  return out + "\n";
}

Result<Recipe> read_recipe(std::string_view text) {
  JOINTER_TRY(const Json json, parse(text));
  JsonMembers members(json, {});
  Recipe recipe = read_document(members);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  return recipe;
}

OrderedJson json_of(const Edit& edit) {
  Json json;
  write_fields(json, edit, kEditHead);
  Json changes = Json::array();
  for (const Change& change : edit.changes)
    if (Json written = std::visit(ChangeWriter{}, change); !written.is_null())
      changes.push_back(std::move(written));
  add_member(json, "changes", std::move(changes));
  if (!edit.decisions.empty()) add_member(json, "decisions", json_of(edit.decisions));
  add_members(json, edit.extra);
  return json;
}

Result<Edit> read_edit_tree(const OrderedJson& json, const std::string& where) {
  JsonMembers problems(json, where);
  Edit edit = read_edit(json, where, problems);
  if (!problems.problem().empty()) return input_error("{}", problems.problem());
  return edit;
}

}  // namespace jointer
