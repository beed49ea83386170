// Tests the Graph pane with real keyboard and mouse events on the offscreen platform.

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDir>
#include <QMenu>
#include <QMessageBox>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QXmlStreamReader>
#include <filesystem>
#include <fstream>

#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/ladder_places.h"
#include "tests/support/graphs.h"
#include "tests/support/ladders.h"
#include "tests/support/snapshots.h"
#include "views/graph/graph_pane.h"
#include "views/graph/ladder_picture.h"
#include "views/graph/ladder_text.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/theme/theme_choice.h"

namespace jointer::views {

class GraphTest : public QObject {
  Q_OBJECT

 private:
  [[nodiscard]] NodeId node(const char* name) const { return document_->graph().find(name); }
  [[nodiscard]] int row(const char* key) const {
    const int row = view().model().ladder().find(key);
    if (row < 0) qFatal("there is no row %s", key);
    return row;
  }
  [[nodiscard]] GraphView& view() const { return pane_->view(); }
  [[nodiscard]] QRect place_of_row(int row, LadderSide side) const {
    return test::place_of_row(view(), row, side);
  }
  [[nodiscard]] QRect place_of_node(NodeId id) const { return test::place_of_node(view(), id); }
  [[nodiscard]] bool write(const QString& path, bool whole) const {
    return write_ladder_picture(path, whole, document_->title(), view().scene(), view().font());
  }
  [[nodiscard]] Selection& selection() const { return document_->selection(); }
  [[nodiscard]] QString current() const {
    return selection().current()
               ? QString::fromStdString(std::string(document_->graph().name(selection().current())))
               : QString();
  }
  [[nodiscard]] QString focused() const {
    const int at = view().scene().marks.focus_row;
    return at < 0 ? QString() : QString::fromStdString(view().model().ladder().row(at).key);
  }
  [[nodiscard]] QPoint middle(const char* key, LadderSide side = LadderSide::forward) const {
    return place_of_row(row(key), side).center();
  }
  // The toggle at the outer end of a row's box.
  [[nodiscard]] QPoint mark(const char* key, LadderSide side = LadderSide::forward) const {
    const QRect box = place_of_row(row(key), side);
    return {side == LadderSide::forward ? box.left() + 9 : box.right() - 9, box.center().y()};
  }
  [[nodiscard]] bool is_shown(const char* key) const {
    const int r = view().model().ladder().find(key);
    return r >= 0 && !place_of_row(r, LadderSide::forward).isEmpty();
  }
  void click(QPoint at, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(view().viewport(), Qt::LeftButton, modifiers, at);
  }
  void press(int key, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(&view(), static_cast<Qt::Key>(key), modifiers);
  }
  void wheel(QPoint at, int notches, Qt::KeyboardModifiers modifiers = {}) {
    QWheelEvent event(at, view().viewport()->mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton,
                      modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(view().viewport(), &event);
  }
  void open(const std::vector<const char*>& keys) {
    for (const char* key : keys) {
      view().model().open_row(row(key));
      QTRY_COMPARE(view().model().groups().pending(), 0U);
      QTRY_VERIFY(view().model().is_open(row(key)));
    }
  }
  QMenu* menu_at(QPoint at) {
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, view().viewport()->mapToGlobal(at));
    QApplication::sendEvent(view().viewport(), &event);
    const auto menus = view().findChildren<QMenu*>();
    return menus.isEmpty() ? nullptr : menus.last();
  }
  void choose(QPoint at, const QString& text) {
    QMenu* menu = menu_at(at);
    QVERIFY(menu != nullptr);
    for (QAction* action : menu->actions())
      if (action->text().remove(u'&').startsWith(text)) {
        QVERIFY2(action->isEnabled(), qPrintable(text));
        action->trigger();
        menu->close();
        return;
      }
    QFAIL(qPrintable("there is no entry " + text));
  }

