#include "core/pass/pipeline_file.h"

#include <limits>

#include "core/base/bytes.h"
#include "core/base/characters.h"
#include "core/base/file_start.h"
#include "core/base/json_fields.h"

namespace jointer {
namespace {

constexpr const char* kFormat = "jointer-pipeline";
constexpr int kVersion = 1;

// Some editors write a byte order mark before the text.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

bool begins_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

// --- Text ---

// Splits a text into steps at commas and line breaks that are outside brackets and quotes, and
// drops comments.
class Cutter {
 public:
  struct Piece {
    std::string text;
    std::vector<std::size_t> places = {};  // positions of its characters in the whole text
    std::size_t line = 0;                  // the line in which it begins, from 1
  };

  std::vector<Piece> cut(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '#' && !in_quotes_) {
        while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
        continue;
      }
      take(c, i, i > 0 && text[i - 1] == '\\' && !is_escaped_);
      if (c == '\n') ++line_;
    }
    end_piece();
    return std::move(pieces_);
  }

 private:
  void take(char c, std::size_t place, bool is_escaped) {
    is_escaped_ = in_quotes_ && is_escaped;
    if (c == '"' && !is_escaped_) in_quotes_ = !in_quotes_;
    if (!in_quotes_ && (c == '{' || c == '[')) ++depth_;
    if (!in_quotes_ && (c == '}' || c == ']') && depth_ > 0) --depth_;
    if (!in_quotes_ && depth_ == 0 && (c == ',' || c == '\n')) {
      end_piece();
      return;
    }
    const bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (piece_.text.empty() && is_blank) return;
    if (piece_.text.empty()) piece_.line = line_;
    // Inside brackets, a line break counts as a blank.
    piece_.text += c == '\n' && !in_quotes_ ? ' ' : c;
    piece_.places.push_back(place);
  }

  void end_piece() {
    if (!piece_.text.empty()) pieces_.push_back(std::move(piece_));
    piece_ = {};
  }

  std::vector<Piece> pieces_;
  Piece piece_;
  std::size_t line_ = 1, depth_ = 0;
  bool in_quotes_ = false, is_escaped_ = false;
};

Result<PipelineFile> read_text(std::string_view text, std::string_view path) {
  auto steps = parse_step_lines(text);
  if (!steps) return input_error("{}, {}", path, steps.error().message);
  return PipelineFile{.steps = *std::move(steps)};
}

// --- JSON ---

Result<PassValue> value_of(const OrderedJson& json) {
  if (json.is_null()) return PassValue();
  if (json.is_boolean()) return PassValue(json.get<bool>());
  if (json.is_number_integer()) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(kMax))
      return fail(Error::Kind::input, "{} is too large; the maximum is {}", json.dump(), kMax);
    return PassValue(json.get<std::int64_t>());
  }
  if (json.is_number()) return PassValue(json.get<double>());
  if (json.is_string()) return PassValue(json.get<std::string>());
  if (!json.is_array())
    return fail(Error::Kind::input,
                "expected null, a boolean, a number, a string or a list, got an object");
  PassValue::List list;
  for (const OrderedJson& each : json) {
    JOINTER_TRY(list.emplace_back(), value_of(each));
  }
  return PassValue(std::move(list));
}

constexpr auto kStep = std::tuple(json_field("pass", &PipelineStep::pass),
                                  json_field("enabled", &PipelineStep::is_enabled));
constexpr auto kNameFields = std::tuple(json_field("name", &PipelineFile::name).if_set(),
                                        json_field("summary", &PipelineFile::summary).if_set());

Result<PipelineStep> read_step(const OrderedJson& json) {
  if (json.is_string()) {
    JOINTER_TRY(const Pipeline steps, parse_pipeline(json.get<std::string>()));
    if (steps.size() != 1)
      return fail(Error::Kind::input, "expected one step, got `{}`", json.get<std::string>());
    return steps.front();
  }
  if (!json.is_object()) return fail(Error::Kind::input, "expected an object or a string");
  PipelineStep step;
  JsonMembers members(json);
  read_fields(members, step, kStep);
  if (!is_word(step.pass)) members.refuse(fmt::format("`pass`: invalid pass name `{}`", step.pass));
  const OrderedJson* parameters = members.find("parameters");
  if (parameters != nullptr && !parameters->is_object()) members.expect("parameters", "an object");
  if (!members.problem().empty()) return input_error("{}", members.problem());
  if (parameters == nullptr) return step;
  for (const auto& each : parameters->items()) {
    if (!is_word(each.key()))
      return fail(Error::Kind::input, "`{}` is not a valid parameter name", each.key());
    auto value = value_of(each.value());
    if (!value)
      return fail(Error::Kind::input, "parameter `{}`: {}", each.key(), value.error().message);
    step.given.emplace_back(each.key(), *std::move(value));
  }
  return step;
}

