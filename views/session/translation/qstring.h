#pragma once

#include <QString>
#include <string_view>

namespace jointer::views {

inline QString to_qstring(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace jointer::views
