#include "views/theme/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

// Indexed by ColorRole.
constexpr std::array<QRgb, kColorRoles> kLight{
    0x767C83,  // parameter
    0xB3AB9C,  // buffer
    0xCFD3D7,  // input
    0xC9B88F,  // constant
    0x4B5158,  // optimizer_state
    0xCC79A7,  // gradient
    0xEBC1D8,  // tangent
    0x0072B2,  // saved
    0x56B4E9,  // recomputed
    0x8C2278,  // offloaded
    0x6A98B2,  // automatic
    0xF0E442,  // temporary
    0xE69F00,  // communication
    0x009E73,  // output
    0xB4BCD0,  // host
    0x4B62C9,  // matmul
    0x9C70CF,  // attention
    0x8FD3D1,  // memory_bound
    0x8B83AB,  // other
    0x2F9AA5,  // compiled
    0xC44E00,  // exposed
    0xF2B872,  // all_gather
    0x7FB53B,  // reduce_scatter
    0xA86A33,  // all_reduce
    0xF28B82,  // all_to_all
    0xA5A04E,  // broadcast
    0x7A4FB8,  // group_1
    0x1B6B4A,  // group_2
    0xB03A63,  // group_3
    0x245F80,  // group_4
    0x7C5A1E,  // group_5
    0x94A7EA,  // forward
    0xD9925C,  // backward
    0x3B8FC8,  // amount
    0xB8369E,  // pipeline
    0x9AA3AD,  // baseline
    0x0B5CAD,  // accent
    0xB31D28,  // error
};

constexpr std::array<QRgb, kColorRoles> kDark{
    0x9A9FA6,  // parameter
    0x746C58,  // buffer
    0x4A4F55,  // input
    0x8A7848,  // constant
    0xC6CBD1,  // optimizer_state
    0xCC79A7,  // gradient
    0xEBC1D8,  // tangent
    0x0072B2,  // saved
    0x56C4E0,  // recomputed
    0xE86BE0,  // offloaded
    0x6A98B2,  // automatic
    0xF0E442,  // temporary
    0xE69F00,  // communication
    0x009E73,  // output
    0x5C6890,  // host
    0x4B62C9,  // matmul
    0x9C70CF,  // attention
    0x8FD3D1,  // memory_bound
    0x8B83AB,  // other
    0x2F9AA5,  // compiled
    0xFF8A3D,  // exposed
    0xF2B872,  // all_gather
    0x7FB53B,  // reduce_scatter
    0xA86A33,  // all_reduce
    0xE89A9A,  // all_to_all
    0xA5A04E,  // broadcast
    0x7A4FB8,  // group_1
    0x1B6B4A,  // group_2
    0xB03A63,  // group_3
    0x2F6485,  // group_4
    0x7C5A1E,  // group_5
    0x94A7EA,  // forward
    0xD9925C,  // backward
    0x3B8FC8,  // amount
    0xC93FA8,  // pipeline
    0x6E7782,  // baseline
    0x6CB6FF,  // accent
    0xFF7B72,  // error
};

// Indexed by MemoryCategory.
constexpr std::array<const char*, kMemoryCategories> kCategoryLabels{
    QT_TRANSLATE_NOOP("Jointer", "parameters"),
    QT_TRANSLATE_NOOP("Jointer", "buffers"),
    QT_TRANSLATE_NOOP("Jointer", "inputs"),
    QT_TRANSLATE_NOOP("Jointer", "tangents"),
    QT_TRANSLATE_NOOP("Jointer", "constants"),
    QT_TRANSLATE_NOOP("Jointer", "gradients"),
    QT_TRANSLATE_NOOP("Jointer", "optimizer state"),
    QT_TRANSLATE_NOOP("Jointer", "saved activations"),
    QT_TRANSLATE_NOOP("Jointer", "recomputed"),
    QT_TRANSLATE_NOOP("Jointer", "temporary"),
    QT_TRANSLATE_NOOP("Jointer", "communication"),
    QT_TRANSLATE_NOOP("Jointer", "outputs")};