Result<PipelineFile> read_json_file(std::string_view text, std::string_view path) {
  JOINTER_TRY(const OrderedJson json, parse_json(text, path));
  JsonMembers members(json, std::string(path));
  if (const OrderedJson* format = members.find("format"); format == nullptr || *format != kFormat)
    return input_error("{}: not a pipeline: expected `format` to be \"{}\"", path, kFormat);
  const OrderedJson* version = members.find("version");
  if (version == nullptr || !version->is_number_integer() || version->get<std::int64_t>() < 1)
    return input_error("{}: `version` is missing or not a positive integer", path);
  if (version->get<std::int64_t>() > kVersion)
    return input_error(
        "{}: version {} is not supported: this program reads version {}; use a newer Jointer", path,
        version->get<std::int64_t>(), kVersion);
  PipelineFile file;
  read_fields(members, file, kNameFields);
  const OrderedJson* steps = members.find("steps");
  if (steps == nullptr || !steps->is_array())
    return input_error("{}: `steps` is missing or not a list", path);
  members.read_list("steps", [&](const OrderedJson& each, std::size_t i) {
    auto step = read_step(each);
    if (step)
      file.steps.push_back(*std::move(step));
    else
      members.refuse(fmt::format("{}, step {}: {}", path, i + 1, step.error().message));
  });
  if (!members.problem().empty()) return input_error("{}", members.problem());
  file.extra = members.rest();
  return file;
}

std::string comment(const std::string& text) {
  std::string out = "# ";
  for (const char c : text) out += c == '\n' ? std::string("\n# ") : std::string(1, c);
  return out + '\n';
}

}  // namespace

Result<Pipeline> parse_step_lines(std::string_view text, std::size_t* wrong_at) {
  Pipeline pipeline;
  for (const Cutter::Piece& piece : Cutter().cut(text)) {
    std::size_t at = 0;
    auto steps = parse_pipeline(piece.text, &at);
    if (!steps) {
      if (wrong_at != nullptr)
        *wrong_at = at < piece.places.size() ? piece.places[at] : piece.places.back() + 1;
      return fail(Error::Kind::usage, "line {}: {}", piece.line, steps.error().message);
    }
    pipeline.insert(pipeline.end(), steps->begin(), steps->end());
  }
  return pipeline;
}

bool is_pipeline_file(const std::string& path) {
  if (path.ends_with(".jointer-passes")) return true;
  constexpr std::size_t kHead = 256;
  const auto head = read_start(path, kHead);
  return head && begins_json(without_mark(*head)) &&
         head->find(fmt::format("\"{}\"", kFormat)) != std::string::npos;
}

Result<PipelineFile> read_pipeline_file(std::string_view file, std::string_view path) {
  const std::string_view text = without_mark(file);
  return begins_json(text) ? read_json_file(text, path) : read_text(text, path);
}

std::string write_pipeline_text(const PipelineFile& file) {
  std::string text;
  if (!file.name.empty()) text += comment(file.name);
  if (!file.summary.empty()) text += comment(file.summary);
  for (const PipelineStep& step : file.steps) text += to_text(step) + '\n';
  return text;
}

std::string write_pipeline_json(const PipelineFile& file) {
  OrderedJson json{{"format", kFormat}, {"version", kVersion}};
  write_fields(json, file, kNameFields);
  OrderedJson& steps = json["steps"] = OrderedJson::array();
  for (const PipelineStep& step : file.steps) {
    OrderedJson one{{"pass", step.pass}};
    if (!step.given.empty()) {
      OrderedJson& parameters = one["parameters"] = OrderedJson::object();
      for (const auto& given : step.given) parameters[given.first] = pass_value_json(given.second);
    }
    if (!step.is_enabled) one["enabled"] = false;
    steps.push_back(std::move(one));
  }
  add_members(json, file.extra);
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

Result<void> write_pipeline_file(const std::string& path, const PipelineFile& file) {
  return write_bytes(
      path, path.ends_with(".json") ? write_pipeline_json(file) : write_pipeline_text(file));
}

}  // namespace jointer
