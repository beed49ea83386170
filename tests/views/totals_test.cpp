// Every total in the window is a sum over its own graph: compares what the panes show for each
// sample and each shared capture with sums made here from nodes, storages and costs.

#include <gtest/gtest.h>

#include <QTest>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/open/open.h"
#include "core/schedule/device_capacity.h"
#include "tests/support/child.h"
#include "tests/support/paths.h"
#include "views/alive/alive_model.h"
#include "views/exposed/exposed_model.h"
#include "views/history/history_model.h"
#include "views/history/history_pane.h"
#include "views/inspector/describe_nodes.h"
#include "views/kernels/kernel_model.h"
#include "views/modules/module_model.h"
#include "views/operators/operator_model.h"
#include "views/sac/sac_model.h"
#include "views/session/document/document.h"
#include "views/session/kernels/predict_kernels.h"
#include "views/session/sac/sac_solver.h"
#include "views/session/snapshot/range_figures.h"
#include "views/session/text/capacity_text.h"
#include "views/session/text/number_text.h"
#include "views/timeline/timeline_content.h"
#include "views/timeline/timeline_text.h"
#include "views/widgets/figure_box.h"
#include "views/window/scoreboard.h"

namespace jointer::views {
namespace {

std::int64_t total(const TableModel& model, int column) {
  return model.totals().by_column[static_cast<std::size_t>(column)].value_or(0);
}

// Sums over nodes, each of which counts once.
struct NodeSums {
  std::int64_t count = 0, ns = 0, flops = 0, output_bytes = 0, forward_ns = 0;
};

template <class Wanted>
NodeSums sum_nodes(const Snapshot& s, Wanted wanted) {
  NodeSums sums;
  for (const NodeId id : s.graph.order()) {
    const Node& node = s.graph.node(id);
    if (!wanted(node)) continue;
    ++sums.count;
    sums.ns += s.analysis.costs[id.index()].ns;
    if (node.phase == Phase::forward) sums.forward_ns += s.analysis.costs[id.index()].ns;
    sums.flops += s.analysis.flops[id.index()].total;
    sums.output_bytes += s.graph.output_bytes(node);
  }
  return sums;
}

// Bytes allocated at a point, from lifetimes alone.
std::int64_t bytes_at(const MemoryTimeline& memory, std::size_t point) {
  std::int64_t sum = 0;
  for (const Lifetime& life : memory.lifetimes())
    if (MemoryTimeline::is_alive(life, point)) sum += life.bytes;
  return sum;
}

std::int64_t exposed_of(const Snapshot& s) {
  std::int64_t sum = 0;
  for (const CollectiveTiming& each : s.analysis.simulation.collectives()) sum += each.exposed_ns;
  return sum;
}

// The calls that recompute these values together: back to saved values and inputs.
std::int64_t recompute_ns(const SacState& state, const std::vector<NodeId>& values) {
  const Graph& joint = state.base->partition.joint;
  std::set<NodeId> ends(state.plan.saved.begin(), state.plan.saved.end()), found;
  ends.insert(state.plan.saved_symbols.begin(), state.plan.saved_symbols.end());
  std::vector<NodeId> open;
  const auto find = [&](NodeId id) {
    if (joint.node(id).kind == NodeKind::call && found.insert(id).second) open.push_back(id);
  };
  for (const NodeId id : values) find(id);
  std::int64_t sum = 0;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    sum += state.snapshot->analysis.costs[id.index()].ns;
    for (const NodeId input : joint.inputs(id))
      if (!ends.contains(input)) find(input);
  }
  return sum;
}

// The storages of the rows that take bytes, each once. A half has no rows of values, only the
// storages that it saves.
std::int64_t storage_bytes(const SacState& state, const std::vector<int>& rows) {
  const Graph& graph = state.base ? state.base->partition.joint : state.snapshot->graph;
  if (!state.can_change() && !graph.is_pair()) {
    std::int64_t bytes = 0;
    for (const Lifetime& life : state.snapshot->analysis.memory.lifetimes())
      if (life.producer && (life.category == MemoryCategory::saved_activation ||
                            life.category == MemoryCategory::recomputed))
        bytes += life.bytes;
    return bytes;
  }
  std::set<StorageId> storages;
  for (const int row : rows) {
    const SacTensor& tensor = state.tensors[static_cast<std::size_t>(row)];
    if (tensor.bytes == 0) continue;
    for (const Tensor& t : graph.tensors(tensor.node))
      if (t.storage && graph.device_type(t) == graph.main_device())
        storages.insert(graph.real_storage(t.storage));
  }
  std::int64_t sum = 0;
  for (const StorageId id : storages)
    sum += allocated_bytes(graph.storage(id).bytes.value, graph.main_device());
  return sum;
}

std::vector<std::string> captures() {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& folder) {
    if (!std::filesystem::is_directory(folder)) return;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().string().ends_with(".json.zst")) paths.push_back(entry.path().string());
  };
  add(test::source_path("resources/samples"));
  for (const std::string& path : test::shared_captures()) paths.push_back(path);
  if (!test::shared_directory().empty()) add(test::shared_directory() + "/captures/torchtitan_0.3");
  std::sort(paths.begin(), paths.end());
  return paths;
}

