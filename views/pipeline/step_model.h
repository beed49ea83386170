#pragma once

#include <QAbstractListModel>
#include <vector>

#include "views/pipeline/pipeline_session.h"

namespace jointer::views {

// The steps of a pipeline, one a row: which pass, what it is told, how it stands. Ticked: it runs.
class StepModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum DataRole : int {
    arguments_role = Qt::UserRole,
    detail_role,  // the second line
    status_role,  // StepStatus as a number
    status_text_role,
    alarm_role,     // the second line says what is wrong
    progress_role,  // 0 .. 1 of a step that runs
  };

  // The session must outlive it.
  explicit StepModel(PipelineSession& session, QObject* parent = nullptr);

  [[nodiscard]] PipelineSession& session() const { return session_; }
  [[nodiscard]] quint64 id(int row) const;
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
