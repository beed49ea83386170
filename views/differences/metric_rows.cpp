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

QString metric_table_html(std::span<const MetricRow> rows, const QString& from, const QString& to,
                          const Theme& theme) {
  QString html =
      QStringLiteral(
          "<table cellspacing=\"0\" cellpadding=\"3\" width=\"100%\"><tr><td></td>"
          "<td align=\"right\" style=\"color: %1\">%2</td>"
          "<td align=\"right\" style=\"color: %1\">%3</td>"
          "<td align=\"right\" style=\"color: %1\" colspan=\"2\">%4</td></tr>")
          .arg(theme.muted_text.name(), from.toHtmlEscaped(), to.toHtmlEscaped(), tr("difference"));
  for (const MetricRow& row : rows) {
    const QColor color = row.change == 0  ? theme.muted_text
                         : row.change < 0 ? theme.accent
                                          : theme.warning;
    html += QStringLiteral(
                "<tr><td>%1</td><td align=\"right\">%2</td><td align=\"right\"><b>%3</b></td>"
                "<td align=\"right\" style=\"color: %6\">%4</td>"
                "<td align=\"right\" style=\"color: %6\">%5</td></tr>")
                .arg(row.name, row.from, row.to, row.difference, row.share, color.name());
  }
  return html + QStringLiteral("</table>");
}

}  // namespace jointer::views