class TotalsOfCaptures : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto graph = open_graph({.path = GetParam()});
    ASSERT_TRUE(graph) << graph.error().message;
    auto made = make_snapshot(*std::move(graph), {});
    ASSERT_TRUE(made) << made.error().message;
    snapshot_ = *std::move(made);
  }
  [[nodiscard]] const Graph& graph() const { return snapshot_->graph; }
  [[nodiscard]] const Analysis& analysis() const { return snapshot_->analysis; }

  SnapshotPtr snapshot_;
};

TEST_P(TotalsOfCaptures, Operators) {
  OperatorModel model;
  model.set_snapshot(snapshot_);
  const NodeSums calls =
      sum_nodes(*snapshot_, [](const Node& node) { return node.kind == NodeKind::call; });
  EXPECT_EQ(total(model, OperatorModel::count_column), calls.count);
  EXPECT_EQ(total(model, OperatorModel::time_column), calls.ns);
  EXPECT_EQ(total(model, OperatorModel::flops_column), calls.flops);
  EXPECT_EQ(total(model, OperatorModel::bytes_column), calls.output_bytes);
  EXPECT_EQ(total(model, OperatorModel::exposed_column), exposed_of(*snapshot_));
}

// The rows add up to the scoreboard's figure, with and without the hidden collectives.
TEST_P(TotalsOfCaptures, ExposedCollectives) {
  ExposedModel model;
  model.set_snapshot(snapshot_);
  const Simulation& simulation = analysis().simulation;
  EXPECT_EQ(total(model, ExposedModel::exposed_column), simulation.exposed_ns());
  EXPECT_EQ(total(model, ExposedModel::exposed_column), exposed_of(*snapshot_));
  for (int row = 0; row < model.row_count(); ++row)
    EXPECT_GT(model.number(row, ExposedModel::exposed_column), 0);
  model.set_show_hidden(true);
  EXPECT_EQ(static_cast<std::size_t>(model.row_count()), simulation.collectives().size());
  EXPECT_EQ(total(model, ExposedModel::exposed_column), simulation.exposed_ns());
  EXPECT_EQ(total(model, ExposedModel::time_column),
            simulation.communication_ns() + simulation.transfer_ns());
}

// The rows add up to the line above the table.
TEST_P(TotalsOfCaptures, Kernels) {
  const auto found = predict_kernels(snapshot_, Cancellation());
  ASSERT_TRUE(found) << found.error().message;
  const SnapshotKernels& predicted = **found;
  KernelModel model;
  model.set_kernels(*found);
  std::int64_t bound_bytes = 0, on_device = 0, collectives = 0;
  for (const int row : model.shown(-1)) {
    const KernelRow& at = predicted.rows()[static_cast<std::size_t>(row)];
    ++(predicted.kernel(static_cast<std::size_t>(row)).kind == kernels::Kernel::Kind::collective
           ? collectives
           : on_device);
    const std::int64_t bytes = predicted.kernel(static_cast<std::size_t>(row)).bytes;
    // A buffer that a kernel both reads and writes counts once.
    EXPECT_LE(bytes, *model.number(row, KernelModel::read_column) +
                         *model.number(row, KernelModel::written_column));
    if (at.is_memory_bound) bound_bytes += bytes;
  }
  EXPECT_EQ(predicted.totals().kernels, on_device);
  EXPECT_EQ(predicted.totals().collectives, collectives);
  EXPECT_EQ(predicted.totals().memory_bound_bytes, bound_bytes);
  EXPECT_EQ(total(model, KernelModel::time_column), predicted.total_ns());
}

