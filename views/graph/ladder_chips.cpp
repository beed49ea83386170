#include "views/graph/ladder_chips.h"

#include "views/graph/ladder_colors.h"
#include "views/session/text/number_text.h"

namespace jointer::views {

QString chip_text(const CollectiveMark& mark) {
  const QString letters = collective_letters(mark.kind);
  return mark.count > 1 ? letters + u' ' + count_text(mark.count) : letters;
}

QString chip_count(std::size_t left_out) {
  return QStringLiteral("+%1").arg(left_out);
}

std::size_t fitting_chips(std::span<const double> widths, double room, double count_width) {
  double used = 0;
  for (std::size_t count = 0; count < widths.size(); ++count) {
    used += widths[widths.size() - 1 - count];
    const bool is_last = count + 1 == widths.size();
    if (used + (is_last ? 0 : count_width) > room) return count;
  }
  return widths.size();
}

}  // namespace jointer::views
