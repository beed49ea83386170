#include "views/window/facts_popup.h"

#include <QScreen>
#include <QTextBrowser>
#include <algorithm>
#include <array>

#include "core/graph/group_argument.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kWidth = 560;
constexpr int kMaxHeight = 360;
constexpr std::array kKinds{Fact::Kind::warning, Fact::Kind::assumed, Fact::Kind::derived};

qsizetype count(const Graph& graph, Fact::Kind kind) {
  return std::ranges::count(graph.facts(), kind, &Fact::kind);
}

QString heading(Fact::Kind kind) {
  switch (kind) {
    case Fact::Kind::warning:
      return FactsPopup::tr("Warnings");
    case Fact::Kind::assumed:
      return FactsPopup::tr("Assumed");
    case Fact::Kind::derived:
      return FactsPopup::tr("Derived, not recorded in the capture");
  }
  return {};
}

// Says where in the window the values in facts of this kind can be changed; may be empty.
QString hint(const Graph& graph, Fact::Kind kind) {
  if (kind == Fact::Kind::assumed) return FactsPopup::tr("To change these sizes, press Sizes.");
  if (kind != Fact::Kind::derived) return {};
  bool is_any_guessed = !unsized_groups(graph).empty();
  for (std::size_t i = 0; i < graph.group_count() && !is_any_guessed; ++i)
    is_any_guessed = has_guessed_ranks(graph, graph.group(GroupId(i)));
  return is_any_guessed ? FactsPopup::tr(
                              "To set the number of ranks of a process group, or where they are, "
                              "choose Graph > Estimates.")
                        : QString();
}

}  // namespace

QString graph_summary(const Graph& graph) {
  QStringList parts{nodes_text(graph.order().size())};
  if (const auto n = count(graph, Fact::Kind::derived); n > 0)
    parts << counted_text(n, tr("1 derived fact"), tr("%1 derived facts"));
  if (const auto n = count(graph, Fact::Kind::assumed); n > 0)
    parts << counted_text(n, tr("1 assumption"), tr("%1 assumptions"));
  if (const auto n = count(graph, Fact::Kind::warning); n > 0)
    parts << counted_text(n, tr("1 warning"), tr("%1 warnings"));
  return parts.join(QStringLiteral(" \u00b7 "));
}

FactsPopup::FactsPopup(const Graph& graph, QWidget* parent) : QFrame(parent, Qt::Popup) {
  setAttribute(Qt::WA_DeleteOnClose);
  setFrameShape(QFrame::StyledPanel);
  QVBoxLayout* column = make_column(this, {1, 1, 1, 1});
  auto* text = new QTextBrowser(this);
  text->setFrameShape(QFrame::NoFrame);
  QString html;
  for (const Fact::Kind kind : kKinds) {
    if (count(graph, kind) == 0) continue;
    const QColor color = kind == Fact::Kind::warning ? Theme::of(palette()).warning
                                                     : Theme::of(palette()).muted_text;
    html += QStringLiteral("<p style='color:%1; margin-bottom:2px'>%2</p><ul style='margin:0'>")
                .arg(color.name(), heading(kind));
    for (const Fact& fact : graph.facts())
      if (fact.kind == kind)
        html += QStringLiteral("<li>%1</li>").arg(to_qstring(fact.text).toHtmlEscaped());
    html += QStringLiteral("</ul>");
    if (const QString text_of_hint = hint(graph, kind); !text_of_hint.isEmpty())
      html += QStringLiteral("<p>%1</p>").arg(text_of_hint.toHtmlEscaped());
  }
  if (html.isEmpty()) html = tr("<p>Nothing about this graph had to be derived or assumed.</p>");
  text->setHtml(html);
  column->addWidget(text);
  text->document()->setTextWidth(kWidth - 24);
  resize(kWidth, std::min(static_cast<int>(text->document()->size().height()) + 16, kMaxHeight));
}

void FactsPopup::show_above(const QWidget& anchor) {
  QPoint at = anchor.mapToGlobal(QPoint(0, -height()));
  const QRect screen = anchor.screen()->availableGeometry();
  at.setX(std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - width())));
  at.setY(std::max(at.y(), screen.top()));
  move(at);
  show();
  setFocus();
}

}  // namespace jointer::views
