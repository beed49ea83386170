#pragma once

#include <QCoreApplication>
#include <QString>

#include "core/base/number_range.h"

namespace jointer::views {

// "334.12 ms to 334.15 ms", in nanoseconds: see core/base/number_range.h.
inline QString time_range_text(std::int64_t begin, std::int64_t end) {
  const RangeText text = format_ns_range(begin, end);
  return QCoreApplication::translate("Range", "%1 to %2")
      .arg(QString::fromStdString(text.begin), QString::fromStdString(text.end));
}

}  // namespace jointer::views