// Indexed by ItemColor.
constexpr std::array<const char*, kItemColors> kItemLabels{
    QT_TRANSLATE_NOOP("Jointer", "CPU"),
    QT_TRANSLATE_NOOP("Jointer", "matmul"),
    QT_TRANSLATE_NOOP("Jointer", "attention"),
    QT_TRANSLATE_NOOP("Jointer", "memory-bound kernels"),
    QT_TRANSLATE_NOOP("Jointer", "other"),
    QT_TRANSLATE_NOOP("Jointer", "compiled"),
    QT_TRANSLATE_NOOP("Jointer", "exposed"),
    QT_TRANSLATE_NOOP("Jointer", "all-gather"),
    QT_TRANSLATE_NOOP("Jointer", "reduce-scatter"),
    QT_TRANSLATE_NOOP("Jointer", "all-reduce"),
    QT_TRANSLATE_NOOP("Jointer", "all-to-all"),
    QT_TRANSLATE_NOOP("Jointer", "broadcast")};

void set_colors(Theme& theme, const std::array<QRgb, kColorRoles>& colors) {
  std::ranges::transform(colors, theme.colors.begin(), [](QRgb rgb) { return QColor(rgb); });
  theme.accent = theme.color(ColorRole::accent);
  theme.warning = theme.color(ColorRole::exposed);
  theme.error = theme.color(ColorRole::error);
  theme.ghost = theme.color(ColorRole::baseline);
}

Theme make_light() {
  Theme t;
  set_colors(t, kLight);
  t.window = QColor(0xF3, 0xF4, 0xF6);
  t.surface = QColor(0xFF, 0xFF, 0xFF);
  t.raised = QColor(0xFF, 0xFF, 0xFF);
  t.border = QColor(0xD3, 0xD7, 0xDC);
  t.grid = QColor(0xE8, 0xEA, 0xED);
  t.bed = QColor(0xF4, 0xF5, 0xF7);
  t.text = QColor(0x1B, 0x1F, 0x24);
  t.muted_text = QColor(0x5B, 0x64, 0x70);
  t.accent_text = QColor(0xFF, 0xFF, 0xFF);
  return t;
}

Theme make_dark() {
  Theme t;
  t.dark = true;
  set_colors(t, kDark);
  t.window = QColor(0x1E, 0x21, 0x25);
  t.surface = QColor(0x17, 0x19, 0x1C);
  t.raised = QColor(0x2A, 0x2E, 0x34);
  t.border = QColor(0x3A, 0x3F, 0x47);
  t.grid = QColor(0x2A, 0x2D, 0x32);
  t.bed = QColor(0x20, 0x23, 0x27);
  t.text = QColor(0xE6, 0xE9, 0xED);
  t.muted_text = QColor(0x9C, 0xA5, 0xB1);
  t.accent_text = QColor(0x10, 0x16, 0x1D);
  return t;
}

}  // namespace

const Theme& Theme::light_theme() {
  static const Theme theme = make_light();
  return theme;
}

const Theme& Theme::dark_theme() {
  static const Theme theme = make_dark();
  return theme;
}

const Theme& Theme::of(const QPalette& palette) {
  return palette.color(QPalette::Window).lightness() < 128 ? dark_theme() : light_theme();
}

QColor blended(const QColor& a, const QColor& b, double share_of_b) {
  const auto mix = [&](int x, int y) {
    return static_cast<int>(std::lround(x * (1 - share_of_b) + y * share_of_b));
  };
  return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

QColor with_alpha(QColor color, float alpha) {
  color.setAlphaF(alpha);
  return color;
}

Qt::BrushStyle Theme::hatch(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::recomputed:
      return Qt::BDiagPattern;
    case MemoryCategory::communication:
      return Qt::FDiagPattern;
    case MemoryCategory::temporary:
      return Qt::Dense7Pattern;
    case MemoryCategory::optimizer_state:
      return Qt::HorPattern;
    default:
      return Qt::NoBrush;
  }
}

