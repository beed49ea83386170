#pragma once

#include <QTimer>

#include "views/exposed/exposed_details.h"
#include "views/exposed/exposed_model.h"
#include "views/session/edit/fix_search.h"
#include "views/tables/table_pane_of.h"
#include "views/widgets/keys_group.h"

namespace jointer::views {

// The exposed collectives, longest exposed time first, with the reason why each is exposed and the
// time that moving it saves. The savings are computed for the current row and the rows on screen.
class ExposedPane : public TablePaneOf<ExposedModel> {
  Q_OBJECT
 public:
  explicit ExposedPane(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] static KeysGroup keys();

 public slots:
  // Move the current row's collective to its best position, or those of all identical layers to
  // theirs.
  void apply_best() { apply(std::nullopt); }
  void apply_in_all_layers() { apply(FixKind::all_layers); }

 signals:
  // A message for the status bar, such as the reason why nothing was changed.
  void message(const QString& sentence);

 protected:
  void refresh() override;
  void add_to_menu(QMenu& menu) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QAction* add_key(const QString& text, Qt::KeyboardModifiers modifiers,
                   void (ExposedPane::*slot)());
  // Returns -1 if there is no current row.
  [[nodiscard]] int current_row();
  void ask_for_gains();
  void show_details() { details_->show_row(current_row()); }
  void apply(std::optional<FixKind> kind);

  FixSearch search_;
  ExposedDetails* details_ = nullptr;
  QAction* best_ = nullptr;
  QAction* layers_ = nullptr;
  QTimer ask_soon_;           // fires once layout and scroll position have settled
  bool was_covered_ = false;  // when gains were last requested
};

}  // namespace jointer::views
