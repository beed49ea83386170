#include "core/pass/registry.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace jointer {
namespace {

// Letters to insert, remove or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(
          row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] == b[j] ? 0 : 1)}));
  }
  return row.back();
}

}  // namespace

Result<void> PassRegistry::add(Pass pass) {
  const PassInfo& info = pass.info;
  if (!is_word(info.name)) return fail(Error::Kind::usage, "`{}` is no name for a pass", info.name);
  if (find(info.name) != nullptr)
    return fail(Error::Kind::usage, "there is a pass {} already", info.name);
  for (const Parameter& parameter : info.parameters) {
    const auto count = std::count_if(info.parameters.begin(), info.parameters.end(),
                                     [&](const Parameter& p) { return p.name == parameter.name; });
    if (!is_word(parameter.name) || count > 1)
      return fail(Error::Kind::usage,
                  "{}: parameter `{}` is declared twice, or its name is no word", info.name,
                  parameter.name);
    if (parameter.otherwise.is_none()) continue;
    const auto fits =
        Arguments::check(std::span(&parameter, 1), {{parameter.name, parameter.otherwise}});
    if (!fits)
      return fail(Error::Kind::usage, "{}: by default {}", info.name, fits.error().message);
  }
  const auto place = std::upper_bound(
      passes_.begin(), passes_.end(), info.name,
      [](const std::string& name, const Pass& each) { return name < each.info.name; });
  passes_.insert(place, std::move(pass));
  return {};
}

const Pass* PassRegistry::find(std::string_view name) const {
  const auto found = std::lower_bound(
      passes_.begin(), passes_.end(), name,
      [](const Pass& each, std::string_view wanted) { return each.info.name < wanted; });
  return found != passes_.end() && found->info.name == name ? &*found : nullptr;
}

Result<void> PassRegistry::check(const Pipeline& pipeline) const {
  for (const PipelineStep& step : pipeline) {
    const Pass* pass = find(step.pass);
    if (pass == nullptr) {
      const auto nearest =
          std::min_element(passes_.begin(), passes_.end(), [&](const Pass& a, const Pass& b) {
            return edit_distance(a.info.name, step.pass) < edit_distance(b.info.name, step.pass);
          });
      if (nearest == passes_.end())
        return fail(Error::Kind::usage, "there is no pass {}: none is loaded", step.pass);
      return fail(Error::Kind::usage,
                  "there is no pass {}; did you mean {}? `jointer passes` lists all", step.pass,
                  nearest->info.name);
    }
    if (const auto fits = Arguments::check(pass->info.parameters, step.given); !fits)
      return fail(Error::Kind::usage, "{}: {}", step.pass, fits.error().message);
  }
  return {};
}

}  // namespace jointer