TEST_P(TotalsOfCaptures, Modules) {
  ModuleModel model;
  model.set_snapshot(snapshot_);
  const NodeSums all = sum_nodes(*snapshot_, [](const Node&) { return true; });
  EXPECT_EQ(total(model, ModuleModel::nodes_column), all.count);
  EXPECT_EQ(total(model, ModuleModel::forward_column), all.forward_ns);
  EXPECT_EQ(total(model, ModuleModel::backward_column), all.ns - all.forward_ns);
  EXPECT_EQ(total(model, ModuleModel::flops_column), all.flops);
  std::int64_t saved = 0, parameters = 0;
  for (const Lifetime& life : analysis().memory.lifetimes())
    if (life.category == MemoryCategory::saved_activation) saved += life.bytes;
  EXPECT_EQ(total(model, ModuleModel::saved_column), saved);
  std::set<StorageId> counted;
  for (const NodeId id : graph().order()) {
    if (graph().node(id).role != Role::parameter || graph().node(id).partner) continue;
    for (const Tensor& t : graph().tensors(id))
      if (!t.storage || counted.insert(graph().real_storage(t.storage)).second)
        parameters += graph().output_bytes(graph().node(id));
  }
  EXPECT_EQ(total(model, ModuleModel::parameters_column), parameters);
}

TEST_P(TotalsOfCaptures, AliveNow) {
  const MemoryTimeline& memory = analysis().memory;
  AliveModel model;
  model.set_snapshot(snapshot_, memory.peak_index());
  const std::size_t points = memory.profile().size();
  for (const std::size_t point : {std::size_t{0}, points / 3, memory.peak_index(), points - 1}) {
    model.set_moment(point);
    for (const auto grouping : {AliveModel::Grouping::none, AliveModel::Grouping::module,
                                AliveModel::Grouping::category}) {
      model.set_grouping(grouping);
      EXPECT_EQ(total(model, AliveModel::bytes_column), bytes_at(memory, point));
      EXPECT_EQ(memory.profile()[point], bytes_at(memory, point));
    }
  }
}

TEST_P(TotalsOfCaptures, Scoreboard) {
  Document document({.path = GetParam()}, snapshot_);
  Scoreboard scoreboard(document);
  std::map<QString, QString> shown;
  std::set<QString> hidden;
  for (FigureBox* box : scoreboard.findChildren<FigureBox*>()) {
    shown[box->value().accessibleName()] = box->value().text();
    if (box->isHidden()) hidden.insert(box->value().accessibleName());
  }
  std::int64_t peak = 0, kernels = 0;
  for (std::size_t i = 0; i < analysis().memory.profile().size();
       i += std::max<std::size_t>(analysis().memory.profile().size() / 64, 1))
    peak = std::max(peak, bytes_at(analysis().memory, i));
  peak = std::max(peak, bytes_at(analysis().memory, analysis().memory.peak_index()));
  for (const NodeId id : graph().order())
    if (analysis().costs[id.index()].lane == NodeCost::Lane::compute)
      kernels += analysis().costs[id.index()].ns;
  EXPECT_EQ(shown["Peak memory"], bytes_text(peak));
  for (FigureBox* box : scoreboard.findChildren<FigureBox*>())
    if (box->value().accessibleName() == "Peak memory") {
      EXPECT_EQ(box->warning().isHidden(), bytes_over_capacity(peak, analysis().device) == 0);
      EXPECT_EQ(box->warning().text(), over_capacity_text(peak, analysis().device));
    } else if (box->value().accessibleName() == "Reserved") {
      const bool fits = bytes_over_capacity(peak, analysis().device) == 0;
      const QString over = over_capacity_text(analysis().reserved.peak_bytes, analysis().device);
      EXPECT_EQ(box->warning().text(), fits ? over : QString());
    }
  EXPECT_EQ(shown["Compute"], time_text(kernels));
  EXPECT_EQ(shown["Exposed"], time_text(exposed_of(*snapshot_)));
  std::int64_t end = 0;
  for (const NodeId id : graph().order())
    end = std::max(
        {end, analysis().simulation.timing(id).end, analysis().simulation.timing(id).host_end});
  EXPECT_EQ(shown["Step"], time_text(end));
  // The parts of the step are all shown.
  for (const char* part : {"Step", "Compute", "CPU wait"}) EXPECT_FALSE(hidden.contains(part));
  if (exposed_of(*snapshot_) > 0) {
    EXPECT_FALSE(hidden.contains("Exposed"));
  }
  EXPECT_EQ(kernels + exposed_of(*snapshot_) + analysis().simulation.host_bound_ns(), end);
  EXPECT_EQ(shown["CPU wait"], time_text(end - kernels - exposed_of(*snapshot_)));
}

