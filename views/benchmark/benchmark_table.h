#pragma once

#include "views/benchmark/benchmark_model.h"
#include "views/session/benchmark/benchmarks.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The results of one document. Selecting a row shows its measurement in the timeline if its run
// measured the current graph.
class BenchmarkTable : public TablePaneOf<BenchmarkModel> {
  Q_OBJECT
 public:
  explicit BenchmarkTable(Benchmarks& benchmarks, QWidget* parent = nullptr);

  // The selected results, oldest first.
  [[nodiscard]] std::vector<const BenchmarkResult*> selected() const;
  // The id of the first selected row, or 0 if no row is selected.
  [[nodiscard]] std::uint64_t current() const;
  void select(std::uint64_t id);

 public slots:
  void copy_markdown();
  void export_csv();
  void remove_selected() { benchmarks_.remove(selected_ids()); }

 signals:
  void current_changed();

 protected:
  void refresh() override;
  void add_to_menu(QMenu& menu) override;
  [[nodiscard]] bool has_rows_of_nodes() const override { return false; }

 private:
  void show_hint();
  [[nodiscard]] std::vector<std::uint64_t> selected_ids() const;
  // The selected results or, if none is selected, all results.
  [[nodiscard]] std::vector<BenchmarkResult> chosen() const;
  void copy_command(std::string (*command)(const BenchmarkRequest&, int, int));

  Benchmarks& benchmarks_;
  QAction* remove_ = nullptr;
};

}  // namespace jointer::views
