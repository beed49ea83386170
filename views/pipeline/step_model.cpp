#include "views/pipeline/step_model.h"

#include <algorithm>

#include "views/pipeline/step_text.h"

namespace jointer::views {
namespace {

std::vector<quint64> ids_of(const PipelineDraft& draft) {
  std::vector<quint64> ids;
  for (const DraftStep& each : draft.steps()) ids.push_back(each.id);
  return ids;
}

}  // namespace

StepModel::StepModel(PipelineSession& session, QObject* parent)
    : QAbstractListModel(parent), session_(session), ids_(ids_of(session.draft())) {
  connect(&session_, &PipelineSession::changed, this, &StepModel::follow);
  connect(&session_, &PipelineSession::progressed, this, [this] {
    const auto progress = session_.progress();
    if (!progress || ids_.empty()) return;
    const QModelIndex row = index(static_cast<int>(progress->place));
    if (row.isValid()) emit dataChanged(row, row);
  });
}

void StepModel::follow() {
  const std::vector<quint64> now = ids_of(session_.draft());
  if (now != ids_) {
    beginResetModel();
    ids_ = now;
    endResetModel();
  } else if (!ids_.empty()) {
    emit dataChanged(index(0), index(rowCount() - 1));
  }
}

int StepModel::row_of(quint64 id) const {
  const auto found = std::find(ids_.begin(), ids_.end(), id);
  return found == ids_.end() ? -1 : static_cast<int>(found - ids_.begin());
}

int StepModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(ids_.size());
}

QVariant StepModel::data(const QModelIndex& index, int role) const {
  // After the draft changes and before `follow` runs, there may be fewer steps than rows.
  const auto place = static_cast<std::size_t>(index.row());
  if (!index.isValid() || place >= session_.draft().size()) return {};
  const PipelineStep& step = session_.draft().steps()[place].step;
  const QString name = QString::fromStdString(step.pass);
  switch (role) {
    case Qt::DisplayRole:
      return name;
    case Qt::CheckStateRole:
      return step.is_enabled ? Qt::Checked : Qt::Unchecked;
    case Qt::ToolTipRole:
      return QStringLiteral("%1\n%2").arg(QString::fromStdString(to_text(step)),
                                          detail_text(session_, place));
    case Qt::AccessibleTextRole:
      return QStringLiteral("%1, %2. %3")
          .arg(name, status_text(session_.status(place)), detail_text(session_, place));
    case arguments_role:
      return arguments_text(step);
    case detail_role:
      return detail_text(session_, place);
    case status_role:
      return static_cast<int>(session_.status(place));
    case status_text_role:
      return status_line(session_, place);
    case alarm_role: {
      const StepStatus status = session_.status(place);
      return status == StepStatus::wrong || status == StepStatus::failed;
    }
    case progress_role: {
      const auto progress = session_.progress();
      return progress && progress->place == place ? progress->of_step : 0.0;
    }
    default:
      return {};
  }
}

bool StepModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || role != Qt::CheckStateRole) return false;
  session_.draft().enable(static_cast<std::size_t>(index.row()), value.toInt() == Qt::Checked);
  return true;
}

Qt::ItemFlags StepModel::flags(const QModelIndex& index) const {
  return index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable |
                               Qt::ItemNeverHasChildren
                         : Qt::NoItemFlags;
}

}  // namespace jointer::views
