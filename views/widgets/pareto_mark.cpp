#include "views/widgets/pareto_mark.h"

#include <QLocale>
#include <QPainterPath>

#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

void paint_diamond(QPainter& painter, QPointF at, double radius) {
  QPainterPath path(at + QPointF(0, -radius));
  path.lineTo(at + QPointF(radius, 0));
  path.lineTo(at + QPointF(0, radius));
  path.lineTo(at + QPointF(-radius, 0));
  path.closeSubpath();
  painter.drawPath(path);
}

}  // namespace

ParetoMark mark_of(const ParetoPoint& point) {
  const bool is_budget = point.budget >= 0;
  return {.kind = !point.name.empty() ? ParetoKind::preset
                  : is_budget         ? ParetoKind::budget
                                      : ParetoKind::curve,
          .name = !point.name.empty() ? QString::fromStdString(point.name)
                  : is_budget
                      ? tr("budget %1").arg(point.budget, 0, 'g', QLocale::FloatingPointShortest)
                      : tr("searched"),
          .peak_bytes = point.figures.figures.peak_bytes,
          .step_ns = point.figures.figures.step_ns,
          .reserved_bytes = point.reserved_bytes,
          .order = QString::fromStdString(point.order)};
}

bool is_pipeline(ParetoKind kind) {
  return kind == ParetoKind::pipeline || kind == ParetoKind::pipeline_preset ||
         kind == ParetoKind::tuned;
}

QString legend_text(ParetoKind kind) {
  switch (kind) {
    case ParetoKind::curve:
      return tr("searched plan");
    case ParetoKind::budget:
      return tr("budget plan");
    case ParetoKind::preset:
      return tr("preset plan");
    case ParetoKind::named:
      return tr("named state");
    case ParetoKind::pipeline:
      return tr("pipeline");
    case ParetoKind::pipeline_preset:
      return tr("preset pipeline");
    case ParetoKind::tuned:
    case ParetoKind::start:
    case ParetoKind::now:
      return {};
  }
  return {};
}

QColor color_of(ParetoKind kind, const Theme& theme) {
  switch (kind) {
    case ParetoKind::curve:
    case ParetoKind::budget:
    case ParetoKind::preset:
    case ParetoKind::named:
      return theme.color(ColorRole::accent);
    case ParetoKind::pipeline:
    case ParetoKind::pipeline_preset:
    case ParetoKind::tuned:
      return theme.color(ColorRole::pipeline);
    case ParetoKind::start:
    case ParetoKind::now:
      return theme.text;
  }
  return theme.accent;
}

void paint_symbol(QPainter& painter, ParetoKind kind, QPointF at, bool is_current,
                  const Theme& theme) {
  const double r = kMarkRadius + (is_current ? 1.5 : 0);
  const QColor color = color_of(kind, theme);
  const bool is_hollow = kind == ParetoKind::budget || kind == ParetoKind::start;
  painter.setPen(is_hollow    ? QPen(color, is_current ? 2 : 1)
                 : is_current ? QPen(theme.text, 2)
                              : QPen(theme.surface, 1));
  painter.setBrush(is_hollow ? theme.surface : color);
  switch (kind) {
    case ParetoKind::curve:
    case ParetoKind::budget:
    case ParetoKind::pipeline:
      return painter.drawEllipse(at, r - 1, r - 1);
    case ParetoKind::preset:
    case ParetoKind::pipeline_preset:
      return painter.drawRect(QRectF(at.x() - r, at.y() - r, 2 * r, 2 * r));
    case ParetoKind::named:
    case ParetoKind::tuned:
      return paint_diamond(painter, at, r + 1);
    case ParetoKind::start:
    case ParetoKind::now:
      return painter.drawEllipse(at, r + 1, r + 1);
  }
}

}  // namespace jointer::views
