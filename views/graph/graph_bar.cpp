#include "views/graph/graph_bar.h"

#include <QActionGroup>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>

#include "views/graph/ladder_picture.h"
#include "views/widgets/bar_button.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr double kButtonZoom = 1.4;

}  // namespace

GraphBar::GraphBar(Document& document, GraphView& graph, QWidget* parent)
    : QWidget(parent), document_(document), graph_(graph) {
  LadderModel* model = &graph_.model();
  QHBoxLayout* row = make_row(this, {8, 2, 8, 2}, 2);
  color_ = add_menu_button({}, tr("Choose how boxes are colored, and whether kernels are outlined"),
                           QStringLiteral("color"));
  auto* group = new QActionGroup(color_);
  for (const LadderColor color : kLadderColors) {
    QAction* action = group->addAction(color_->menu()->addAction(label_of(color)));
    action->setCheckable(true);
    action->setChecked(color == graph_.model().colors().by());
    connect(action, &QAction::triggered, model, [model, color] { model->set_color(color); });
    connect(model, &LadderModel::color_changed, action,
            [action, color](LadderColor now) { action->setChecked(now == color); });
  }
  color_->menu()->addSeparator();
  QAction* kernels = color_->menu()->addAction(tr("Outline Kernels"));
  kernels->setObjectName(QStringLiteral("outline_kernels"));
  kernels->setCheckable(true);
  connect(kernels, &QAction::toggled, &graph_, &GraphView::set_show_kernels);
  connect(model, &LadderModel::color_changed, this, &GraphBar::show_color);
  show_color(graph_.model().colors().by());
  row->addStretch(1);
  connect(add_bar_button(*this, tr("Selected"),
                         tr("Expand the rows that contain the selected node and show it (Z)")),
          &QToolButton::clicked, &graph_, &GraphView::show_selection);
  connect(add_bar_button(*this, tr("Collapse All"), tr("Collapse all rows")), &QToolButton::clicked,
          &graph_, &GraphView::close_all);
  connect(add_bar_button(*this, QStringLiteral("\u2212"), tr("Zoom out (S)")),
          &QToolButton::clicked, &graph_, [this] { graph_.zoom(1 / kButtonZoom); });
  connect(add_bar_button(*this, QStringLiteral("+"), tr("Zoom in (W)")), &QToolButton::clicked,
          &graph_, [this] { graph_.zoom(kButtonZoom); });
  connect(add_bar_button(*this, QStringLiteral("1:1"), tr("Actual size (1)")),
          &QToolButton::clicked, &graph_, &GraphView::full_size);
  connect(add_bar_button(*this, tr("Fit"), tr("Fit the whole graph (F)")), &QToolButton::clicked,
          &graph_.scroll(), &LadderScroll::fit);
  QMenu* menu =
      add_menu_button(tr("Export"), tr("Save an image of the graph"), QStringLiteral("export"))
          ->menu();
  const auto add_export = [&](const QString& text, const QString& suffix, bool whole) {
    connect(menu->addAction(text), &QAction::triggered, this,
            [this, suffix, whole] { export_picture(suffix, whole); });
  };
  add_export(tr("Whole Graph (SVG)..."), QStringLiteral(".svg"), true);
  add_export(tr("Whole Graph (PNG)..."), QStringLiteral(".png"), true);
  add_export(tr("Visible Part (SVG)..."), QStringLiteral(".svg"), false);
  add_export(tr("Visible Part (PNG)..."), QStringLiteral(".png"), false);
}

QToolButton* GraphBar::add_menu_button(const QString& text, const QString& tip,
                                       const QString& name) {
  QToolButton* button = add_bar_button(*this, text + kMenuArrow, tip);
  button->setObjectName(name);
  open_menu(*button, new QMenu(button));
  return button;
}

void GraphBar::show_color(LadderColor color) {
  color_->setText(tr("Color: %1").arg(label_of(color)) + kMenuArrow);
}

void GraphBar::export_picture(const QString& suffix, bool whole) {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Save Graph Image"), QDir(last_folder_).filePath(document_.title() + suffix),
      QStringLiteral("*%1").arg(suffix));
  if (path.isEmpty()) return;
  last_folder_ = QFileInfo(path).absolutePath();
  const QString with_suffix = path.endsWith(suffix, Qt::CaseInsensitive) ? path : path + suffix;
  const QString name = QDir::toNativeSeparators(with_suffix);
  if (write_ladder_picture(with_suffix, whole, document_.title(), graph_.scene(), graph_.font()))
    return emit message(tr("Wrote %1.").arg(name));
  show_warning(tr("Save Graph Image"),
               tr("Could not save the image to %1. Check that its folder is writable and that the "
                  "disk is not full.")
                   .arg(name),
               this);
}

}  // namespace jointer::views