  void show(Graph graph, QSize size = {1000, 600}) {
    pane_.reset();
    auto snapshot = make_snapshot(std::move(graph), {});
    QVERIFY(snapshot);
    document_ = std::make_unique<Document>(OpenRequest{}, *snapshot);
    pane_ = std::make_unique<GraphPane>(*document_);
    pane_->resize(size);
    pane_->show();
    QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
  }

  std::unique_ptr<Document> document_;
  std::unique_ptr<GraphPane> pane_;

 private slots:
  void init() { show(test::layered_graph(3)); }
  void cleanup() { pane_.reset(); }

  void expands_and_collapses_with_clicks() {
    QVERIFY(is_shown("*layers.0"));
    QVERIFY(!is_shown("layers.1"));
    click(mark("*layers.0"));
    QVERIFY(is_shown("layers.1"));
    QTest::mouseDClick(view().viewport(), Qt::LeftButton, {}, middle("layers.1"));
    QVERIFY(is_shown("layers.1.attention"));
    click(mark("*layers.0", LadderSide::backward));
    QVERIFY(!is_shown("layers.1"));
  }

  void clicked_item_keeps_its_position() {
    open({"*layers.0", "layers.0", "layers.1", "layers.2"});
    QTest::mouseMove(view().viewport(), QPoint(300, 300));
    wheel(QPoint(300, 300), -2);
    for (const char* key : {"layers.1.attention", "layers.1.norm", "layers.2.attention"}) {
      const QPoint at = mark(key);
      if (!view().area().contains(at)) continue;
      click(at);
      QTRY_COMPARE(view().model().groups().pending(), 0U);
      QTRY_VERIFY(view().model().is_open(row(key)));
      QCOMPARE(mark(key), at);
      click(at);
      QVERIFY(!view().model().is_open(row(key)));
      QCOMPARE(mark(key), at);
    }
  }

  void expanded_row_shows_its_nodes() {
    open({"*layers.0", "layers.0", "layers.0.attention", "layers.0.attention.wo"});
    const QRect mm = place_of_node(node("o_0")), ar = place_of_node(node("ar_0"));
    QVERIFY(!mm.isEmpty());
    QVERIFY(mm.bottom() < ar.top());
    QVERIFY(place_of_node(node("gwo_0")).bottom() < place_of_node(node("at_0")).top());
    QVERIFY(place_of_node(node("q_0")).isEmpty());
  }

  void an_image_that_cannot_be_saved_is_reported_in_a_dialog() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("none/graph.png");
    const auto* button = pane_->findChild<QToolButton*>("export");
    QVERIFY(button != nullptr);
    test::answer_file_dialog(path);
    for (QAction* action : button->menu()->actions())
      if (action->text() == "Whole Graph (PNG)...") action->trigger();
    auto* box = pane_->findChild<QMessageBox*>();
    QVERIFY(box != nullptr);
    QVERIFY2(box->text().contains(QDir::toNativeSeparators(path)), qPrintable(box->text()));
    box->close();
  }

