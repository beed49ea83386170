#pragma once

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <QTextBrowser>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>

#include "views/compare/compared_files.h"
#include "views/compare/comparison.h"
#include "views/compare/curve_overlay.h"
#include "views/compare/document_comparison.h"
#include "views/compare/state_choices.h"
#include "views/compare/state_table.h"
#include "views/differences/difference_table.h"
#include "views/differences/plan_difference_table.h"
#include "views/session/edit/editing.h"
#include "views/session/work/task.h"

namespace jointer::views {

// Compares any two states of open documents: as opened, the current state, named states, history
// entries and, if the file is a log of passes, the input of the pass that produced the graph. Files
// that are not open can also be compared. The second state can be executed differently, for example
// to compare a state with itself as torch's compiler runs it.
class ComparePane : public QWidget {
  Q_OBJECT
 public:
  ComparePane(Document& document, OpenDocuments& open, QWidget* parent = nullptr);

  [[nodiscard]] QString summary() const { return summary_->text(); }
  // The last comparison; null if there is none, or if it failed.
  [[nodiscard]] const Comparison* comparison() const { return comparison_.get(); }

  // Compares two states in the document's edit history.
  void show_states(const EditHistory& from, const EditHistory& to);

 public slots:
  // Adds files to the states that can be chosen, and compares the first of them with the current
  // state.
  void add_files(const QStringList& paths);
  void copy_markdown();
  void copy_tsv();

 signals:
  void compared();

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  using Take = std::function<void(const Result<StateOfDocument>&)>;
  void look_for_before();
  void follow_others();
  void make(const StateChoice& choice, const Take& take);
  // The state chosen in `from_` or `to_`; null until there are states.
  [[nodiscard]] const StateChoice* chosen(const QComboBox* box) const;
  void fill_choices();
  void choose_files();
  void show_states_table();
  void choose_second(const StateChoice& choice);
  void choose_wanted();
  void choose_execution();
  // The execution of the second state; nullopt: like the first, that of the document.
  [[nodiscard]] std::optional<Execution> chosen_execution() const;
  void refresh();
  void compare();
  // Drops the comparison that is being computed.
  void drop_pending();
  void show_comparison(const Result<Comparison>& result);
  void compare_plans(const StateChoice& from, const StateChoice& to);
  // Says why the plans of the shown comparison could not be compared.
  void show_error(const Error& error);
  void show_plan(const PlanChangesPtr& plan);
  // Places the numbers next to the tables, or above them in a narrow pane, and hides the curves and
  // the totals of the tables if they do not fit.
  void fit(QSize size);
  void show_curves();
  void show_metrics();

  Document& document_;
  OpenDocuments& open_;
  Editing& editing_;
  QComboBox *from_ = nullptr, *to_ = nullptr;
  QComboBox* execution_ = nullptr;           // of the second state
  std::optional<Execution> last_execution_;  // the previous choice
  QPushButton* cancel_ = nullptr;            // visible if a comparison takes long
  QPushButton *markdown_ = nullptr, *tsv_ = nullptr;
  QTimer is_long_;
  QLabel* summary_ = nullptr;
  QTextBrowser* metrics_ = nullptr;
  CurveOverlay* curves_ = nullptr;
  QTabWidget* tables_ = nullptr;
  DifferenceTable* table_ = nullptr;
  PlanDifferenceTable* plan_table_ = nullptr;
  StateTable* states_ = nullptr;
  std::vector<StateChoice> choices_;
  std::shared_ptr<const Comparison> comparison_;
  QBoxLayout* body_ = nullptr;  // the numbers, and the rest
  bool has_space_for_curves_ = false;
  // The plans differ, but nodes differ at most in their policies or regions, and both states have
  // the same execution.
  bool are_curves_equal_ = false;
  quint64 wanted_ = 0;  // number of the newest request
  bool is_stale_ = true;
  ComparedFile before_;               // the input of the pass, if known
  std::vector<ComparedFile> chosen_;  // files chosen by the user
  ComparedFiles files_;
  Task<Comparison> comparing_;
  std::optional<std::pair<EditHistory, EditHistory>>
      wanted_states_;  // applied when the pane is shown
};

}  // namespace jointer::views
