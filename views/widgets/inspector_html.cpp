#include "views/widgets/inspector_html.h"

#include "views/session/text/node_text.h"
#include "views/session/translation/tr.h"
#include "views/widgets/source_excerpt.h"

namespace jointer::views {
namespace {

QString link(const QString& target, const QString& text) {
  return QStringLiteral("<a href=\"%1\">%2</a>").arg(target, text.toHtmlEscaped());
}

QString code(const QString& html) {
  return QStringLiteral("<span class=\"code\">%1</span>").arg(html);
}

QString value_html(const InspectorRow& row, const Graph& graph, int section, int index) {
  QStringList parts;
  if (!row.value.isEmpty())
    parts << (row.is_code ? code(row.value.toHtmlEscaped()) : row.value.toHtmlEscaped());
  QStringList links;
  for (const NodeId node : row.links)
    links << code(link(QStringLiteral("node:%1").arg(node.value()), to_qstring(graph.name(node))));
  if (!row.all_links.empty())
    links << link(QStringLiteral("nodes:%1.%2").arg(section).arg(index),
                  tr("all %1").arg(row.all_links.size()));
  if (!links.isEmpty()) parts << links.join(QStringLiteral(", "));
  return parts.join(u' ');
}

QString row_html(const InspectorRow& row, const Graph& graph, int section, int index) {
  QString tip = provenance_text(row.provenance);
  if (!row.note.isEmpty()) tip += u'\n' + row.note;
  // Mark estimates with a sign, which the tooltip explains.
  const bool is_estimate =
      row.provenance == Provenance::estimated || row.provenance == Provenance::assumed;
  const QString sign = is_estimate ? QStringLiteral("<span class=\"muted\">≈ </span>") : QString();
  // A blank in the value's font in the label's cell aligns the baselines of both cells.
  const bool has_code = row.is_code || !row.links.empty();
  const QString blank = has_code ? code(QStringLiteral("&nbsp;")) : QString();
  return QStringLiteral(
             "<tr><td class=\"label\" width=\"104\">%1%5</td><td><span "
             "title=\"%2\">%3%4</span></td></tr>")
      .arg(row.label.toHtmlEscaped(), tip.toHtmlEscaped(), sign,
           value_html(row, graph, section, index), blank);
}

QString frame_html(const SourceLine& frame, const QStringList& roots, bool with_source) {
  QString html = QStringLiteral("<p class=\"frame\">%1 <span class=\"muted\">%2</span></p>")
                     .arg(code(frame.file.toHtmlEscaped() + u':' + QString::number(frame.line)),
                          frame.function.toHtmlEscaped());
  const auto excerpt = with_source ? read_excerpt(frame.file, frame.line, roots) : std::nullopt;
  if (!excerpt) {
    if (!frame.code.isEmpty())
      html += QStringLiteral("<pre>%1</pre>").arg(frame.code.toHtmlEscaped());
    return html;
  }
  html += QStringLiteral("<pre>");
  for (qsizetype i = 0; i < excerpt->lines.size(); ++i) {
    const int number = excerpt->first + static_cast<int>(i);
    const QString line = QStringLiteral("%1  %2").arg(number, 5).arg(excerpt->lines[i]);
    html += number == frame.line
                ? QStringLiteral("<b>%1</b>\n").arg(line.toHtmlEscaped())
                : QStringLiteral("<span class=\"muted\">%1</span>\n").arg(line.toHtmlEscaped());
  }
  return html + QStringLiteral("</pre>");
}

QString style(const Theme& theme, int font_px) {
  return QStringLiteral(
             "<style>"
             "body, td, p { color: %1; font-size: %5px; }"
             "h2 { font-size: %6px; margin: 0 0 2px 0; }"
             "h3 { font-size: %7px; color: %2; font-weight: 600; margin: 12px 0 2px 0; }"
             ".muted, .label { color: %2; }"
             ".label { padding-right: 12px; white-space: pre; }"
             "td { padding-top: 2px; padding-bottom: 2px; }"
             ".code, pre { font-family: monospace; }"
             "pre { background: %3; margin: 2px 0 2px 0; white-space: pre-wrap; font-size: %7px; }"
             "p.frame { margin: 6px 0 0 0; }"
             "a { color: %4; text-decoration: none; }"
             "</style>")
      .arg(theme.text.name(), theme.muted_text.name(), theme.bed.name(), theme.accent.name())
      .arg(font_px)
      .arg(font_px + 2)
      .arg(std::max(11, font_px - 1));
}

}  // namespace

QString provenance_text(Provenance provenance) {
  switch (provenance) {
    case Provenance::captured:
      return tr("from the capture");
    case Provenance::computed:
      return tr("computed from the capture");
    case Provenance::derived:
      return tr("derived, since the capture does not record it");
    case Provenance::estimated:
      return tr("estimated");
    case Provenance::measured:
      return tr("measured");
    case Provenance::requested:
      return tr("set for this run");
    case Provenance::assumed:
      return tr("depends on values of symbols, which may be assumed");
  }
  return {};
}

QString inspector_html(const InspectorContent& content, const Graph& graph, const Theme& theme,
                       const QStringList& roots, int font_px) {
  QString html = style(theme, font_px);
  html += QStringLiteral("<h2>%1</h2>").arg(code(content.title.toHtmlEscaped()));
  if (!content.subtitle.isEmpty())
    html += QStringLiteral("<p class=\"muted\" style=\"margin: 0\">%1</p>")
                .arg(code(content.subtitle.toHtmlEscaped()));
  for (std::size_t s = 0; s < content.sections.size(); ++s) {
    const InspectorSection& section = content.sections[s];
    html +=
        QStringLiteral("<h3>%1</h3><table cellspacing=\"0\">").arg(section.title.toHtmlEscaped());
    for (std::size_t r = 0; r < section.rows.size(); ++r)
      html += row_html(section.rows[r], graph, static_cast<int>(s), static_cast<int>(r));
    html += QStringLiteral("</table>");
  }
  if (!content.stack.empty()) {
    html += QStringLiteral("<h3>%1</h3>").arg(tr("Source, innermost first"));
    for (std::size_t i = 0; i < content.stack.size(); ++i)
      html += frame_html(content.stack[i], roots, i < 3);
  }
  return html;
}

std::vector<NodeId> linked_nodes(const InspectorContent& content, const QUrl& link) {
  const QString target = link.path();
  if (link.scheme() == u"node") return {NodeId(target.toULongLong())};
  if (link.scheme() != u"nodes") return {};
  const QStringList parts = target.split(u'.');
  const auto section = parts.value(0).toUInt(), row = parts.value(1).toUInt();
  if (section >= content.sections.size() || row >= content.sections[section].rows.size()) return {};
  return content.sections[section].rows[row].all_links;
}

QString inspector_hint(const Theme& theme) {
  return QStringLiteral("<p style=\"color: %1\">%2</p>")
      .arg(theme.muted_text.name(),
           tr("Nothing selected. To see the details of a node here, click it in the timeline or in "
              "a table, or search with <b>/</b>.<br><br>To see totals, drag across the timeline, "
              "or select several rows."));
}

}  // namespace jointer::views