// In every execution, the scoreboard's step is the sum of its parts, and its peak is that of the
// Kernels pane if torch's compiler runs the graph.
TEST_P(TotalsOfCaptures, Executions) {
  const auto kernels = predict_kernels(snapshot_, Cancellation());
  ASSERT_TRUE(kernels) << kernels.error().message;
  for (const Execution execution :
       {Execution::eager, Execution::regional, Execution::inductor, Execution::cudagraph}) {
    AnalysisOptions options;
    options.execution = execution;
    const auto made = make_snapshot(graph(), options);
    ASSERT_TRUE(made) << made.error().message;
    const Analysis& a = (*made)->analysis;
    const Simulation& step = a.simulation;
    EXPECT_EQ(step.step_ns(), step.compute_ns() + step.exposed_ns() + step.host_bound_ns());
    EXPECT_EQ(step.exposed_ns(), exposed_of(**made));
    std::int64_t ns = 0;
    for (const NodeId id : graph().order())
      if (a.costs[id.index()].lane == NodeCost::Lane::compute) ns += a.costs[id.index()].ns;
    EXPECT_EQ(step.compute_ns(), ns);
    EXPECT_EQ(a.memory.peak_bytes(), bytes_at(a.memory, a.memory.peak_index()));
    if (execution == Execution::inductor || execution == Execution::cudagraph) {
      EXPECT_EQ(a.memory.peak_bytes(), (*kernels)->totals().peak_bytes);
      const auto again = predict_kernels(*made, Cancellation());
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ((*again)->totals(), (*kernels)->totals());
      EXPECT_EQ((*again)->per_operator(), (*kernels)->per_operator());
      EXPECT_EQ((*again)->total_ns(), (*kernels)->total_ns());
    }
    Document document({.path = GetParam()}, *made);
    const Scoreboard scoreboard(document);
    for (FigureBox* box : scoreboard.findChildren<FigureBox*>()) {
      const QString name = box->value().accessibleName();
      if (name == "Peak memory") {
        EXPECT_EQ(box->value().text(), bytes_text(a.memory.peak_bytes()));
      }
      if (name == "Step") {
        EXPECT_EQ(box->value().text(), time_text(step.step_ns()));
      }
      if (name == "CPU wait") {
        EXPECT_EQ(box->value().text(), time_text(step.host_bound_ns()));
      }
    }
  }
}

TEST_P(TotalsOfCaptures, RatesOrTheReasonThatThereAreNone) {
  Document document({.path = GetParam()}, snapshot_);
  const Scoreboard scoreboard(document);
  for (FigureBox* box : scoreboard.findChildren<FigureBox*>()) {
    const QString name = box->value().accessibleName();
    if (name != "Tokens/s" && name != "MFU") continue;
    const Throughput& rates = analysis().throughput;
    const bool is_known =
        name == "MFU" ? rates.mfu.has_value() : rates.tokens_per_second.has_value();
    EXPECT_FALSE(box->isHidden());
    EXPECT_EQ(box->value().text() != "\u2013", is_known);
    EXPECT_EQ(box->was().isHidden(), is_known);
    EXPECT_EQ(box->was().text().isEmpty(), is_known);
    EXPECT_EQ(box->toolTip().contains('\n'), !is_known);
  }
  // The time of a half does not determine that of the step.
  const CaptureKind kind = graph().part(PartId(0)).kind;
  if (!graph().is_pair() && (kind == CaptureKind::forward || kind == CaptureKind::backward)) {
    EXPECT_FALSE(analysis().throughput.tokens_per_second);
  }
}

