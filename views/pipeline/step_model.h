#pragma once

#include <QAbstractListModel>
#include <vector>

#include "views/session/pipeline/pipeline_session.h"

namespace jointer::views {

// One row per pipeline step: its pass, parameters and status. A checked step is enabled.
class StepModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum DataRole : int {
    arguments_role = Qt::UserRole,
    detail_role,  // second line
    status_role,  // StepStatus as a number
    status_text_role,
    alarm_role,     // bool: the second line is an error
    progress_role,  // from 0 to 1 for the running step
  };

  // `session` must outlive this object.
  explicit StepModel(PipelineSession& session, QObject* parent = nullptr);

  [[nodiscard]] PipelineSession& session() const { return session_; }
  [[nodiscard]] quint64 id(int row) const {
    return row >= 0 && row < rowCount() ? ids_[static_cast<std::size_t>(row)] : 0;
  }
  [[nodiscard]] int row_of(quint64 id) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  void follow();

  PipelineSession& session_;
  std::vector<quint64> ids_;
};

}  // namespace jointer::views
