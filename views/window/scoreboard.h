#pragma once

#include <QComboBox>
#include <QLabel>
#include <QWidget>
#include <vector>

#include "views/document/document.h"

namespace jointer::views {

class MovePlanner;

// The strip of numbers over a document: memory, time, throughput, and what they are estimated for.
// Resting the pointer on a number says how it is made. Of an edited graph they stand beside those
// of the graph as it was opened, and go along while something is held.
class Scoreboard : public QWidget {
  Q_OBJECT
 public:
  explicit Scoreboard(Document& document, QWidget* parent = nullptr);

 private:
  struct Metric {
    QWidget* box = nullptr;
    QLabel* value = nullptr;
    QLabel* was = nullptr;     // beside the name: of the graph as it was opened
    QLabel* change = nullptr;  // beside the value: how much it is now
  };
  Metric add_metric(const QString& name, const QString& how);
  void fill_devices();
  void refresh();
  void show_measurement();
  // Beside what it was in the graph as it was opened.
  void show_change(const Metric& metric, std::int64_t from, std::int64_t to, const QString& was,
                   const QString& change);
  void show_figures();
  void choose_device(int index);
  void choose_optimizer(int index);
  void show_assumptions();

  Document& document_;
  MovePlanner& planner_;
  Metric peak_, reserved_, step_, compute_, exposed_, tokens_, mfu_, measured_;
  QComboBox* device_ = nullptr;
  QComboBox* optimizer_ = nullptr;
  QLabel* estimate_ = nullptr;
};

}  // namespace jointer::views
