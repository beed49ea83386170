#include "core/bench/request.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/byte_units.h"
#include "core/base/name_table.h"
#include "core/base/number_text.h"

namespace jointer {
namespace {

// The first entry of each table is the default.
constexpr NameTable<Backend, 5> kBackends{{{"interpret", Backend::interpret},
                                           {"cudagraph", Backend::cudagraph},
                                           {"inductor", Backend::inductor},
                                           {"regional", Backend::regional},
                                           {"python", Backend::python}}};
constexpr NameTable<RunOn, 3> kRunOn{
    {{"auto", RunOn::automatic}, {"cpu", RunOn::cpu}, {"cuda", RunOn::cuda}}};
constexpr NameTable<AttentionKernel, 5> kAttention{{{"auto", AttentionKernel::automatic},
                                                    {"flash", AttentionKernel::flash},
                                                    {"efficient", AttentionKernel::efficient},
                                                    {"cudnn", AttentionKernel::cudnn},
                                                    {"math", AttentionKernel::math}}};
constexpr NameTable<Tf32, 3> kTf32{
    {{"auto", Tf32::automatic}, {"allow", Tf32::allow}, {"forbid", Tf32::forbid}}};

template <class Number>
bool parse_number(std::string_view text, Number& number, Number min) {
  const std::optional<Number> parsed = number_of<Number>(text);
  if (!parsed || *parsed < min) return false;
  number = *parsed;
  return true;
}

bool parse_seconds(std::string_view text, std::int64_t& milliseconds) {
  double seconds = 0;
  // At most about a year, so that nanoseconds in 64 bits, which hold 292 years, do not overflow.
  if (!parse_number(text, seconds, 0.0) || !(seconds > 0) || seconds > 3.2e7) return false;
  milliseconds = std::max<std::int64_t>(1, std::llround(seconds * 1000));
  return true;
}

// Refuses a size that rounds to 0 bytes, except `0` itself, since 0 means no limit.
bool parse_bytes(std::string_view text, std::int64_t& bytes) {
  const auto parsed = parse_byte_count(text);
  if (!parsed || *parsed < (text == "0" ? 0 : 1)) return false;
  bytes = *parsed;
  return true;
}

// The text that parse_seconds reads as this time, such as "0.5" or "300".
std::string seconds_text(std::int64_t milliseconds) {
  std::string text = fmt::format("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// An option with a value: how to parse the value, and how to write it if it is not the default.
struct Option {
  std::string_view name, wants;
  bool (*read)(BenchmarkRequest& request, std::string_view value);
  std::optional<std::string> (*write)(const BenchmarkRequest& request);
};

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

template <class Number>
std::optional<std::string> unless(Number value, Number usual) {
  return value == usual ? std::nullopt : std::optional(fmt::format("{}", value));
}

template <std::string BenchmarkRequest::*field>
constexpr Option text_option(std::string_view name, std::string_view wants) {
  return {name, wants,
          [](BenchmarkRequest& r, std::string_view value) {
            r.*field = value;
            return !value.empty();
          },
          [](const BenchmarkRequest& r) { return unless_empty(r.*field); }};
}

template <ProgramFiles BenchmarkRequest::*files, std::string ProgramFiles::*field>
constexpr Option file_option(std::string_view name) {
  return {name, "a file",
          [](BenchmarkRequest& r, std::string_view value) {
            r.*files.*field = value;
            return !value.empty();
          },
          [](const BenchmarkRequest& r) { return unless_empty(r.*files.*field); }};
}

template <auto field, auto usual, auto min>
constexpr Option number_option(std::string_view name, std::string_view wants) {
  using Number = std::remove_cvref_t<decltype(std::declval<BenchmarkRequest>().*field)>;
  return {name, wants,
          [](BenchmarkRequest& r, std::string_view value) {
            return parse_number<Number>(value, r.*field, Number{min});
          },
          [](const BenchmarkRequest& r) { return unless<Number>(r.*field, Number{usual}); }};
}

template <auto field, auto min>
constexpr Option optional_number_option(std::string_view name, std::string_view wants) {
  using Number = std::remove_cvref_t<decltype(*(std::declval<BenchmarkRequest>().*field))>;
  return {name, wants,
          [](BenchmarkRequest& r, std::string_view value) {
            return parse_number<Number>(value, (r.*field).emplace(), Number{min});
          },
          [](const BenchmarkRequest& r) {
            return r.*field ? std::optional(fmt::format("{}", *(r.*field))) : std::nullopt;
          }};
}

template <auto field, const auto& names>
constexpr Option choice_option(std::string_view name, std::string_view wants) {
  return {name, wants,
          [](BenchmarkRequest& r, std::string_view value) {
            const auto known = value_in(names, value);
            if (known) r.*field = *known;
            return known.has_value();
          },
          [](const BenchmarkRequest& r) {
            return r.*field == names.front().second
                       ? std::nullopt
                       : std::optional(std::string(name_in(names, r.*field)));
          }};
}

const std::array kOptions{
    file_option<&BenchmarkRequest::program, &ProgramFiles::backward>("backward"),
    file_option<&BenchmarkRequest::baseline, &ProgramFiles::graph>("baseline"),
    file_option<&BenchmarkRequest::baseline, &ProgramFiles::backward>("baseline-backward"),
    text_option<&BenchmarkRequest::inputs>("inputs", "a file"),
    text_option<&BenchmarkRequest::expected>("expected", "a file"),
    optional_number_option<&BenchmarkRequest::graph_index, 0>("graph", "an integer of at least 0"),
    text_option<&BenchmarkRequest::assumptions>("assume", "NAME=NUMBER,..."),
    number_option<&BenchmarkRequest::ranks, 0, 1>("ranks", "an integer of at least 1"),
    optional_number_option<&BenchmarkRequest::solo, 0>("solo", "a rank of at least 0"),
    choice_option<&BenchmarkRequest::backend, kBackends>(
        "backend", "one of interpret, cudagraph, inductor, regional, python"),
    choice_option<&BenchmarkRequest::on, kRunOn>("on", "one of auto, cpu, cuda"),
    choice_option<&BenchmarkRequest::attention, kAttention>(
        "attention", "one of auto, flash, efficient, cudnn, math"),
    choice_option<&BenchmarkRequest::tf32, kTf32>("tf32", "one of auto, allow, forbid"),
    text_option<&BenchmarkRequest::marked>("mark", "nodes or FQN_PATTERN::operator"),
    text_option<&BenchmarkRequest::artifacts>("artifacts", "a folder"),
    text_option<&BenchmarkRequest::nsys>("nsys", "a folder"),
    number_option<&BenchmarkRequest::iterations, 10, 1>("iterations", "an integer of at least 1"),
    number_option<&BenchmarkRequest::warmup, 3, 0>("warmup", "an integer of at least 0"),
    number_option<&BenchmarkRequest::threads, 0, 1>("threads", "an integer of at least 1"),
    number_option<&BenchmarkRequest::seed, 0, 0>("seed", "an integer of at least 0"),
    Option{"memory-limit", "a number of bytes such as 20GiB",
           [](BenchmarkRequest& r, std::string_view value) {
             return parse_bytes(value, r.memory_limit);
           },
           [](const BenchmarkRequest& r) {
             return unless<std::int64_t>(r.memory_limit, BenchmarkRequest{}.memory_limit);
           }},
    Option{"timeout", "a number of seconds above 0 and at most 32000000",
           [](BenchmarkRequest& r, std::string_view value) {
             return parse_seconds(value, r.timeout_ms);
           },
           [](const BenchmarkRequest& r) -> std::optional<std::string> {
             if (r.timeout_ms == BenchmarkRequest{}.timeout_ms) return std::nullopt;
             return seconds_text(r.timeout_ms);
           }},
};

// An option without a value, which sets a member to `value`.
struct Flag {
  std::string_view name;
  bool BenchmarkRequest::*field;
  bool value;
};

constexpr std::array kFlags{Flag{"recorded", &BenchmarkRequest::recorded, true},
                            Flag{"profile", &BenchmarkRequest::profile, true},
                            Flag{"no-pinning", &BenchmarkRequest::pins, false}};

// The flag that `word` sets, as in "--profile"; null if it sets none.
const Flag* flag_of(std::string_view word) {
  if (!word.starts_with("--")) return nullptr;
  const auto* const found = std::ranges::find(kFlags, word.substr(2), &Flag::name);
  return found == kFlags.end() ? nullptr : &*found;
}

// Reads one option into the request. `value`: nullopt if the command line ends after the option.
Result<void> read_option(BenchmarkRequest& request, std::string_view name,
                         std::optional<std::string_view> value) {
  for (const Option& option : kOptions) {
    if (option.name != name) continue;
    if (!value)
      return fail(Error::Kind::usage, "option --{}: the value is missing; expected {}", name,
                  option.wants);
    if (option.read(request, *value)) return {};
    return fail(Error::Kind::usage, "option --{}: expected {}, got `{}`", name, option.wants,
                *value);
  }
  return fail(Error::Kind::usage, "there is no option --{}", name);
}

Result<void> read_file(BenchmarkRequest& request, const std::string& path) {
  if (!request.program.graph.empty())
    return fail(Error::Kind::usage, "expected one graph, got `{}` in addition to `{}`", path,
                request.program.graph);
  request.program.graph = path;
  return {};
}

}  // namespace

std::string_view to_string(Backend backend) {
  return name_in(kBackends, backend);
}
std::string_view to_string(RunOn on) {
  return name_in(kRunOn, on);
}
std::string_view to_string(AttentionKernel kernel) {
  return name_in(kAttention, kernel);
}
std::string_view to_string(Tf32 choice) {
  return name_in(kTf32, choice);
}

std::string path_of_rank(std::string_view path, int rank) {
  constexpr std::string_view kPlace = "{rank}";
  std::string result;
  for (std::size_t at; (at = path.find(kPlace)) != std::string_view::npos;) {
    result += path.substr(0, at);
    result += fmt::format("{}", rank);
    path.remove_prefix(at + kPlace.size());
  }
  return result += path;
}

std::vector<RunnerOption> runner_options(const BenchmarkRequest& request) {
  std::vector<RunnerOption> options;
  for (const Option& option : kOptions) options.push_back({option.name, option.write(request)});
  for (const Flag& flag : kFlags)
    options.push_back({flag.name, request.*flag.field == flag.value ? std::optional(std::string())
                                                                    : std::nullopt});
  return options;
}

std::vector<std::string> runner_arguments(const BenchmarkRequest& request) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : runner_options(request))
    if (value)
      arguments.push_back(value->empty() ? fmt::format("--{}", name)
                                         : fmt::format("--{}={}", name, *value));
  if (request.program.graph.starts_with('-')) arguments.emplace_back("--");
  if (!request.program.graph.empty()) arguments.push_back(request.program.graph);
  return arguments;
}

Result<BenchmarkRequest> parse_runner_arguments(const std::vector<std::string>& arguments) {
  BenchmarkRequest request;
  bool only_files = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (only_files || word == "-" || !word.starts_with('-')) {
      JOINTER_CHECK(read_file(request, arguments[i]));
    } else if (word == "--") {
      only_files = true;
    } else if (const Flag* flag = flag_of(word)) {
      request.*flag->field = flag->value;
    } else if (!word.starts_with("--")) {
      return fail(Error::Kind::usage, "there is no option {}", word);
    } else if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
      if (flag_of(word.substr(0, equals)) != nullptr)
        return fail(Error::Kind::usage, "option {}: expected no value, got `{}`",
                    word.substr(0, equals), word.substr(equals + 1));
      JOINTER_CHECK(read_option(request, word.substr(2, equals - 2), word.substr(equals + 1)));
    } else {
      const bool has_value = ++i < arguments.size();
      JOINTER_CHECK(
          read_option(request, word.substr(2),
                      has_value ? std::optional<std::string_view>(arguments[i]) : std::nullopt));
    }
  }
  if (request.program.empty())
    return fail(Error::Kind::usage, "expected a graph; give a capture file");
  return request;
}

}  // namespace jointer
