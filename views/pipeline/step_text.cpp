#include "views/pipeline/step_text.h"

#include "core/pass/parameter.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

const QString kBetween = QStringLiteral(" · ");

QString words(const char* text) {
  return PipelineSession::tr(text);
}

}  // namespace

QString arguments_text(const PipelineStep& step) {
  QStringList parts;
  for (const auto& [name, value] : step.given) parts << to_qstring(name + "=" + to_text(value));
  return parts.join(QStringLiteral(", "));
}

QString changes_text(const StepResult& result) {
  QStringList parts;
  const auto add = [&](const QString& what, std::size_t count) {
    if (count > 0) parts << QStringLiteral("%1 %2").arg(count_text(count), what);
  };
  add(words("moved"), result.moved);
  add(words("merged"), result.merged);
  add(words("added"), result.added);
  add(words("removed"), result.removed);
  add(words("changed"), result.changed);
  add(words("with a changed policy or region"), result.retagged);
  if (!parts.isEmpty()) return parts.join(kBetween);
  return result.edit_refusal.empty() ? words("no nodes changed") : words("separate graph");
}

QString outcome_text(const StepOutcome& outcome) {
  const StepResult& result = outcome.result;
  const QString changes = changes_text(result);
  if (result.before.figures == result.after.figures) return changes;
  return figures_difference_text(result.before.figures, result.after.figures) + kBetween + changes;
}

QString detail_text(const PipelineSession& session, std::size_t place) {
  const StepStatus status = session.status(place);
  if (status == StepStatus::wrong || status == StepStatus::disabled)
    if (const QString mistake = session.mistake(place); !mistake.isEmpty()) return mistake;
  if (const StepFailure* failure = session.failure(place); status == StepStatus::failed)
    return to_qstring(failure->error.message);
  const auto outcome = session.outcome(place);
  const bool has_run =
      status == StepStatus::done || status == StepStatus::undone || status == StepStatus::outdated;
  if (has_run && outcome) return outcome_text(*outcome);
  const Pass* pass = session.service().registry()->find(session.draft().steps()[place].step.pass);
  return pass == nullptr ? QString() : to_qstring(pass->info.summary);
}

QString status_line(const PipelineSession& session, std::size_t place) {
  const StepStatus status = session.status(place);
  const QString text = status_text(status);
  if (status == StepStatus::running) {
    const auto progress = session.progress();
    return progress && progress->of_step > 0
               ? QStringLiteral("%1, %2%").arg(text).arg(static_cast<int>(progress->of_step * 100))
               : text;
  }
  if (const auto outcome = session.outcome(place); status == StepStatus::done && outcome)
    return time_text(outcome->result.ns);
  return text;
}

QString parameter_text(const Parameter& parameter) {
  QStringList parts{to_qstring(to_string(parameter.type))};
  if (const std::string range = range_text(parameter); !range.empty()) parts << to_qstring(range);
  parts << words("default %1").arg(to_qstring(default_text(parameter)));
  return parts.join(QStringLiteral(", "));
}

}  // namespace jointer::views
