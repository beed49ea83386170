#include "core/partition/plan_margin_text.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/units.h"

namespace jointer {
namespace {

// "118 KiB per microsecond"
std::string density_text(double bytes_per_us) {
  return fmt::format("{} per microsecond", bytes_per_us < 1
                                               ? format_significant(bytes_per_us) + " B"
                                               : format_bytes(std::llround(bytes_per_us)));
}

// "the peak would be 224 MiB higher, and the step 1.94 ms shorter"
std::string difference(const Figures& from, const Figures& to) {
  const std::int64_t bytes = to.peak_bytes - from.peak_bytes, ns = to.step_ns - from.step_ns;
  if (bytes == 0 && ns == 0) return "the peak and the step would be the same";
  const std::string peak =
      bytes == 0 ? "the peak would be the same"
                 : fmt::format("the peak would be {} {}", format_bytes(std::abs(bytes)),
                               bytes > 0 ? "higher" : "lower");
  if (ns == 0) return peak + ", and the step the same";
  return fmt::format("{}, and the step {} {}", peak, format_ns(std::abs(ns)),
                     ns > 0 ? "longer" : "shorter");
}

std::string verb(PlanAction action) {
  return std::string(to_string(action));
}

// Explains whether recomputing the value is worth its time.
std::string value_text(const Graph& joint, const ValueMargin& margin) {
  const SaveCandidate& value = margin.value;
  const std::string time = format_ns(value.recompute_ns);
  if (value.action == PlanAction::offload) {
    std::string text = fmt::format("Copying {} takes {} each way",
                                   format_bytes(joint.output_bytes(joint.node(value.node))),
                                   format_ns(margin.copy_ns));
    text += value.chain == 0 ? "; the value cannot be recomputed."
                             : fmt::format("; recomputing the value would take {}.", time);
    const auto& saved = margin.choice(PlanAction::save).figures;
    if (!saved) return text;
    const std::int64_t exposed = margin.now.step_ns - saved->step_ns;
    return text + (exposed <= 0
                       ? " The copies are hidden: the step would not be shorter without them."
                       : fmt::format(" {} of the copies is exposed.", format_ns(exposed)));
  }
  if (value.chain == 0) {
    const std::string& why = margin.choice(PlanAction::recompute).why_not;
    return why.empty() ? "It cannot be recomputed."
                       : fmt::format("It cannot be recomputed: {}.", why);
  }
  const bool is_saved = value.action == PlanAction::save;
  if (value.bytes == 0)
    return is_saved ? "Its memory is occupied anyway: recomputing it would free nothing."
                    : "Its memory is occupied anyway: recomputing it frees nothing.";
  return fmt::format("Recomputing it {} {} and {} {}: {}.", is_saved ? "would free" : "frees",
                     format_bytes(value.bytes), is_saved ? "take" : "takes", time,
                     density_text(*margin.bytes_per_us));
}

std::string cut_off_text(const ValueMargin& margin) {
  if (!margin.bytes_per_us || margin.value.action == PlanAction::offload) return {};
  const bool is_saved = margin.value.action == PlanAction::save;
  if (!margin.cutoff_bytes_per_us)
    return "The plan has no cut-off: no density separates the values that it recomputes from those "
           "that it saves.";
  const double density = *margin.bytes_per_us, cutoff = *margin.cutoff_bytes_per_us;
  const std::string from = density_text(cutoff);
  if (density == cutoff)
    return fmt::format("This is the cut-off of the plan, which recomputes values of {} or more.",
                       from);
  if (is_saved == (density > cutoff))
    return fmt::format(
        "The plan recomputes values of {} or more: by its density alone, this value would be {}.",
        from, participle(is_saved ? PlanAction::recompute : PlanAction::save));
  const std::string times = format_significant(density / cutoff);
  return is_saved
             ? fmt::format(
                   "The plan recomputes values of {} or more: this value would be recomputed if "
                   "that took less than {} times as long.",
                   from, times)
             : fmt::format(
                   "The plan recomputes values of {} or more: this value would be saved if "
                   "recomputing it took more than {} times as long.",
                   from, times);
}

std::string dependency_text(const Graph& joint, const ValueMargin& margin) {
  if (margin.if_saved_too)
    return fmt::format("By its density, it would be recomputed if {} were saved too.",
                       joint.name(margin.if_saved_too));
  if (margin.only_for)
    return fmt::format(
        "It is recomputed only for {}: if that value were saved, this one would not be needed.",
        joint.name(margin.only_for));
  return {};
}

std::string otherwise_text(const ValueMargin& margin) {
  std::string text;
  for (const PlanAction action : {PlanAction::save, PlanAction::recompute, PlanAction::offload}) {
    const ValueMargin::Choice& choice = margin.choice(action);
    if (action == margin.value.action || !choice.figures) continue;
    text += fmt::format("{}If it were {}, {}.", text.empty() ? "" : " ", participle(action),
                        difference(margin.now, *choice.figures));
  }
  return text;
}

std::string equal_text(const Graph& joint, const ValueMargin& margin) {
  const std::size_t count = margin.equal_count();
  if (count < 2) return {};
  std::string parts;
  for (const PlanAction action : {PlanAction::save, PlanAction::recompute, PlanAction::offload}) {
    const std::size_t of = margin.equal[static_cast<std::size_t>(action)];
    if (of == count)
      return fmt::format("{} equal values are {}.",
                         count == 2 ? "Both" : fmt::format("All {}", count), participle(action));
    if (of > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", of, participle(action));
  }
  std::string text = fmt::format("One of {} equal values: {}.", count, parts);
  if (!margin.exchange) return text;
  const std::string_view with = joint.name(margin.exchange->with);
  const Figures& figures = margin.exchange->figures;
  const bool is_same =
      figures.peak_bytes == margin.now.peak_bytes && figures.step_ns == margin.now.step_ns;
  return text +
         (is_same
              ? fmt::format(
                    " The choice among them is arbitrary: if the value swapped its decision with "
                    "{}, which is {}, the peak and the step would be the same.",
                    with, participle(margin.exchange->action))
              : fmt::format(" If the value swapped its decision with {}, which is {}, {}.", with,
                            participle(margin.exchange->action), difference(margin.now, figures)));
}

}  // namespace

std::string_view participle(PlanAction action) {
  constexpr std::array<std::string_view, 3> kParticiples{"recomputed", "saved", "offloaded"};
  return kParticiples[static_cast<std::size_t>(action)];
}

std::string capitalized(std::string_view word) {
  std::string text(word);
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

std::vector<MarginLine> explain_margin(const Graph& joint, const ValueMargin& margin) {
  std::vector<MarginLine> lines;
  const auto add = [&](std::string label, std::string text) {
    if (!text.empty()) lines.push_back({std::move(label), std::move(text)});
  };
  std::string cut_off = cut_off_text(margin);
  const std::string dependency = dependency_text(joint, margin);
  if (!cut_off.empty() && !dependency.empty()) cut_off += ' ';
  add("value", value_text(joint, margin));
  add("margin", cut_off + dependency);
  add("otherwise", otherwise_text(margin));
  add("equal values", equal_text(joint, margin));
  return lines;
}

MarginLine explain_choices(const SolverChoices& choices, std::optional<double> budget) {
  const auto torchs = [&](std::string_view name, const std::optional<SolverChoices::Torch>& made) {
    if (!made)
      return budget ? fmt::format("torch's {} has no plan", name)
                    : fmt::format("no budget of torch's {} fits", name);
    return budget ? fmt::format("torch's {} would {} it", name, verb(made->action))
                  : fmt::format("torch's {} (budget {}) would {} it", name, made->budget,
                                verb(made->action));
  };
  std::string text = fmt::format(
      "{}, {}, {}{}", budget ? fmt::format("At a budget of {}", *budget) : "At this peak",
      torchs("dp", choices.dp), choices.relaxation ? "" : "and ", torchs("greedy", choices.greedy));
  if (!choices.relaxation) {
    text += ".";
  } else {
    text += fmt::format(", and the relaxation{} would {} it.", budget ? " at the same peak" : "",
                        verb(*choices.relaxation));
    const bool is_saved = *choices.relaxation != PlanAction::recompute;
    text +=
        choices.relaxation_peak_bytes
            ? fmt::format(" According to the relaxation, it would be {} {} a peak of {}.",
                          is_saved ? "recomputed" : "saved or offloaded",
                          is_saved ? "below" : "from", format_bytes(*choices.relaxation_peak_bytes))
            : fmt::format(" No {} peak was found at which the relaxation decides differently.",
                          is_saved ? "lower" : "higher");
  }
  if (choices.other_budget && choices.dp)
    text += fmt::format(" The plan's solver decides differently at a budget of {}.",
                        *choices.other_budget);
  return {.label = "solvers", .text = std::move(text)};
}

}  // namespace jointer
