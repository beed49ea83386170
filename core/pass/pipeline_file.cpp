#include "core/pass/pipeline_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>

#include "core/base/json_text.h"

namespace jointer {
namespace {

constexpr const char* kFormat = "jointer-pipeline";
constexpr int kVersion = 1;

// Some editors put a byte order mark before a text.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

// --- Text ---

// Splits a text into steps at commas and line breaks outside brackets and quotes.
class Cutter {
 public:
  struct Piece {
    std::string text;
    std::vector<std::size_t> places = {};  // of each of its characters in the whole text
    std::size_t line = 0;                  // where the piece begins, from 1
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
    // A line break inside brackets is a blank.
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
  return PipelineFile{.name = {}, .summary = {}, .steps = *std::move(steps)};
}

// --- JSON ---

Result<PassValue> value_of(const OrderedJson& json) {
  if (json.is_null()) return PassValue();
  if (json.is_boolean()) return PassValue(json.get<bool>());
  if (json.is_number_integer()) {
    if (json.is_number_unsigned() &&
        json.get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return fail(Error::Kind::input, "{} is too large", json.dump());
    return PassValue(json.get<std::int64_t>());
  }
  if (json.is_number()) return PassValue(json.get<double>());
  if (json.is_string()) return PassValue(json.get<std::string>());
  if (!json.is_array())
    return fail(Error::Kind::input, "expected a value of a parameter, got an object");
  PassValue::List list;
  for (const OrderedJson& each : json) {
    JOINTER_TRY(PassValue value, value_of(each));
    list.push_back(std::move(value));
  }
  return PassValue(std::move(list));
}

OrderedJson to_json(const PassValue& value) {
  struct Writer {
    OrderedJson operator()(std::monostate) const { return nullptr; }
    OrderedJson operator()(bool held) const { return held; }
    OrderedJson operator()(std::int64_t held) const { return held; }
    OrderedJson operator()(double held) const { return held; }
    OrderedJson operator()(const std::string& held) const { return held; }
    OrderedJson operator()(const PassValue::List& held) const {
      OrderedJson list = OrderedJson::array();
      for (const PassValue& each : held) list.push_back(to_json(each));
      return list;
    }
  };
  return std::visit(Writer(), value.held);
}

Result<std::string> text_member(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return std::string();
  if (!found->is_string()) return fail(Error::Kind::input, "`{}`: expected a string", key);
  return found->get<std::string>();
}

Result<PipelineStep> read_step(const OrderedJson& json) {
  if (json.is_string()) {
    JOINTER_TRY(const Pipeline steps, parse_pipeline(json.get<std::string>()));
    if (steps.size() != 1)
      return fail(Error::Kind::input, "`{}` is not one step", json.get<std::string>());
    return steps.front();
  }
  if (!json.is_object()) return fail(Error::Kind::input, "expected an object or a string");
  PipelineStep step;
  JOINTER_TRY(step.pass, text_member(json, "pass"));
  if (!is_word(step.pass)) return fail(Error::Kind::input, "`pass` is not the name of a pass");
  if (const auto enabled = json.find("enabled"); enabled != json.end()) {
    if (!enabled->is_boolean()) return fail(Error::Kind::input, "`enabled` is not true or false");
    step.is_enabled = enabled->get<bool>();
  }
  const auto parameters = json.find("parameters");
  if (parameters == json.end()) return step;
  if (!parameters->is_object()) return fail(Error::Kind::input, "`parameters`: expected an object");
  for (const auto& each : parameters->items()) {
    if (!is_word(each.key()))
      return fail(Error::Kind::input, "`{}`: expected the name of a parameter", each.key());
    JOINTER_TRY(PassValue value, value_of(each.value()));
    step.given.emplace_back(each.key(), std::move(value));
  }
  return step;
}

Result<PipelineFile> read_json(std::string_view text, std::string_view path) {
  JOINTER_TRY(const OrderedJson json, parse_json(text, path));
  if (!json.is_object() || json.value("format", OrderedJson()) != kFormat)
    return input_error("{}: not a pipeline: expected `format` to be \"{}\"", path, kFormat);
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_integer() || version->get<std::int64_t>() < 1)
    return input_error("{}: `version` is missing or not a number", path);
  if (version->get<std::int64_t>() > kVersion)
    return input_error(
        "{}: version {} is not supported: this program reads version {}; use a newer Jointer", path,
        version->get<std::int64_t>(), kVersion);
  PipelineFile file;
  auto name = text_member(json, "name"), summary = text_member(json, "summary");
  if (!name) return input_error("{}: {}", path, name.error().message);
  if (!summary) return input_error("{}: {}", path, summary.error().message);
  file.name = *std::move(name);
  file.summary = *std::move(summary);
  const auto steps = json.find("steps");
  if (steps == json.end() || !steps->is_array())
    return input_error("{}: `steps` is missing or not a list", path);
  for (const OrderedJson& each : *steps) {
    auto step = read_step(each);
    if (!step)
      return input_error("{}, step {}: {}", path, file.steps.size() + 1, step.error().message);
    file.steps.push_back(*std::move(step));
  }
  constexpr std::array<std::string_view, 5> kKnown{"format", "version", "name", "summary", "steps"};
  for (const auto& each : json.items())
    if (std::find(kKnown.begin(), kKnown.end(), each.key()) == kKnown.end())
      keep_member(file.extra, each.key(), each.value());
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
  // The beginning is enough; captures are large.
  constexpr std::size_t kHead = 256;
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return without_mark(head).starts_with('{') &&
         head.find(fmt::format("\"{}\"", kFormat)) != std::string::npos;
}

Result<PipelineFile> read_pipeline_file(std::string_view file, std::string_view path) {
  const std::string_view text = without_mark(file);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' ? read_json(text, path)
                                                               : read_text(text, path);
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
  if (!file.name.empty()) json["name"] = file.name;
  if (!file.summary.empty()) json["summary"] = file.summary;
  OrderedJson& steps = json["steps"] = OrderedJson::array();
  for (const PipelineStep& step : file.steps) {
    OrderedJson one{{"pass", step.pass}};
    if (!step.given.empty()) {
      OrderedJson& parameters = one["parameters"] = OrderedJson::object();
      for (const auto& given : step.given) parameters[given.first] = to_json(given.second);
    }
    if (!step.is_enabled) one["enabled"] = false;
    steps.push_back(std::move(one));
  }
  add_members(json, file.extra);
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

}  // namespace jointer
