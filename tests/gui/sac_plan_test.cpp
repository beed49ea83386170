// Tests what the SAC pane does with whole plans, by mouse and keyboard: groups, the tensors at the
// peak, the trade-off's starting point and budgets, exports that cannot express the plan, presets
// that cannot be applied.

#include <QClipboard>
#include <map>

#include "core/policy/gathered_weights.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/support/child.h"
#include "views/session/edit/editing.h"
#include "views/session/text/number_text.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kLarge;
using test::kPatienceMs;
using test::kSample;
using test::kStep;

}  // namespace

class SacPlanTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void a_group_recomputes_only_what_is_saved();
  void a_group_offloads_only_what_is_saved();
  void a_group_of_gathered_weights_can_be_saved();
  void a_group_without_saved_tensors_says_so();
  void tensors_at_the_peak_follow_the_plan();
  void the_headline_says_that_the_best_come_first_only_if_they_do();
  void the_starting_point_stays_drawn();
  void a_typed_budget_is_the_drawn_one();
  void says_what_a_list_cannot_express();
  void presets_that_cannot_be_applied_are_disabled();

 private:
  // The group of all layers.
  int layers() {
    group_by(SacGrouping::layer);
    int max = -1;
    for (int row = 0; row < model().row_count(); ++row)
      if (!model().shown(row).empty() && model().text(row, 0).contains(u'×') &&
          (max < 0 || model().things(row) > model().things(max)))
        max = row;
    return max;
  }
  // By node: 'S', 'R' or 'O'.
  [[nodiscard]] std::map<NodeId, PlanAction> actions() const {
    std::map<NodeId, PlanAction> actions;
    for (const SacTensor& tensor : session().state()->tensors) actions[tensor.node] = tensor.action;
    return actions;
  }
  void choose(int row, Qt::Key key) {
    table().view().setFocus();
    choose_row(row);
    QTest::keyClick(&table().view(), key);
  }
  [[nodiscard]] std::vector<NodeId> tagged_since(const Graph& before) const {
    std::vector<NodeId> nodes;
    for (const NodeId id : document().graph().order())
      if (document().graph().node(id).policy != before.node(id).policy) nodes.push_back(id);
    return nodes;
  }
};

void SacPlanTest::a_group_recomputes_only_what_is_saved() {
  QVERIFY(open(kLarge));
  const int group = layers();
  QVERIFY(group >= 0);
  const Graph before = document().graph();
  const auto was = actions();
  const PlanFigures solved = figures();
  choose(group, Qt::Key_R);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  const std::vector<bool> gathered = gathered_weights(before);
  const std::vector<NodeId> tagged = tagged_since(before);
  QVERIFY(!tagged.empty());
  for (const NodeId node : tagged) {
    if (!was.contains(node)) continue;  // the call whose result is one of several
    QVERIFY2(was.at(node) != PlanAction::recompute, std::string(before.name(node)).c_str());
    QVERIFY2(!gathered[node.index()], std::string(before.name(node)).c_str());
  }
  QVERIFY(figures().saved_bytes < solved.saved_bytes);
}

void SacPlanTest::a_group_offloads_only_what_is_saved() {
  QVERIFY(open(kLarge));
  const int group = layers();
  const Graph before = document().graph();
  const auto was = actions();
  choose(group, Qt::Key_O);
  QVERIFY(settle());
  for (const NodeId node : tagged_since(before))
    if (was.contains(node)) QVERIFY(was.at(node) == PlanAction::save);
  QVERIFY(figures().offloaded_bytes > 0);
  // S undoes everything, but does not save gathered weights for it.
  const Graph offloaded = document().graph();
  const std::vector<bool> gathered = gathered_weights(before);
  choose(layers(), Qt::Key_S);
  QVERIFY(settle());
  QCOMPARE(figures().offloaded_bytes, 0);
  for (const NodeId node : tagged_since(offloaded)) QVERIFY(!gathered[node.index()]);
}

void SacPlanTest::a_group_of_gathered_weights_can_be_saved() {
  QVERIFY(open(kLarge));
  group_by(SacGrouping::op);
  const std::vector<bool> gathered = gathered_weights(document().graph());
  int group = -1;
  for (const int row : model().shown(-1)) {
    const std::vector<NodeId> nodes = model().nodes(row);
    if (nodes.size() > 1 &&
        std::ranges::all_of(nodes, [&](NodeId n) { return gathered[n.index()]; }))
      group = row;
  }
  if (group < 0) QSKIP("the plan has no operator with only gathered weights");
  const std::size_t count = model().nodes(group).size();
  const Graph before = document().graph();
  choose(group, Qt::Key_S);
  QVERIFY(settle());
  QCOMPARE(tagged_since(before).size(), count);
}

