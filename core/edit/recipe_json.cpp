// Writes and reads recipes as JSON. nlohmann::ordered_json holds the numbers within nodes: 64-bit
// integers and doubles are written as they were read.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/edit/recipe.h"

namespace jointer {
namespace {

using Json = nlohmann::ordered_json;

// Version 2 has `inputs` and `copy`, which readers of version 1 would ignore.
constexpr std::int64_t kVersion = 2, kOldestVersion = 1;
constexpr std::size_t kFingerprintLine = 64;  // characters: 16 nodes
constexpr int kIndent = 2;
constexpr int kChangesDepth = 3;    // document, edits, edit, changes
constexpr std::size_t kShort = 96;  // an array or object up to this length is written on one line

// --- Writing ---

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print_line(const Json& json, std::string& out) {
  if (!json.is_structured()) {
    out += dump(json);
    return;
  }
  out += json.is_array() ? '[' : '{';
  bool first = true;
  for (const auto& item : json.items()) {
    if (!first) out += ", ";
    first = false;
    if (json.is_object()) out += dump(Json(item.key())) + ": ";
    print_line(item.value(), out);
  }
  out += json.is_array() ? ']' : '}';
}

// Prints strings, as many per line as fit.
void print_filled(const Json& texts, const std::string& indent, std::string& out) {
  out += '[';
  std::size_t width = kShort;  // so that the first one begins a line
  for (const Json& text : texts) {
    const std::string written = dump(text);
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

// Prints one change per line, if it fits. The document, graphs, edits and lists of changes extend
// over several lines; short values within them are on one.
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
    if (json.is_object()) out += dump(Json(item.key())) + ": ";
    print(item.value(), depth + 1, out);
  }
  out += "\n" + indent + (json.is_array() ? "]" : "}");
}

// Adds members that were kept as `"key":value,...`.
void add_extra(Json& json, const std::string& extra) {
  if (extra.empty()) return;
  const Json members = Json::parse("{" + extra + "}", nullptr, false);
  if (members.is_object())
    for (const auto& member : members.items()) json[member.key()] = member.value();
}

struct ChangeWriter {
  Json operator()(const MoveNodes& move) const {
    Json json = {{"move", move.nodes}, {"before", move.before}};
    add_extra(json, move.extra);
    return json;
  }
  Json operator()(const SetPolicy& set) const {
    Json json;
    json["policy"] = set.policy == MemoryPolicy::none ? Json() : Json(to_string(set.policy));
    json["select"] = set.nodes.empty() ? Json(set.select) : Json(set.nodes);
    if (set.region.kind != RegionChange::Kind::keep)
      json["ac_graph_id"] =
          set.region.kind == RegionChange::Kind::set ? Json(set.region.id) : Json();
    add_extra(json, set.extra);
    return json;
  }
  Json operator()(const InsertNode& insert) const {
    Json json;
    json["insert"] = Json::parse(insert.node, nullptr, false);
    json["before"] = insert.before;
    add_extra(json, insert.extra);
    return json;
  }
  Json operator()(const RemoveNode& remove) const {
    Json json;
    json["remove"] = remove.node;
    add_extra(json, remove.extra);
    return json;
  }
  Json operator()(const ReplaceCall& replace) const {
    Json json;
    json["replace"] = replace.node;
    for (const auto& [from, to] : replace.inputs) json["inputs"][from] = to;
    if (replace.target) json["target"] = *replace.target;
    if (replace.args) json["args"] = Json::parse(*replace.args, nullptr, false);
    if (replace.kwargs) json["kwargs"] = Json::parse(*replace.kwargs, nullptr, false);
    if (replace.val) json["val"] = Json::parse(*replace.val, nullptr, false);
    if (replace.custom) json["custom"] = Json::parse(*replace.custom, nullptr, false);
    add_extra(json, replace.extra);
    return json;
  }
  Json operator()(const RestoreNode&) const { return nullptr; }
  Json operator()(const RestoreCall&) const { return nullptr; }
};

Json to_json(const Edit& edit) {
  Json json;
  json["title"] = edit.title;
  if (!edit.by.empty()) json["by"] = edit.by;
  if (!edit.notes.empty()) json["notes"] = edit.notes;
  json["changes"] = Json::array();
  for (const Change& change : edit.changes)
    if (Json written = std::visit(ChangeWriter{}, change); !written.is_null())
      json["changes"].push_back(std::move(written));
  for (const Decision& decision : edit.decisions) {
    Json& written = json["decisions"].emplace_back(Json::object());
    if (!decision.node.empty()) written["node"] = decision.node;
    written["action"] = decision.action;
    if (!decision.reason.empty()) written["reason"] = decision.reason;
    if (!decision.effect.empty()) written["effect"] = decision.effect;
    add_extra(written, decision.extra);
  }
  add_extra(json, edit.extra);
  return json;
}

// The oldest version whose readers know all members of the change.
std::int64_t version_of(const Json& change) {
  const auto has = [](const Json& object, const char* key) {
    return object.is_object() && object.contains(key);
  };
  const auto insert = change.find("insert");
  const bool copies = insert != change.end() && (has(*insert, "copy") || has(*insert, "inputs"));
  return copies || (has(change, "replace") && has(change, "inputs")) ? 2 : kOldestVersion;
}

// --- Reading ---

struct Failure {
  std::string message;
};
template <class... Args>
[[noreturn]] void give_up(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{fmt::format(format, std::forward<Args>(args)...)};
}

// An object whose known members are taken one by one. The rest is kept.
class Members {
 public:
  Members(const Json& json, std::string where) : where_(std::move(where)) {
    if (!json.is_object()) give_up("{}: expected an object", where_);
    json_ = json;
  }
  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }
  [[nodiscard]] bool is_list(const char* key) const { return has(key) && json_[key].is_array(); }
  [[nodiscard]] const std::string& where() const { return where_; }

