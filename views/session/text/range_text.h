#pragma once

#include <QString>

#include "core/base/number_range.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

// "334.12 ms to 334.15 ms" (core/base/number_range.h). The arguments are in nanoseconds.
inline QString time_range_text(std::int64_t begin, std::int64_t end) {
  const RangeText text = format_ns_range(begin, end);
  return tr("%1 to %2").arg(to_qstring(text.begin), to_qstring(text.end));
}

// A shorter form for narrow spaces: "334.12–334.15 ms".
inline QString short_time_range_text(std::int64_t begin, std::int64_t end) {
  const RangeText text = format_ns_range(begin, end);
  const std::string number = text.begin.substr(0, text.begin.rfind(' '));
  return to_qstring(number + "–" + text.end);
}

// "1.2 GiB in 12 storages".
inline QString storages_text(std::int64_t bytes, std::size_t count) {
  return count == 1 ? tr("%1 in 1 storage").arg(bytes_text(bytes))
                    : tr("%1 in %2 storages").arg(bytes_text(bytes), count_text(count));
}

// "12 nodes recomputed".
inline QString recomputed_text(std::size_t count) {
  return tr("%1 recomputed").arg(nodes_text(count));
}

}  // namespace jointer::views
