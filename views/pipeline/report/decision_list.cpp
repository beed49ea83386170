#include "views/pipeline/report/decision_list.h"

#include <QString>
#include <algorithm>
#include <map>

namespace jointer::views {

DecisionList list_decisions(std::vector<ReportedStep> steps) {
  DecisionList list;
  list.steps = std::move(steps);
  std::map<std::string, std::size_t> actions;
  std::vector<std::string> names;
  for (std::size_t step = 0; step < list.steps.size(); ++step) {
    const StepResult& result = *list.steps[step].result;
    const std::string title = QString::fromStdString(result.step).toLower().toStdString();
    for (const Decision& decision : result.decisions) {
      list.rows.push_back({&decision, static_cast<int>(step)});
      names.push_back(decision.node);
      ++actions[decision.action];
      const std::string text =
          decision.node + '\n' + decision.action + '\n' + decision.reason + '\n' + decision.effect;
      list.texts.push_back(QString::fromStdString(text).toLower().toStdString() + '\n' + title);
    }
  }
  list.names = NamedRows(std::move(names));
  list.actions.assign(actions.begin(), actions.end());
  std::ranges::stable_sort(list.actions, std::ranges::greater(),
                           [](const auto& each) { return each.second; });
  return list;
}

}  // namespace jointer::views