TEST_P(TotalsOfCaptures, HistoryAsOpened) {
  Document document({.path = GetParam()}, snapshot_);
  HistoryPane pane(document);
  pane.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&pane));
  const auto* model = dynamic_cast<HistoryModel*>(pane.findChildren<TableView*>().front()->model());
  ASSERT_NE(model, nullptr);
  ASSERT_EQ(model->row_count(), 1);
  EXPECT_EQ(model->number(0, HistoryModel::peak_column),
            bytes_at(analysis().memory, analysis().memory.peak_index()));
  EXPECT_EQ(model->number(0, HistoryModel::exposed_column), exposed_of(*snapshot_));
}

TEST_P(TotalsOfCaptures, InspectorOfAllCalls) {
  std::vector<NodeId> nodes;
  for (const NodeId id : graph().order())
    if (graph().node(id).kind == NodeKind::call) nodes.push_back(id);
  const InspectorContent content = describe(*snapshot_, nodes);
  std::map<QString, QString> shown;
  for (const InspectorRow& row : content.sections.front().rows) shown[row.label] = row.value;
  const NodeSums calls =
      sum_nodes(*snapshot_, [](const Node& node) { return node.kind == NodeKind::call; });
  EXPECT_EQ(shown["time"], time_text(calls.ns));
  EXPECT_EQ(shown["outputs"], bytes_text(calls.output_bytes));
  if (calls.flops > 0) {
    EXPECT_EQ(shown["FLOPs"], flops_text(calls.flops));
  }
  if (shown.contains("collectives")) {
    EXPECT_TRUE(shown["collectives"].endsWith("exposed " + time_text(exposed_of(*snapshot_))))
        << shown["collectives"].toStdString();
  }
}

TEST_P(TotalsOfCaptures, RangeOfTheWholeStep) {
  Document document({.path = GetParam()}, snapshot_);
  const TimelineContent content(document);
  const Simulation& simulation = analysis().simulation;
  const QStringList lines = range_lines(content, whole_step(simulation));
  EXPECT_EQ(lines[1], "compute " + time_text(simulation.compute_ns()));
  EXPECT_EQ(lines[2], QStringLiteral("communication %1, exposed %2")
                          .arg(time_text(simulation.communication_ns() + simulation.transfer_ns()),
                               time_text(exposed_of(*snapshot_))));
}

// The panes show the totals of a range, and those of a range that is the whole step are the same as
// without a range.
TEST_P(TotalsOfCaptures, PanesOfARange) {
  const std::int64_t all = analysis().simulation.step_ns();
  const TimeRange range{all / 3, all * 2 / 3};
  const RangeFiguresPtr shared = range_figures(*snapshot_, range);
  const RangeFigures& figures = *shared;
  NodeSums nodes;
  std::int64_t exposed = 0;
  for (const NodeId id : graph().order()) {
    if (!figures.contains(id)) continue;
    const Node& node = graph().node(id);
    ++nodes.count;
    (node.phase == Phase::forward ? nodes.forward_ns : nodes.ns) += figures.ns(id);
    nodes.flops += analysis().flops[id.index()].total;
    exposed += figures.exposed_ns(id);
  }
  OperatorModel operators;
  operators.set_snapshot(snapshot_, shared);
  EXPECT_EQ(total(operators, OperatorModel::count_column), nodes.count);
  EXPECT_EQ(total(operators, OperatorModel::time_column), nodes.forward_ns + nodes.ns);
  EXPECT_EQ(total(operators, OperatorModel::exposed_column), exposed);
  EXPECT_EQ(exposed, figures.totals().exposed_ns);
  ModuleModel modules;
  modules.set_snapshot(snapshot_, shared);
  EXPECT_EQ(total(modules, ModuleModel::nodes_column), nodes.count);
  EXPECT_EQ(total(modules, ModuleModel::forward_column), nodes.forward_ns);
  EXPECT_EQ(total(modules, ModuleModel::backward_column), nodes.ns);
  EXPECT_EQ(total(modules, ModuleModel::flops_column), nodes.flops);
  AliveModel alive;
  alive.set_snapshot(snapshot_, 0, shared);
  alive.set_grouping(AliveModel::Grouping::change);
  std::map<QString, std::int64_t> by_change;
  for (const int row : alive.shown(-1))
    by_change[alive.text(row, AliveModel::name_column)] =
        *alive.number(row, AliveModel::bytes_column);
  const RangeTotals& t = figures.totals();
  EXPECT_EQ(by_change["allocated, still live"] + by_change["allocated and freed"],
            t.allocated_bytes);
  EXPECT_EQ(by_change["freed"] + by_change["allocated and freed"], t.freed_bytes);
  EXPECT_EQ(by_change["live throughout"] + by_change["freed"], t.begin_bytes);
  EXPECT_EQ(by_change["live throughout"] + by_change["allocated, still live"], t.end_bytes);

  const auto same = [](TableModel& a, TableModel& b) {
    EXPECT_EQ(a.row_count(), b.row_count());
    EXPECT_EQ(a.totals().by_column, b.totals().by_column);
  };
  OperatorModel without, whole;
  without.set_snapshot(snapshot_);
  whole.set_snapshot(snapshot_, range_figures(*snapshot_, {0, all}));
  same(without, whole);
  ModuleModel modules_without, modules_whole;
  modules_without.set_snapshot(snapshot_);
  modules_whole.set_snapshot(snapshot_, range_figures(*snapshot_, {0, all}));
  same(modules_without, modules_whole);
}

