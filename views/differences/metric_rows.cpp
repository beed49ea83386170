#include "views/differences/metric_rows.h"

#include "views/session/edit/metrics.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

template <class Text, class Difference>
MetricRow row_of(const QString& name, std::int64_t from, std::int64_t to, Text text,
                 Difference difference) {
  return {.name = name,
          .from = text(from),
          .to = text(to),
          .difference = difference(from, to),
          .share = share_difference_text(from, to),
          .change = to - from};
}

QString with_capital(const QString& text) {
  QString result = text;
  if (!result.isEmpty()) result[0] = result[0].toUpper();
  return result;
}

}  // namespace

MetricRow bytes_row(const QString& name, std::int64_t from, std::int64_t to) {
  return row_of(name, from, to, bytes_text, bytes_difference_text);
}

MetricRow time_row(const QString& name, std::int64_t from, std::int64_t to) {
  return row_of(name, from, to, time_text, time_difference_text);
}

MetricRow count_row(const QString& name, std::int64_t from, std::int64_t to) {
  return row_of(
      name, from, to, [](std::int64_t count) { return count_text(count); }, count_difference_text);
}

MetricRow exposed_collectives_row(const CollectiveCounts& from, const CollectiveCounts& to) {
  return count_row(tr("Exposed collectives"), static_cast<std::int64_t>(from.all - from.hidden),
                   static_cast<std::int64_t>(to.all - to.hidden));
}

QString metric_table_html(std::span<const MetricRow> rows, const QString& from, const QString& to,
                          const Theme& theme, const QString& rest, int padding) {
  const QString muted = theme.muted_text.name();
  QString group = rows.empty() ? QString() : rows.front().group;
  // The title of the first group is in the row of column titles, to save height.
  QString html = QStringLiteral(
                     "<table cellspacing=\"0\" cellpadding=\"%5\" width=\"100%\"><tr>"
                     "<td style=\"color: %1\">%6</td>"
                     "<td align=\"right\" style=\"color: %1\">%2</td>"
                     "<td align=\"right\" style=\"color: %1\">%3</td>"
                     "<td align=\"right\" style=\"color: %1\" colspan=\"2\">%4</td></tr>")
                     .arg(muted, from.toHtmlEscaped(), to.toHtmlEscaped(), tr("difference"),
                          QString::number(padding), group.toHtmlEscaped());
  for (const MetricRow& row : rows) {
    if (row.group != group)
      html += QStringLiteral("<tr><td colspan=\"5\" style=\"color: %1\">%2</td></tr>")
                  .arg(muted, (row.group.isEmpty() ? rest : row.group).toHtmlEscaped());
    group = row.group;
    const QColor color = row.change == 0  ? theme.muted_text
                         : row.change < 0 ? theme.accent
                                          : theme.warning;
    html +=
        QStringLiteral(
            "<tr><td>%1</td><td align=\"right\">%2</td><td align=\"right\"><b>%3</b></td>"
            "<td align=\"right\" style=\"color: %6\">%4</td>"
            "<td align=\"right\" style=\"color: %6\">%5</td></tr>")
            .arg(with_capital(row.name), row.from, row.to, row.difference, row.share, color.name());
  }
  return html + QStringLiteral("</table>");
}

}  // namespace jointer::views