QColor Theme::pale(const QColor& color) const {
  return blended(color, bed, dark ? 0.62 : 0.66);
}

QColor Theme::half(const QColor& color) const {
  return blended(color, bed, 0.45);
}

QColor Theme::text_on(const QColor& background) {
  // This approximates relative luminance.
  const double luminance =
      0.299 * background.redF() + 0.587 * background.greenF() + 0.114 * background.blueF();
  return luminance > 0.55 ? QColor(0x10, 0x14, 0x18) : QColor(0xFF, 0xFF, 0xFF);
}

QPalette Theme::palette() const {
  QPalette p;
  p.setColor(QPalette::Window, window);
  p.setColor(QPalette::WindowText, text);
  p.setColor(QPalette::Base, surface);
  p.setColor(QPalette::AlternateBase, blended(surface, window, 0.6));
  p.setColor(QPalette::Text, text);
  p.setColor(QPalette::PlaceholderText, muted_text);
  p.setColor(QPalette::Button, raised);
  p.setColor(QPalette::ButtonText, text);
  p.setColor(QPalette::BrightText, warning);
  p.setColor(QPalette::ToolTipBase, raised);
  p.setColor(QPalette::ToolTipText, text);
  p.setColor(QPalette::Highlight, accent);
  p.setColor(QPalette::HighlightedText, accent_text);
  p.setColor(QPalette::Link, accent);
  p.setColor(QPalette::LinkVisited, accent);
  p.setColor(QPalette::Light, blended(raised, text, dark ? 0.15 : 0.0));
  p.setColor(QPalette::Midlight, blended(raised, border, 0.5));
  p.setColor(QPalette::Mid, border);
  p.setColor(QPalette::Dark, blended(border, text, 0.3));
  p.setColor(QPalette::Shadow, dark ? QColor(0, 0, 0) : blended(border, text, 0.6));
  for (const QPalette::ColorRole role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, role, blended(muted_text, window, 0.4));
  return p;
}

QString Theme::style_sheet() const {
  return QStringLiteral(
             "QToolTip { color: %1; background: %2; border: 1px solid %3; padding: 4px; }"
             "QDockWidget::title { background: %4; padding: 5px 8px; }"
             "QMainWindow::separator { background: %3; width: 1px; height: 1px; }"
             "QHeaderView { background: %4; }"
             "QHeaderView::section { background: %4; color: %5; border: 0;"
             "  border-bottom: 1px solid %3; padding: 3px 6px; }"
             "QHeaderView::down-arrow, QHeaderView::up-arrow { subcontrol-position: top center;"
             "  width: 9px; height: 9px; }"
             "QAbstractItemView { border: 0; }"
             "QMenuBar { border: 0; background: transparent; }"
             "QMenuBar::item { padding: 4px 8px; background: transparent; }"
             "QMenuBar::item:selected { background: %3; }"
             "QStatusBar { color: %5; }"
             "QStatusBar::item { border: 0; }")
      .arg(text.name(), raised.name(), border.name(), window.name(), muted_text.name());
}

QString category_label(MemoryCategory category) {
  return tr(kCategoryLabels[static_cast<std::size_t>(category)]);
}

QString item_label(ItemColor color) {
  return tr(kItemLabels[static_cast<std::size_t>(color)]);
}

std::span<const MemoryCategory> stacking_order() {
  static constexpr std::array<MemoryCategory, kMemoryCategories> kOrder{
      MemoryCategory::parameter,        MemoryCategory::buffer,
      MemoryCategory::optimizer_state,  MemoryCategory::input,
      MemoryCategory::constant,         MemoryCategory::gradient,
      MemoryCategory::saved_activation, MemoryCategory::recomputed,
      MemoryCategory::communication,    MemoryCategory::temporary,
      MemoryCategory::output,           MemoryCategory::tangent};
  return kOrder;
}

}  // namespace jointer::views
