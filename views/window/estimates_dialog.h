#pragma once

#include <QComboBox>
#include <QDialog>
#include <QFormLayout>
#include <QSpinBox>
#include <string>
#include <utility>
#include <vector>

#include "views/session/document/document.h"

namespace jointer::views {

// Edits settings of the estimates that the capture does not record: the estimator, the number of
// GPUs per node, and the numbers of ranks, and the distances between them, of process groups that
// the capture does not describe. Apply or Enter recomputes the estimates. Like the device and the
// assumed sizes, these settings are saved in the workspace, but are not edits.
class EstimatesDialog : public QDialog {
  Q_OBJECT
 public:
  explicit EstimatesDialog(Document& document, QWidget* parent = nullptr);

 private:
  void add_estimator(QFormLayout& form);
  void add_gpus(QFormLayout& form);
  void add_sizes(QFormLayout& form);
  void add_groups(QFormLayout& form);
  // Adds a number of this assumption, of which 0 stands for unknown. `unknown` is shown instead.
  void add_number(QFormLayout& form, const QString& label, const QString& object_name,
                  const std::string& assumption, const QString& unknown, const QString& unit);
  [[nodiscard]] AnalysisOptions options() const;
  [[nodiscard]] Assumptions assumptions() const;

  Document& document_;
  QComboBox* estimator_ = nullptr;
  QSpinBox* gpus_ = nullptr;
  std::vector<std::pair<std::string, QSpinBox*>> numbers_;  // by assumption
};

}  // namespace jointer::views
