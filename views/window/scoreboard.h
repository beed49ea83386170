#pragma once

#include <QComboBox>
#include <QLabel>
#include <QWidget>
#include <vector>

#include "views/document/document.h"

namespace jointer::views {

// The strip of numbers over a document: memory, time, throughput, and what they are estimated for.
// Resting the pointer on a number says how it is made.
class Scoreboard : public QWidget {
  Q_OBJECT
 public:
  explicit Scoreboard(Document& document, QWidget* parent = nullptr);

 private:
  struct Metric {
    QWidget* box = nullptr;
    QLabel* value = nullptr;
  };
  Metric add_metric(const QString& name, const QString& how);
  void fill_devices();
  void refresh();
  void show_measurement();
  void choose_device(int index);
  void choose_optimizer(int index);
  void show_assumptions();

  Document& document_;
  Metric peak_, reserved_, step_, compute_, exposed_, tokens_, mfu_, measured_;
  QComboBox* device_ = nullptr;
  QComboBox* optimizer_ = nullptr;
  QLabel* estimate_ = nullptr;
};

}  // namespace jointer::views