TEST_P(TotalsOfCaptures, Sac) {
  SacSolver solver;
  const auto made = solver.state({snapshot_, snapshot_, {}, {}});
  if (!made) GTEST_SKIP() << made.error().message;
  const SacState& state = **made;
  SacModel model;
  model.set_state(*made);
  // The rows of the plan add up to its numbers.
  std::vector<int> all, saved, offloaded;
  std::vector<NodeId> recomputable;
  for (std::size_t i = 0; i < state.tensors.size(); ++i) {
    const SacTensor& tensor = state.tensors[i];
    all.push_back(static_cast<int>(i));
    if (tensor.action == PlanAction::save) saved.push_back(all.back());
    if (tensor.action == PlanAction::offload) offloaded.push_back(all.back());
    if (tensor.chain > 0) recomputable.push_back(tensor.node);
  }
  EXPECT_EQ(sum_of(state, saved).bytes, state.figures.saved_bytes);
  EXPECT_EQ(sum_of(state, offloaded).bytes, state.figures.offloaded_bytes);
  std::int64_t calls_ns = 0;
  if (state.base) {
    calls_ns = recompute_ns(state, recomputable);
    const NodeSums forward =
        sum_nodes(*snapshot_, [](const Node& node) { return node.phase == Phase::forward; });
    EXPECT_LE(calls_ns, forward.ns);
  } else {
    std::set<NodeId> calls;
    for (const SacTensor& tensor : state.tensors) {
      NodeId call = tensor.node;
      while (graph().target(graph().node(call)) == "_operator.getitem")
        call = graph().inputs(call).front();
      if (calls.insert(call).second) calls_ns += analysis().costs[call.index()].ns;
    }
  }
  for (const SacGrouping grouping :
       {SacGrouping::op, SacGrouping::module, SacGrouping::layer, SacGrouping::tensor}) {
    model.set_grouping(grouping);
    EXPECT_EQ(total(model, SacModel::time_column), calls_ns);
    EXPECT_EQ(total(model, SacModel::bytes_column), storage_bytes(state, all));
    // A group has no more than its rows together, and no less than any of them.
    for (int row = 0; row < model.row_count(); ++row) {
      for (const int column : {SacModel::bytes_column, SacModel::time_column}) {
        std::int64_t sum = 0, max = 0;
        for (const int child : model.shown(row)) {
          sum += *model.number(child, column);
          max = std::max(max, *model.number(child, column));
        }
        if (model.shown(row).empty()) continue;
        EXPECT_LE(model.number(row, column), sum);
        EXPECT_GE(model.number(row, column), max);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, TotalsOfCaptures, testing::ValuesIn(captures()),
                         [](const auto& each) { return test::parameter_name(each); });

}  // namespace
}  // namespace jointer::views