  // The two element-wise operators are one kernel, the product is another.
  void outlines_predicted_kernels() {
    show(test::parse(R"(
      x: f32[1024,1024] = input
      scaled: f32[1024,1024] = aten.mul.Tensor(x, x) {block}
      power: f32[1024,1024] = aten.exp(scaled)       {block}
      product: f32[1024,1024] = aten.mm(power, x)    {block}
      return [product]
    )"));
    open({"block"});
    QTRY_VERIFY(!place_of_node(node("scaled")).isEmpty());
    const auto color_next_to = [this](const char* name) {
      const QRect box = place_of_node(node(name));
      return view().viewport()->grab().toImage().pixelColor(box.left() - 2, box.top() + 3);
    };
    const Theme& theme = Theme::of(view().palette());
    const QColor inside = blended(theme.bed, theme.item(ItemColor::memory), 0.25);
    QVERIFY(color_next_to("scaled") != inside);
    QVERIFY(!document_->kernels().shown());

    auto* outline = pane_->findChild<QAction*>(QStringLiteral("outline_kernels"));
    QVERIFY(outline != nullptr);
    outline->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(view().scene().kernels != nullptr, test::kPatienceMs);
    QCOMPARE(color_next_to("scaled"), inside);
    QCOMPARE(color_next_to("power"), inside);
    QVERIFY(color_next_to("product") != inside);

    // The card names the kernel; a double-click selects its nodes.
    const QPoint at = place_of_node(node("scaled")).center();
    const QString card = view().card_at(at).join(u'\n');
    QVERIFY2(card.contains("fused mul, exp") && card.contains("kernel 1 of"), qPrintable(card));
    QTest::mouseDClick(view().viewport(), Qt::LeftButton, {}, at);
    QCOMPARE(selection().nodes().size(), 2U);
    QVERIFY(selection().contains(node("scaled")) && selection().contains(node("power")));
    QCOMPARE(selection().current(), node("scaled"));
    QCOMPARE(color_next_to("scaled"), blended(theme.bed, theme.accent, 0.25));
    selection().clear();
    choose(place_of_node(node("product")).center(), "Select Nodes of the Same Kernel");
    QCOMPARE(selection().current(), node("product"));

    outline->trigger();
    QVERIFY(color_next_to("scaled") != inside);
    QVERIFY(!view().card_at(at).join(u'\n').contains("kernel 1 of"));
  }

  void click_selects_the_item_under_the_pointer() {
    click(middle("*layers.0"));
    QCOMPARE(selection().nodes().size(), 3 * 7U);
    for (const NodeId id : selection().nodes())
      QCOMPARE(document_->graph().node(id).phase, Phase::forward);
    click(middle("*layers.0", LadderSide::backward));
    QCOMPARE(selection().nodes().size(), 3 * 6U);
    open({"*layers.0", "layers.0", "layers.0.attention", "layers.0.attention.wo"});
    click(place_of_node(node("ar_0")).center());
    QCOMPARE(current(), "ar_0");
    QCOMPARE(selection().nodes().size(), 1U);
    click(place_of_node(node("wt_0")).center(), Qt::ControlModifier);
    QCOMPARE(selection().nodes().size(), 2U);
    click(place_of_node(node("ar_0")).center(), Qt::ControlModifier);
    QCOMPARE(selection().nodes().size(), 1U);
    QCOMPARE(current(), "wt_0");
  }

  void click_on_a_rung_selects_its_tensors() {
    const QRect left = place_of_row(row("*layers.0"), LadderSide::forward);
    const QRect right = place_of_row(row("*layers.0"), LadderSide::backward);
    const QPoint rung((left.right() + right.left()) / 2, left.center().y());
    QVERIFY(view().card_at(rung).first() == "6.00 KiB S + 12.0 KiB A");
    click(rung);
    QCOMPARE(selection().nodes().size(), 9U);
    QVERIFY(selection().contains(node("act_1")));
  }

  void follows_a_selection_made_elsewhere() {
    selection().select(node("o_2"));
    // Its row is marked; no row is expanded automatically.
    QCOMPARE(focused(), "*layers.0");
    QVERIFY(!is_shown("layers.2"));
    press(Qt::Key_Z);
    QTRY_VERIFY(!place_of_node(node("o_2")).isEmpty());
    QVERIFY(view().area().contains(place_of_node(node("o_2"))));
    // A distant node is scrolled into view.
    open({"layers.0"});
    selection().select(node("norm_0"));
    QCOMPARE(focused(), "layers.0.norm");
    QVERIFY(view().area().contains(middle("layers.0.norm")));
  }

  void keys_navigate_and_expand() {
    press(Qt::Key_Home);
    QCOMPARE(focused(), "inputs and outputs");
    press(Qt::Key_Down);
    QCOMPARE(focused(), "*layers.0");
    press(Qt::Key_Right);
    QVERIFY(is_shown("layers.0"));
    press(Qt::Key_Right);
    QCOMPARE(focused(), "layers.0");
    press(Qt::Key_Return);
    QVERIFY(is_shown("layers.0.norm"));
    press(Qt::Key_Down);
    press(Qt::Key_Down);
    QCOMPARE(focused(), "layers.0.attention");
    press(Qt::Key_Right, Qt::ControlModifier);
    QCOMPARE(focused(), "layers.0.attention");
    QCOMPARE(document_->graph().node(selection().current()).phase, Phase::backward);
    press(Qt::Key_Left);
    QCOMPARE(focused(), "layers.0");
    press(Qt::Key_Left);
    QVERIFY(!is_shown("layers.0.norm"));
    press(Qt::Key_Left);
    QCOMPARE(focused(), "*layers.0");
    press(Qt::Key_Left);
    QVERIFY(!is_shown("layers.0"));
    press(Qt::Key_End);
    QCOMPARE(focused(), "*layers.0");
  }

  void keys_navigate_between_nodes() {
    open({"*layers.0", "layers.0", "layers.0.attention", "layers.0.attention.wo"});
    click(middle("layers.0.attention.wo"));
    press(Qt::Key_Right);
    QCOMPARE(current(), "o_0");
    press(Qt::Key_Down);
    QCOMPARE(current(), "ar_0");
    press(Qt::Key_Down);
    QCOMPARE(current(), "wt_0");
    press(Qt::Key_Up);
    QCOMPARE(current(), "ar_0");
    press(Qt::Key_Left);
    QCOMPARE(focused(), "layers.0.attention.wo");
  }

  void brackets_follow_the_flow() {
    selection().select(node("o_0"));
    press(Qt::Key_BracketRight);
    QCOMPARE(current(), "ar_0");
    press(Qt::Key_BracketRight);
    QCOMPARE(current(), "wt_0");
    press(Qt::Key_BracketLeft);
    QCOMPARE(current(), "ar_0");
  }

  void zoom_at_the_pointer_keeps_the_point() {
    open({"*layers.0", "layers.0", "layers.1", "layers.2"});
    const QPoint at(431, 287);
    const QPointF in_area = at - view().area().topLeft();
    for (const int notches : {1, 3, -2, -6, 4}) {
      const double x = view().scroll().view().from_x(in_area.x()),
                   y = view().scroll().view().from_y(in_area.y());
      wheel(at, notches, Qt::ControlModifier);
      QVERIFY(std::abs(view().scroll().view().from_x(in_area.x()) - x) < 0.01);
      QVERIFY(std::abs(view().scroll().view().from_y(in_area.y()) - y) < 0.01);
    }
    press(Qt::Key_F);
    QVERIFY(view().scroll().view().from_y(view().scroll().view().height) >=
            view().model().layout().height() - 0.01);
    press(Qt::Key_1);
    QVERIFY(std::abs(view().scroll().view().scale - 1) < 1e-9);
  }

  void wheel_and_drag_pan() {
    open({"*layers.0", "layers.0", "layers.1", "layers.2", "layers.0.attention",
          "layers.1.attention", "layers.2.attention"});
    const int max = view().verticalScrollBar()->maximum();
    QVERIFY(max > 0);
    wheel(QPoint(300, 300), -1);
    QCOMPARE(view().verticalScrollBar()->value(), std::min(60, max));
    wheel(QPoint(300, 300), -100);
    QCOMPARE(view().verticalScrollBar()->value(), max);
    const std::size_t selected = selection().nodes().size();
    QTest::mousePress(view().viewport(), Qt::LeftButton, {}, QPoint(300, 300));
    QTest::mouseMove(view().viewport(), QPoint(300, 320));
    QTest::mouseMove(view().viewport(), QPoint(300, 340));
    QTest::mouseRelease(view().viewport(), Qt::LeftButton, {}, QPoint(300, 340));
    QCOMPARE(view().verticalScrollBar()->value(), std::max(max - 40, 0));
    QCOMPARE(selection().nodes().size(), selected);  // a drag is not a click
    // A quick second press of the middle button pans, like the first.
    QTest::mouseDClick(view().viewport(), Qt::MiddleButton, {}, QPoint(300, 340));
    QTest::mouseMove(view().viewport(), QPoint(300, 350));
    QTest::mouseRelease(view().viewport(), Qt::MiddleButton, {}, QPoint(300, 350));
    QCOMPARE(view().verticalScrollBar()->value(), std::max(max - 50, 0));
    view().verticalScrollBar()->setValue(5);
    QCOMPARE(view().scroll().view().y, 5.0);
  }

  void the_minimap_moves_the_view() {
    view().model().open_all(-1);
    QTRY_COMPARE(view().model().groups().pending(), 0U);
    QTRY_VERIFY(view().model().layout().height() > view().scroll().view().height);
    const QRect map = view().minimap_area();
    click({map.center().x(), map.bottom() - 1});
    QVERIFY(view().scroll().view().y + view().scroll().view().height >=
            view().model().layout().height() - 1);
    click({map.center().x(), map.top() + 1});
    QCOMPARE(view().scroll().view().y, 0.0);
  }

  void the_menu_opens_selects_and_copies() {
    choose(middle("*layers.0"), "Expand All Below");
    QTRY_COMPARE(view().model().groups().pending(), 0U);
    QTRY_VERIFY(!place_of_node(node("q_2")).isEmpty());
    choose(middle("*layers.0"), "Collapse All Below");
    QVERIFY(!is_shown("layers.0"));
    open({"*layers.0", "layers.1", "layers.1.attention", "layers.1.attention.wo"});
    choose(middle("layers.1"), "Select All Nodes of layers.1");
    QCOMPARE(selection().nodes().size(), 7 + 6 + 2U);  // including its two parameters
    choose(middle("layers.1"), "Copy Name");
    QCOMPARE(QApplication::clipboard()->text(), "layers.1");
    choose(place_of_node(node("ar_1")).center(), "Select This Node in All Identical");
    QCOMPARE(selection().nodes().size(), 3U);
    QVERIFY(selection().contains(node("ar_0")));
    QVERIFY(selection().contains(node("ar_2")));
    choose(place_of_node(node("ar_1")).center(), "Copy Name");
    QCOMPARE(QApplication::clipboard()->text(), "ar_1");
  }

  void each_menu_entry_has_its_own_key() {
    open({"*layers.0", "layers.1", "layers.1.attention", "layers.1.attention.wo"});
    QAction why(QStringLiteral("&Why Is This Here?"));  // the window adds it
    view().addAction(&why);
    QMenu* menu = menu_at(place_of_node(node("ar_1")).center());
    QVERIFY(menu != nullptr);
    QList<QKeySequence> keys;
    for (const QAction* action : menu->actions()) {
      const QKeySequence key = QKeySequence::mnemonic(action->text());
      if (key.isEmpty()) continue;
      QVERIFY2(!keys.contains(key), qPrintable(action->text()));
      keys << key;
    }
    QVERIFY(keys.contains(QKeySequence::mnemonic(why.text())));
    menu->close();
  }

  void hover_cards_describe_the_item() {
    const QString row_card = view().card_at(middle("*layers.0")).join(u'\n');
    QVERIFY2(row_card.contains("3 identical"), qPrintable(row_card));
    QVERIFY(row_card.contains("6 parameters"));
    QVERIFY(row_card.contains("all_reduce") || row_card.contains("all-reduce"));
    QVERIFY(view().card_at(QPoint(2, view().height() / 2)).isEmpty());
    const LadderHit bar{.place = {.item = 0}, .side = LadderSide::forward, .folded = 2};
    QCOMPARE(hit_lines(view().model(), bar).at(1), "starting with inputs and outputs");
    open({"*layers.0", "layers.0", "layers.0.attention", "layers.0.attention.wq"});
    const QString node_card = view().card_at(place_of_node(node("q_0")).center()).join(u'\n');
    QVERIFY2(node_card.contains("aten.mm.default") && node_card.contains("must save"),
             qPrintable(node_card));
  }

  void colors_by_data() {
    const auto image = [&] { return view().grab().toImage(); };
    QList<QImage> seen;
    for (const LadderColor color : {LadderColor::time, LadderColor::bytes, LadderColor::phase,
                                    LadderColor::policy, LadderColor::plain}) {
      view().model().set_color(color);
      QCOMPARE(view().model().colors().by(), color);
      const QImage now = image();
      for (const QImage& other : seen) QVERIFY(now != other);
      seen << now;
    }
  }

  void writes_pictures() {
    open({"*layers.0", "layers.0", "layers.0.attention", "layers.0.attention.wo"});
    const QTemporaryDir folder;
    for (const bool whole : {false, true}) {
      const QString png = folder.filePath("ladder.png"), svg = folder.filePath("ladder.svg");
      QVERIFY(write(png, whole));
      QVERIFY(write(svg, whole));
      const QImage image(png);
      QVERIFY(!image.isNull());
      if (whole) QVERIFY(image.height() >= static_cast<int>(view().model().layout().height()));
      QFile file(svg);
      QVERIFY(file.open(QIODevice::ReadOnly));
      QXmlStreamReader xml(&file);
      QString texts;
      while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::Characters) texts += xml.text();
      QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
      QVERIFY(texts.contains("attention"));
      QVERIFY(texts.contains("wt_0"));
    }
    QVERIFY(!write("/nowhere/ladder.png", true));
    QVERIFY(!write("/nowhere/ladder.svg", true));
  }