void SacPlanTest::a_group_without_saved_tensors_says_so() {
  QVERIFY(open(kSample));
  group_by(SacGrouping::op);
  int group = -1;
  for (const int row : model().shown(-1))
    if (model().actions(row).of(PlanAction::recompute) == model().actions(row).all() &&
        !model().changeable(std::vector{row}, PlanAction::save).empty())
      group = row;
  QVERIFY(group >= 0);
  QSignalSpy messages(&pane(), &SacPane::message);
  choose(group, Qt::Key_R);
  QCOMPARE(messages.count(), 1);
  QVERIFY(messages.front().front().toString().contains("nothing to recompute"));
  QCOMPARE(editing().entry_count(), 0);
}

void SacPlanTest::tensors_at_the_peak_follow_the_plan() {
  QVERIFY(open(kLarge));
  pane().show_peak();
  const auto shown = [this] {
    std::vector<NodeId> nodes;
    for (const int row : model().shown(-1)) nodes.push_back(model().nodes(row).front());
    std::ranges::sort(nodes);
    return nodes;
  };
  const auto at_peak = [this] {
    std::vector<NodeId> nodes = session().saved_at_peak();
    std::ranges::sort(nodes);
    return nodes;
  };
  QVERIFY(model().shows_only_some());
  QCOMPARE(shown(), at_peak());
  // Recompute the first half of them.
  const std::vector<NodeId> before = shown();
  table().view().setFocus();
  table().view().selectAll();
  QTest::keyClick(&table().view(), Qt::Key_R);
  QVERIFY(settle());
  QVERIFY(at_peak() != before);
  if (model().shows_only_some()) {
    QCOMPARE(shown(), at_peak());
    const QStringList texts = labels_of(table());
    QVERIFY(std::ranges::any_of(texts, [this](const QString& text) {
      return text.contains("peak of " + bytes_text(figures().figures.peak_bytes));
    }));
  } else {
    QVERIFY(at_peak().empty());
  }
  editing().undo();
  QVERIFY(settle());
  if (model().shows_only_some()) QCOMPARE(shown(), before);
}

void SacPlanTest::the_headline_says_that_the_best_come_first_only_if_they_do() {
  QVERIFY(open(kLarge));
  pane().show_peak();
  QVERIFY(session().saved_at_peak().size() > 1);
  const auto says = [this](const QString& words) {
    return std::ranges::any_of(labels_of(table()),
                               [&](const QString& text) { return text.contains(words); });
  };
  QVERIFY(says("come first."));
  table().view().sortByColumn(SacModel::worth_column, Qt::AscendingOrder);
  QVERIFY(!says("come first."));
  QVERIFY(says("are live at the peak of"));
  table().view().sortByColumn(SacModel::bytes_column, Qt::DescendingOrder);
  QVERIFY(!says("come first."));
  table().view().sortByColumn(SacModel::worth_column, Qt::DescendingOrder);
  QVERIFY(says("come first."));
}

void SacPlanTest::the_starting_point_stays_drawn() {
  QVERIFY(open(kSample));
  QVERIFY(search_trade_off());
  const ParetoPlot& plot = pareto().plot();
  const auto find = [&](ParetoKind kind) {
    return std::ranges::find(plot.marks(), kind, &ParetoMark::kind);
  };
  const auto place = [&](auto mark) {
    return plot.place_of(static_cast<std::size_t>(mark - plot.marks().begin()));
  };
  QVERIFY(find(ParetoKind::start) == plot.marks().end());
  const QPoint start = place(find(ParetoKind::now));
  const auto curve = find(ParetoKind::curve);
  QVERIFY(curve != plot.marks().end());
  const ParetoMark wanted = *curve;
  const QPoint at = place(curve);
  QTest::mouseClick(&pareto().plot(), Qt::LeftButton, {}, at);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  // The plan that the search started from does not move, and neither does the curve.
  QVERIFY(find(ParetoKind::start) != plot.marks().end());
  QCOMPARE(place(find(ParetoKind::start)), start);
  QCOMPARE(place(std::ranges::find(plot.marks(), wanted)), at);
  // A click on it leads back.
  const PlanFigures there = figures();
  QTest::mouseClick(&pareto().plot(), Qt::LeftButton, {}, start);
  QVERIFY(settle());
  QVERIFY(figures() != there);
  QVERIFY(find(ParetoKind::start) == plot.marks().end());
}

