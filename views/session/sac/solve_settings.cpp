#include "views/session/sac/solve_settings.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

namespace jointer::views {
namespace {

constexpr std::array kPartitioners{Partitioner::min_cut, Partitioner::default_partition};

std::string_view pass_name(Partitioner partitioner) {
  return partitioner == Partitioner::min_cut ? "min_cut_partition" : "default_partition";
}

// The index at which a pipeline's last pass starts: after the last comma outside of braces.
std::size_t last_pass(std::string_view pipeline) {
  int depth = 0;
  for (std::size_t i = pipeline.size(); i-- > 0;) {
    if (pipeline[i] == '}') ++depth;
    if (pipeline[i] == '{') --depth;
    if (pipeline[i] == ',' && depth == 0) return i + 1;
  }
  return 0;
}

bool take_parameter(SolveSettings& settings, std::string_view key, std::string_view value) {
  if (key == "ignore_tags") {
    settings.ignore_tags = value == "true";
    return value == "true" || value == "false";
  }
  if (key == "activation_budget") {
    double& budget = settings.activation_budget;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), budget);
    return error == std::errc() && end == value.data() + value.size() && budget >= 0 && budget <= 1;
  }
  if (key != "solver") return false;
  const auto solver = parse_knapsack_solver(value);
  settings.solver = solver.value_or(settings.solver);
  return solver.has_value();
}

}  // namespace

std::string_view to_string(Partitioner partitioner) {
  return partitioner == Partitioner::min_cut ? "min_cut" : "default";
}

PartitionOptions options_of(const SolveSettings& settings) {
  PartitionOptions options;
  options.partitioner = settings.partitioner;
  options.ignore_tags = settings.ignore_tags;
  options.activation_budget = settings.activation_budget;
  options.solver = settings.solver;
  return options;
}

std::string solve_text(const SolveSettings& settings) {
  const SolveSettings usual;
  std::vector<std::string> parameters;
  if (settings.activation_budget != usual.activation_budget)
    parameters.push_back(fmt::format("activation_budget={}", settings.activation_budget));
  if (settings.ignore_tags) parameters.emplace_back("ignore_tags=true");
  if (settings.solver != usual.solver)
    parameters.push_back(fmt::format("solver={}", to_string(settings.solver)));
  const std::string_view name = pass_name(settings.partitioner);
  return parameters.empty() ? std::string(name)
                            : fmt::format("{}{{{}}}", name, fmt::join(parameters, ","));
}

std::string describe(const SolveSettings& settings) {
  std::string text(to_string(settings.partitioner));
  if (settings.partitioner == Partitioner::min_cut && settings.activation_budget < 1) {
    text += fmt::format(", activation budget {}", settings.activation_budget);
    if (settings.solver != SolveSettings().solver)
      text += fmt::format(" by {}", to_string(settings.solver));
  }
  if (settings.ignore_tags) text += ", tags ignored";
  return text;
}

std::optional<SolveSettings> parse_solve(std::string_view by) {
  std::string_view pass = by.substr(last_pass(by));
  const std::size_t brace = std::min(pass.find('{'), pass.size());
  SolveSettings settings;
  bool is_known = false;
  for (const Partitioner partitioner : kPartitioners) {
    if (pass.substr(0, brace) != pass_name(partitioner)) continue;
    settings.partitioner = partitioner;
    is_known = true;
  }
  if (!is_known) return std::nullopt;
  if (brace == pass.size()) return settings;
  if (!pass.ends_with('}')) return std::nullopt;
  std::string_view parameters = pass.substr(brace + 1, pass.size() - brace - 2);
  while (!parameters.empty()) {
    const std::size_t comma = std::min(parameters.find(','), parameters.size());
    const std::string_view one = parameters.substr(0, comma);
    const std::size_t equals = std::min(one.find('='), one.size());
    if (equals == one.size() ||
        !take_parameter(settings, one.substr(0, equals), one.substr(equals + 1)))
      return std::nullopt;
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
  }
  return settings;
}

std::string_view without_solve(std::string_view by) {
  if (!parse_solve(by)) return by;
  const std::size_t pass = last_pass(by);
  return by.substr(0, pass > 0 ? pass - 1 : 0);
}

Edit solve_edit(const SolveSettings& settings) {
  return with_solve({.title = fmt::format("Solve: {}", describe(settings))}, settings);
}

Edit with_solve(Edit edit, const SolveSettings& settings) {
  edit.by += (edit.by.empty() ? "" : ",") + solve_text(settings);
  return edit;
}

}  // namespace jointer::views