  Json take(const char* key) {
    const auto it = json_.find(key);
    if (it == json_.end()) return {};
    Json value = *it;
    json_.erase(key);
    return value;
  }
  std::string text(const char* key) {
    if (!has(key)) give_up("{}: it has no `{}`", where_, key);
    return optional_text(key);
  }
  std::string optional_text(const char* key) {
    if (!has(key)) return {};
    const Json value = take(key);
    if (!value.is_string()) give_up("{}: `{}`: expected a string", where_, key);
    return value.get<std::string>();
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> texts;
    if (!has(key)) return texts;
    const Json value = take(key);
    if (!value.is_array()) give_up("{}: `{}`: expected a list of strings", where_, key);
    for (const Json& text : value) {
      if (!text.is_string()) give_up("{}: `{}`: expected a list of strings", where_, key);
      texts.push_back(text.get<std::string>());
    }
    return texts;
  }
  [[nodiscard]] std::string rest() const {
    const std::string object = dump(json_);
    return object.substr(1, object.size() - 2);
  }

 private:
  Json json_;
  std::string where_;
};

std::string structured(Members& members, const char* key, bool is_object) {
  const Json value = members.take(key);
  if (is_object ? !value.is_object() : !value.is_array())
    give_up("{}: `{}`: expected {}", members.where(), key, is_object ? "an object" : "a list");
  return dump(value);
}

SetPolicy read_policy(Members& members) {
  SetPolicy set;
  if (members.is_list("select")) {
    set.nodes = members.texts("select");
    if (set.nodes.empty()) give_up("{}: `select`: it selects no node", members.where());
  } else {
    set.select = members.text("select");
  }
  if (members.has("ac_graph_id")) {
    const Json region = members.take("ac_graph_id");
    if (!region.is_null() && !region.is_number_integer())
      give_up("{}: `ac_graph_id`: expected a whole number or null", members.where());
    set.region.kind = region.is_null() ? RegionChange::Kind::remove : RegionChange::Kind::set;
    if (!region.is_null()) set.region.id = region.get<std::int64_t>();
  }
  const Json policy = members.take("policy");
  if (!policy.is_null()) {
    if (!policy.is_string()) give_up("{}: `policy`: expected a string or null", members.where());
    const auto known = parse_memory_policy(policy.get<std::string>());
    if (!known || *known == MemoryPolicy::none)
      give_up("{}: unknown policy `{}`", members.where(), policy.get<std::string>());
    set.policy = *known;
  }
  set.extra = members.rest();
  return set;
}

std::vector<std::pair<std::string, std::string>> read_inputs(Members& members) {
  for (const char* key : {"target", "args", "kwargs"})
    if (members.has(key))
      give_up("{}: `inputs` and `{}` cannot be used together", members.where(), key);
  const Json inputs = members.take("inputs");
  if (!inputs.is_object() || inputs.empty())
    give_up("{}: `inputs`: expected an object with the name of a node per input", members.where());
  std::vector<std::pair<std::string, std::string>> read;
  for (const auto& input : inputs.items()) {
    if (!input.value().is_string())
      give_up("{}: `inputs`, {}: expected a string", members.where(), input.key());
    read.emplace_back(input.key(), input.value().get<std::string>());
  }
  return read;
}

ReplaceCall read_replace(Members& members) {
  ReplaceCall replace{.node = members.text("replace"), .target = {}, .args = {}, .kwargs = {}};
  if (members.has("inputs")) replace.inputs = read_inputs(members);
  if (members.has("target")) replace.target = members.text("target");
  if (members.has("args")) replace.args = structured(members, "args", false);
  if (members.has("kwargs")) replace.kwargs = structured(members, "kwargs", true);
  if (members.has("val")) replace.val = dump(members.take("val"));
  if (members.has("custom")) {
    const Json custom = members.take("custom");
    if (!custom.is_object() && !custom.is_null())
      give_up("{}: `custom`: expected an object or null", members.where());
    replace.custom = dump(custom);
  }
  replace.extra = members.rest();
  return replace;
}

Change read_change(const Json& json, const std::string& where) {
  Members members(json, where);
  constexpr std::array<const char*, 5> kKinds{"move", "policy", "insert", "remove", "replace"};
  const auto count = std::count_if(kKinds.begin(), kKinds.end(),
                                   [&](const char* kind) { return members.has(kind); });
  if (count == 0)
    give_up(
        "{}: not a known change (move, policy, insert, remove, replace); use a newer "
        "Jointer",
        where);
  if (count > 1) give_up("{}: it has more than one change", where);
  if (members.has("move")) {
    MoveNodes move{.nodes = members.texts("move"), .before = members.text("before")};
    move.extra = members.rest();
    return move;
  }
  if (members.has("policy")) return read_policy(members);
  if (members.has("insert")) {
    InsertNode insert{.node = structured(members, "insert", true),
                      .before = members.text("before")};
    insert.extra = members.rest();
    return insert;
  }
  if (members.has("remove")) {
    RemoveNode remove{.node = members.text("remove")};
    remove.extra = members.rest();
    return remove;
  }
  return read_replace(members);
}

Decision read_decision(const Json& json, const std::string& where) {
  Members members(json, where);
  Decision decision{.pass = {},
                    .node = members.optional_text("node"),
                    .action = members.text("action"),
                    .reason = members.optional_text("reason"),
                    .effect = members.optional_text("effect")};
  decision.extra = members.rest();
  return decision;
}

Edit read_edit_json(const Json& json, const std::string& where) {
  Members members(json, where);
  Edit edit{.title = members.optional_text("title"),
            .by = members.optional_text("by"),
            .changes = {},
            .notes = members.texts("notes")};
  const Json changes = members.take("changes");
  if (!changes.is_array()) give_up("{}: `changes`: expected a list", where);
  for (std::size_t i = 0; i < changes.size(); ++i)
    edit.changes.push_back(read_change(changes[i], fmt::format("{}, change {}", where, i)));
  if (members.has("decisions")) {
    const Json decisions = members.take("decisions");
    if (!decisions.is_array()) give_up("{}: `decisions`: expected a list", where);
    for (std::size_t i = 0; i < decisions.size(); ++i)
      edit.decisions.push_back(
          read_decision(decisions[i], fmt::format("{}, decision {}", where, i)));
  }
  edit.extra = members.rest();
  return edit;
}

std::map<std::string, std::string> read_nodes(Members& members, const char* key) {
  std::map<std::string, std::string> nodes;
  if (!members.has(key)) return nodes;
  const Json read = members.take(key);
  if (!read.is_object()) give_up("{}: `{}`: expected an object", members.where(), key);
  for (const auto& node : read.items()) {
    if (!node.value().is_string())
      give_up("{}: `{}`, {}: expected the name of a node", members.where(), key, node.key());
    nodes.emplace(node.key(), node.value().get<std::string>());
  }
  return nodes;
}

RecipeGraph read_graph(const std::string& key, const Json& json, Json& fingerprints) {
  const std::string where = fmt::format("graphs, {}", key);
  if (key != "graph" && key != "forward" && key != "backward")
    give_up("{}: unknown graph; expected graph, forward or backward", where);
  Members members(json, where);
  RecipeGraph graph{.key = key,
                    .nodes = 0,
                    .hash = members.text("hash"),
                    .after = members.optional_text("after"),
                    .fingerprint = {},
                    .rank_hash = members.optional_text("rank_hash"),
                    .rank_after = members.optional_text("rank_after"),
                    .groups = read_nodes(members, "groups"),
                    .devices = read_nodes(members, "devices")};
  if (const Json nodes = members.take("nodes"); nodes.is_number_unsigned())
    graph.nodes = nodes.get<std::size_t>();
  else if (!nodes.is_null())
    give_up("{}: `nodes`: expected a number", where);
  graph.extra = members.rest();
  if (!fingerprints.is_object() || !fingerprints.contains(key)) return graph;
  for (const Json& line : fingerprints[key]) {
    if (!line.is_string()) give_up("fingerprints, {}: expected a list of strings", key);
    graph.fingerprint += line.get<std::string>();
  }
  fingerprints.erase(key);
  return graph;
}

Recipe read_document(const Json& json) {
  Members members(json, "recipe");
  if (const Json format = members.take("format"); format != "jointer-recipe")
    give_up("it has no `format` \"jointer-recipe\": not a recipe");
  const Json version = members.take("version");
  if (!version.is_number_integer()) give_up("it has no `version`");
  if (const auto number = version.get<std::int64_t>(); number < kOldestVersion || number > kVersion)
    give_up("recipe version {} is not supported: this program reads versions {} to {}; {}", number,
            kOldestVersion, kVersion,
            number > kVersion ? "use a newer Jointer" : "it is not a version");
  Recipe recipe{.name = members.optional_text("name"), .graphs = {}, .edits = {}, .expects = {}};
  Json fingerprints = members.take("fingerprints");
  if (!fingerprints.is_null() && !fingerprints.is_object())
    give_up("`fingerprints`: expected an object");
  if (const Json graphs = members.take("graphs"); graphs.is_object())
    for (const auto& graph : graphs.items())
      recipe.graphs.push_back(read_graph(graph.key(), graph.value(), fingerprints));
  else if (!graphs.is_null())
    give_up("`graphs`: expected an object");
  const Json edits = members.take("edits");
  if (!edits.is_array()) give_up("it has no list `edits`");
  for (std::size_t i = 0; i < edits.size(); ++i)
    recipe.edits.push_back(read_edit_json(edits[i], fmt::format("edit {}", i)));
  if (const Json expects = members.take("expects"); expects.is_object())
    for (const auto& node : expects.items()) {
      if (!node.value().is_string()) give_up("expects, {}: expected a string", node.key());
      recipe.expects[node.key()] = node.value().get<std::string>();
    }
  else if (!expects.is_null())
    give_up("`expects`: expected an object");
  recipe.extra = members.rest();
  return recipe;
}

// Deep nesting would overflow the stack. Edits nest about a dozen levels deep.
constexpr std::size_t kMaxDepth = 200;

template <class Read>
auto read_text(std::string_view text, Read read) -> Result<decltype(read(Json()))> {
  std::size_t depth = 0;
  bool too_deep = false;
  const auto watch = [&](int level, Json::parse_event_t, Json&) {
    depth = std::max(depth, static_cast<std::size_t>(level));
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  try {
    const Json json = Json::parse(text.begin(), text.end(), watch);
    if (too_deep) return input_error("nested more than {} deep", kMaxDepth);
    return read(json);
  } catch (const Failure& failure) {
    return input_error("{}", failure.message);
  } catch (const Json::parse_error& error) {
    return input_error("invalid JSON near byte {}; is the file truncated or damaged?", error.byte);
  } catch (const Json::exception& error) {
    return input_error("{}", error.what());
  }
}

}  // namespace

std::string write_recipe(const Recipe& recipe) {
  Json json = {{"format", "jointer-recipe"}, {"version", kOldestVersion}};
  if (!recipe.name.empty()) json["name"] = recipe.name;
  Json fingerprints = Json::object();
  for (const RecipeGraph& graph : recipe.graphs) {
    Json& written = json["graphs"][graph.key];
    if (graph.nodes > 0) written["nodes"] = graph.nodes;
    written["hash"] = graph.hash;
    if (!graph.after.empty()) written["after"] = graph.after;
    if (!graph.rank_hash.empty()) written["rank_hash"] = graph.rank_hash;
    if (!graph.rank_after.empty()) written["rank_after"] = graph.rank_after;
    if (!graph.groups.empty()) written["groups"] = graph.groups;
    if (!graph.devices.empty()) written["devices"] = graph.devices;
    add_extra(written, graph.extra);
    for (std::size_t at = 0; at < graph.fingerprint.size(); at += kFingerprintLine)
      fingerprints[graph.key].push_back(graph.fingerprint.substr(at, kFingerprintLine));
  }
  json["edits"] = Json::array();
  std::int64_t version = kOldestVersion;
  for (const Edit& edit : recipe.edits) {
    json["edits"].push_back(to_json(edit));
    for (const Json& change : json["edits"].back()["changes"])
      version = std::max(version, version_of(change));
  }
  json["version"] = version;
  add_extra(json, recipe.extra);
  if (!recipe.expects.empty()) json["expects"] = recipe.expects;
  if (!fingerprints.empty()) json["fingerprints"] = std::move(fingerprints);
  std::string out;
  print(json, 0, out);
  return out + "\n";
}

Result<Recipe> read_recipe(std::string_view text) {
  return read_text(text, [](const Json& json) { return read_document(json); });
}

std::string write_edit(const Edit& edit) {
  return dump(to_json(edit));
}

Result<Edit> read_edit(std::string_view text, const std::string& where) {
  return read_text(text, [&](const Json& json) { return read_edit_json(json, where); });
}

}  // namespace jointer