void SacPlanTest::a_typed_budget_is_the_drawn_one() {
  QVERIFY(open(kSample));
  QVERIFY(search_trade_off());
  std::vector<ParetoMark> budgets;
  std::ranges::copy_if(pareto().plot().marks(), std::back_inserter(budgets),
                       [](const ParetoMark& mark) { return mark.kind == ParetoKind::budget; });
  QVERIFY(budgets.size() > 2);
  std::ranges::stable_sort(budgets, std::ranges::greater(),
                           [](const ParetoMark& mark) { return mark.name.size(); });
  for (std::size_t i = 0; i < 3; ++i) {
    const QString drawn = budgets[i].name.section(u' ', 1);
    QDoubleSpinBox& box = bar().budget().box();
    box.setFocus();
    box.selectAll();
    QTest::keyClicks(&box, drawn);
    QTest::keyClick(&box, Qt::Key_Return);
    QVERIFY(settle());
    QCOMPARE(session().state()->base->settings.activation_budget, drawn.toDouble());
    QCOMPARE(figures().figures.peak_bytes, budgets[i].peak_bytes);
    QCOMPARE(figures().figures.step_ns, budgets[i].step_ns);
    // The field shows all its digits.
    QVERIFY(box.fontMetrics().horizontalAdvance(drawn) < child<QLineEdit>(box).width());
  }
}

void SacPlanTest::says_what_a_list_cannot_express() {
  QVERIFY(open(kLarge));
  // One product of many is saved, another recomputed: no list of operators expresses that.
  const std::vector<int> saved = rows_of(PlanAction::save);
  QVERIFY(saved.size() > 8);
  table().view().setFocus();
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    choose_row(saved[i]);
    QTest::keyClick(&table().view(), Qt::Key_R);
    QVERIFY(settle());
  }
  QGuiApplication::clipboard()->setText("before");
  QAction* copy = bar().exchange().actions().front();
  copy->trigger();
  const auto dialog = [this] { return shown_dialog(); };
  QTRY_VERIFY_WITH_TIMEOUT(dialog() != nullptr, kPatienceMs);
  QCOMPARE(QGuiApplication::clipboard()->text(), "before");
  const QString text = dialog()->text() + dialog()->informativeText();
  QVERIFY2(text.contains("cannot express"), qPrintable(text));
  QVERIFY2(text.contains("peak " + bytes_text(figures().figures.peak_bytes)), qPrintable(text));
  QVERIFY2(text.contains("With the exported text: peak "), qPrintable(text));
  // The recipe can express it, and is copied immediately.
  for (QAbstractButton* button : dialog()->buttons())
    if (button->text().contains("Recipe")) QTest::mouseClick(button, Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(QGuiApplication::clipboard()->text().contains("jointer-recipe"),
                           kPatienceMs);
  QVERIFY(dialog() == nullptr);
  // Cancelling copies nothing.
  QGuiApplication::clipboard()->setText("before");
  copy->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(dialog() != nullptr, kPatienceMs);
  QTest::keyClick(dialog(), Qt::Key_Escape);
  QTRY_VERIFY(dialog() == nullptr);
  QCOMPARE(QGuiApplication::clipboard()->text(), "before");
}

void SacPlanTest::presets_that_cannot_be_applied_are_disabled() {
  const auto entry = [this](const QString& text) {
    const auto actions = bar().presets().actions();
    return *std::ranges::find(actions, text, &QAction::text);
  };
  const auto open_menu = [this] {
    bar().presets().popup(bar().mapToGlobal(QPoint(0, 0)));
    QTest::qWait(1);
  };
  QVERIFY(open(kStep));
  open_menu();
  QVERIFY(entry("apply_sac")->isEnabled());
  // The sample has no tags.
  bool is_tagged = false;
  for (const NodeId id : document().graph().order())
    is_tagged = is_tagged || document().graph().node(id).policy != MemoryPolicy::none;
  QVERIFY(!is_tagged);
  QTRY_VERIFY_WITH_TIMEOUT(!entry("Remove All Tags")->isEnabled(), kPatienceMs);
  QVERIFY(entry("Remove All Tags")->toolTip().startsWith("Cannot be applied: "));
  bar().presets().close();
  // Once there are tags, they can be removed.
  bar().apply_preset(QStringLiteral("full"));
  QVERIFY(settle());
  open_menu();
  QVERIFY(entry("Remove All Tags")->isEnabled());
  QTest::qWait(200);
  QVERIFY(entry("Remove All Tags")->isEnabled());
  bar().presets().close();
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::SacPlanTest, "sac_plan")
#include "sac_plan_test.moc"
