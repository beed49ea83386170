#pragma once

#include <QString>
#include <concepts>

#include "core/base/units.h"
#include "views/session/translation/qstring.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

// The functions of core/base/units.h for QString, with kMinus for negative numbers. Times are in
// nanoseconds.

// The minus sign of numbers in the window. It is as wide as a plus sign, so columns of differences
// align. Exported tables and the command line use ASCII's hyphen-minus.
inline constexpr char16_t kMinus = u'\u2212';

// Replaces the sign of a negative number.
inline QString with_minus(QString number) {
  if (number.size() > 1 && number.front() == u'-') number[0] = kMinus;
  return number;
}

// Table columns store fractions in parts per million (Unit::fraction in views/tables/column.h).
inline constexpr double kPartsPerOne = 1e6;

inline QString bytes_text(std::int64_t bytes) {
  return with_minus(to_qstring(format_bytes(bytes)));
}

inline QString time_text(std::int64_t ns) {
  return with_minus(to_qstring(format_ns(ns)));
}

inline QString flops_text(std::int64_t flops) {
  return with_minus(to_qstring(format_flops(static_cast<double>(flops))));
}

QString count_text(std::integral auto count) {
  return with_minus(to_qstring(format_count(static_cast<std::int64_t>(count))));
}

// `one` if the count is 1; otherwise `several`, with the count in place of its `%1`.
QString counted_text(std::integral auto count, const QString& one, const QString& several) {
  return count == 1 ? one : several.arg(count_text(count));
}

inline QString nodes_text(std::size_t count) {
  return counted_text(count, tr("1 node"), tr("%1 nodes"));
}

inline QString exact_bytes_text(std::int64_t bytes) {
  return counted_text(bytes, tr("1 byte"), tr("%1 bytes"));
}

}  // namespace jointer::views
