#pragma once

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <vector>

#include "views/pipeline/parameter_field.h"
#include "views/session/pipeline/pipeline_session.h"

namespace jointer::views {

// The parameters of one step, with a field for each parameter that the pass declares. Input is
// applied to the pipeline immediately.
class StepForm : public QScrollArea {
  Q_OBJECT
 public:
  explicit StepForm(PipelineSession& session, QWidget* parent = nullptr);

  // Shows the step with this id; 0 shows none.
  void show_step(quint64 id);
  [[nodiscard]] const std::vector<ParameterField*>& fields() const { return fields_; }
  [[nodiscard]] ParameterField* field(const QString& name) const;
  // Moves the focus to the first field.
  void focus_first();

 signals:
  // The user asked to load the step's pass, which is third-party code.
  void load_wanted(const jointer::views::ForeignCode& code);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void make_fields(const Pass* pass);
  void show_nothing();
  void show_values();

  PipelineSession& session_;
  quint64 id_ = 0;
  std::string shown_pass_;
  std::shared_ptr<const PassRegistry> shown_registry_;
  QWidget* page_ = nullptr;
  QVBoxLayout* column_ = nullptr;
  QLabel *title_ = nullptr, *summary_ = nullptr, *notes_ = nullptr, *mistake_ = nullptr;
  QPushButton* load_ = nullptr;
  std::vector<ParameterField*> fields_;
};

}  // namespace jointer::views
