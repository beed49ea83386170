#pragma once

#include <QAction>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QWidget>

#include "passes/presets/presets.h"
#include "views/pipeline/pass_catalog.h"
#include "views/pipeline/pipeline_text_page.h"
#include "views/pipeline/step_form.h"
#include "views/pipeline/step_list.h"
#include "views/pipeline/step_page.h"
#include "views/session/pipeline/pipeline_session.h"
#include "views/widgets/byte_box.h"

namespace jointer::views {

// A document's pipeline: its steps, their parameters, the pipeline as text, step-by-step runs, and
// the result of each step.
class PipelinePane : public QWidget {
  Q_OBJECT
 public:
  explicit PipelinePane(PipelineSession& session, QWidget* parent = nullptr);

  [[nodiscard]] PipelineSession& session() { return session_; }
  [[nodiscard]] StepPage& step_page() { return *step_; }

 public slots:
  void open_catalog();
  // Adds a pass after the current step and makes the new step current.
  void add_pass(const QString& name);
  void choose_file();
  void save_file();
  void run_to_current();

 signals:
  void plugin_wanted();
  void python_wanted();
  void load_wanted(const jointer::views::ForeignCode& code);
  void compare_wanted(const jointer::views::EditHistory& before,
                      const jointer::views::EditHistory& after);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  QWidget* make_bar();
  QWidget* make_limit(QWidget* bar);
  QWidget* make_empty_page();
  QMenu* make_presets();
  QMenu* make_more();
  void add_actions();
  void follow_current();
  void follow_end(quint64 step);
  void refresh();
  void show_status();

  PipelineSession& session_;
  QPushButton *run_ = nullptr, *next_ = nullptr, *stop_ = nullptr, *add_ = nullptr;
  ByteBox* limit_ = nullptr;
  QMenu* more_ = nullptr;
  QAction *to_here_ = nullptr, *start_over_ = nullptr, *undo_ = nullptr, *save_ = nullptr;
  QList<QAction*> step_actions_;  // actions for the current step
  QLabel* status_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QSplitter* splitter_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  StepList* list_ = nullptr;
  QTabWidget* pages_ = nullptr;
  StepForm* form_ = nullptr;
  StepPage* step_ = nullptr;
  PipelineTextPage* text_ = nullptr;
  PassCatalog* catalog_ = nullptr;
  QString last_folder_;
};

// Enables a preset's action if the preset can be applied to the session's graph. The tooltip says
// what the preset does, followed by its steps or, if the action is disabled, by the reason why the
// preset cannot be applied.
void describe_preset(QAction& action, const PipelinePreset& preset, const PipelineSession& session);
// Replaces the steps with those of a preset, without running them.
void load_preset(PipelineSession& session, const QString& name);
// Replaces the draft with the steps from a file, without running them. Error: like read_bytes and
// read_pipeline_file.
Result<void> load_pipeline(PipelineSession& session, const QString& path);
// Saves JSON if the name ends in .json, otherwise text. Error: like write_pipeline_file.
Result<void> save_pipeline(const PipelineSession& session, const QString& path);

}  // namespace jointer::views
