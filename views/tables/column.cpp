#include "views/tables/column.h"

#include <cmath>

#include "core/base/units.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

double fraction(const Column& column, std::int64_t part) {
  return column.whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(column.whole);
}

QString exact_in(Unit unit, std::int64_t number) {
  switch (unit) {
    case Unit::bytes:
      return exact_bytes_text(number);
    case Unit::time:
      return with_minus(tr("%1 ms").arg(to_ms(number), 0, 'f', 6));
    case Unit::flops:
      return tr("%1 FLOP").arg(count_text(number));
    case Unit::thousandths:
      return with_minus(QString::number(static_cast<double>(number) / 1000, 'f', 3));
    case Unit::fraction:
    case Unit::change:
      return with_minus(tr("%1%").arg(static_cast<double>(number) / kPartsPerOne * 100, 0, 'f', 4));
    default:
      return count_text(number);
  }
}

// "+1.2%", "−0.031%", "0%": small differences get more decimals.
QString change_text(double fraction) {
  if (fraction == 0) return QStringLiteral("0%");
  return (fraction < 0 ? QChar(kMinus) : QChar(u'+')) +
         to_qstring(format_significant(std::abs(fraction) * 100)) + QStringLiteral("%");
}

// Skips leading zeros at `at`, so that 007 equals 7.
qsizetype skip_zeros(const QString& text, qsizetype at) {
  while (at < text.size() && text[at] == u'0') ++at;
  return at;
}

qsizetype end_of_digits(const QString& text, qsizetype at) {
  while (at < text.size() && text[at].isDigit()) ++at;
  return at;
}

}  // namespace

QString number_text(const Column& column, std::optional<std::int64_t> number) {
  if (!number) return {};
  switch (column.unit) {
    case Unit::text:
      return {};
    case Unit::count:
    case Unit::step:
      return count_text(*number);
    case Unit::bytes:
      return bytes_text(*number);
    case Unit::time:
      return time_text(*number);
    case Unit::flops:
      return *number == 0 ? QStringLiteral("0") : flops_text(*number);
    case Unit::share:
      return with_minus(to_qstring(format_percent(fraction(column, *number))));
    case Unit::thousandths:
      return with_minus(to_qstring(format_significant(static_cast<double>(*number) / 1000)));
    case Unit::fraction:
      return with_minus(to_qstring(format_percent(static_cast<double>(*number) / kPartsPerOne)));
    case Unit::change:
      return change_text(static_cast<double>(*number) / kPartsPerOne);
  }
  return {};
}

QString exact_text(const Column& column, std::int64_t number) {
  if (column.unit != Unit::share) return exact_in(column.unit, number);
  return tr("%1 of %2")
      .arg(exact_in(column.whole_unit, number), exact_in(column.whole_unit, column.whole));
}

QString raw_text(const Column& column, std::optional<std::int64_t> number) {
  if (!number) return {};
  switch (column.unit) {
    case Unit::time:
      return QString::number(to_ms(*number), 'f', 6);
    case Unit::share:
      return QString::number(fraction(column, *number), 'f', 6);
    case Unit::thousandths:
      return QString::number(static_cast<double>(*number) / 1000, 'f', 3);
    case Unit::fraction:
    case Unit::change:
      return QString::number(static_cast<double>(*number) / kPartsPerOne, 'f', 6);
    default:
      return QString::number(*number);
  }
}

QString raw_title(const Column& column) {
  switch (column.unit) {
    case Unit::bytes:
      return column.title.contains(tr("bytes")) ? column.title : tr("%1 bytes").arg(column.title);
    case Unit::time:
      return tr("%1 ms").arg(column.title);
    default:
      return column.title;
  }
}

bool natural_less(const QString& a, const QString& b) {
  qsizetype i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].isDigit() && b[j].isDigit()) {
      i = skip_zeros(a, i);
      j = skip_zeros(b, j);
      const qsizetype end_i = end_of_digits(a, i), end_j = end_of_digits(b, j);
      // Without leading zeros, the number with more digits is larger.
      if (end_i - i != end_j - j) return end_i - i < end_j - j;
      for (; i < end_i; ++i, ++j)
        if (a[i] != b[j]) return a[i] < b[j];
      continue;
    }
    const QChar x = a[i].toCaseFolded(), y = b[j].toCaseFolded();
    if (x != y) return x < y;
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

}  // namespace jointer::views
