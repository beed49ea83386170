#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QSpinBox>
#include <QWidget>

#include "views/sac/orders_box.h"
#include "views/sac/target_table.h"
#include "views/session/sac/sac_session.h"
#include "views/session/sac/target_search.h"
#include "views/widgets/byte_box.h"
#include "views/widgets/wrapped_text.h"

namespace jointer::views {

// Asks how much memory to free, or for a limit on the peak, and shows the shortest list of changes
// found that meets this target, with an order for its plan. Applying the list adds one history
// entry.
class TargetPage : public QWidget {
  Q_OBJECT
 public:
  TargetPage(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] TargetTable& table() { return *table_; }
  [[nodiscard]] TargetSearch& search() { return *search_; }

 public slots:
  // Starts a search, or cancels the running one.
  void start_or_cancel();

 signals:
  void message(const QString& sentence);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum class Goal : std::uint8_t { free, fit };

  void make_controls(QWidget* controls);
  // Names the units in the singular or plural, according to the number of changes.
  void name_units();
  [[nodiscard]] Goal goal() const { return static_cast<Goal>(goal_->currentData().toInt()); }
  void refresh();
  void show_list();
  void apply();
  [[nodiscard]] bool is_current() const;
  [[nodiscard]] QString answer() const;
  [[nodiscard]] QString order_text() const;
  [[nodiscard]] QString best_text() const;

  SacSession& session_;
  TargetSearch* search_ = nullptr;
  QComboBox* goal_ = nullptr;
  ByteBox* bytes_ = nullptr;
  QSpinBox* at_most_ = nullptr;
  QComboBox* unit_ = nullptr;
  QCheckBox* recompute_ = nullptr;
  QCheckBox* offload_ = nullptr;
  OrdersBox* orders_ = nullptr;
  QPushButton* find_ = nullptr;
  WrappedText* answer_ = nullptr;  // wraps the names of passes, which may be longer than a line
  TargetTable* table_ = nullptr;
  const TargetSearch::Outcome* shown_ = nullptr;  // its lines are in the table
};

}  // namespace jointer::views
