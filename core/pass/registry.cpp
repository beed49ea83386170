#include "core/pass/registry.h"

#include <algorithm>

#include "core/base/characters.h"
#include "core/base/nearest_name.h"

namespace jointer {
namespace {

std::string_view name_of_pass(const Pass& pass) {
  return pass.info.name;
}

}  // namespace

Result<void> PassRegistry::add(Pass pass) {
  const PassInfo& info = pass.info;
  if (!is_word(info.name))
    return fail(Error::Kind::usage, "invalid pass name `{}`; use letters, digits, `_`, `.` and `-`",
                info.name);
  if (find(info.name) != nullptr)
    return fail(Error::Kind::usage, "there is already a pass {}; choose a different name",
                info.name);
  for (const Parameter& parameter : info.parameters) {
    const auto count = std::ranges::count_if(
        info.parameters, [&](const Parameter& p) { return p.name == parameter.name; });
    if (!is_word(parameter.name))
      return fail(Error::Kind::usage,
                  "{}: invalid parameter name `{}`; use letters, digits, `_`, `.` and `-`",
                  info.name, parameter.name);
    if (count > 1)
      return fail(Error::Kind::usage, "{}: parameter `{}` is declared more than once", info.name,
                  parameter.name);
    if (parameter.default_value.is_none()) continue;
    const auto fits =
        Arguments::check(std::span(&parameter, 1), {{parameter.name, parameter.default_value}});
    if (!fits)
      return fail(Error::Kind::usage, "{}: invalid default: {}", info.name, fits.error().message);
  }
  const auto place =
      std::ranges::upper_bound(passes_, std::string_view(info.name), {}, name_of_pass);
  passes_.insert(place, std::move(pass));
  return {};
}

const Pass* PassRegistry::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(passes_, name, {}, name_of_pass);
  return found != passes_.end() && found->info.name == name ? &*found : nullptr;
}

Result<void> PassRegistry::check(const Pipeline& pipeline) const {
  for (const PipelineStep& step : pipeline) {
    const Pass* pass = find(step.pass);
    if (pass == nullptr) {
      std::vector<std::string_view> names;
      for (const Pass& each : passes_) names.emplace_back(each.info.name);
      if (names.empty())
        return fail(Error::Kind::usage, "there is no pass {}: no passes are loaded", step.pass);
      return fail(Error::Kind::usage, "there is no pass {}{} `jointer passes` lists all passes",
                  step.pass, nearest_name_question(step.pass, names));
    }
    if (const auto fits = Arguments::check(pass->info.parameters, step.given); !fits)
      return fail(Error::Kind::usage, "{}: {}", step.pass, fits.error().message);
  }
  return {};
}

}  // namespace jointer