  void stays_expanded_when_the_document_changes() {
    open({"*layers.0", "layers.0", "layers.0.attention", "layers.0.attention.wo"});
    selection().select(node("ar_0"));
    const QRect before = place_of_node(node("ar_0"));
    AnalysisOptions options = document_->analysis().options;
    options.estimator.device = "a100";
    QSignalSpy changed(document_.get(), &Document::changed);
    document_->analyze_with(options);
    QTRY_COMPARE(changed.count(), 1);
    // In the next frame, without delay.
    QCOMPARE(place_of_node(node("ar_0")), before);
    QCOMPARE(&view().model().snapshot(), &document_->snapshot());
  }

  void hanging_dot_is_not_waited_for() {
    const QTemporaryDir folder;
    const std::string program = folder.filePath("dot").toStdString();
    std::ofstream(program) << "#!/bin/sh\nexec sleep 600\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const QByteArray programs = qgetenv("PATH");
    qputenv("PATH", folder.path().toUtf8() + ':' + programs);
    open({"*layers.0", "layers.0", "layers.0.attention", "layers.0.attention.wo"});
    qputenv("PATH", programs);
    QVERIFY(!place_of_node(node("ar_0")).isEmpty());
  }

  void pane_can_be_closed_during_layout() {
    view().model().open_all(-1);
    QVERIFY(view().model().groups().pending() > 0);
    pane_.reset();
  }

  void is_readable_in_the_dark_theme() {
    apply_theme(*qApp, ThemeChoice::dark);
    const QImage dark = view().grab().toImage();
    QVERIFY(dark.pixelColor(view().area().center()).lightness() < 100);
    apply_theme(*qApp, ThemeChoice::light);
    const QImage light = view().grab().toImage();
    QVERIFY(light.pixelColor(view().area().center()).lightness() > 150);
  }

  void an_empty_graph_says_so() {
    pane_.reset();
    document_ = std::make_unique<Document>(OpenRequest{}, test::snapshot_of("return []\n"));
    pane_ = std::make_unique<GraphPane>(*document_);
    pane_->show();
    QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
    press(Qt::Key_Down);
    press(Qt::Key_F);
    wheel(QPoint(50, 50), 3, Qt::ControlModifier);
    click(QPoint(60, 60));
    const QImage shown = view().viewport()->grab(view().area()).toImage();
    QImage blank = shown;
    blank.fill(shown.pixelColor(0, 0));
    QVERIFY(shown != blank);
  }
};

}  // namespace jointer::views

JOINTER_GUI_TEST(jointer::views::GraphTest, "graph")
#include "graph_test.moc"
