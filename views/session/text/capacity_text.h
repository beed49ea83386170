#pragma once

#include <QString>

#include "core/schedule/device_capacity.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

// "over by 157 GiB"; empty if the peak fits the device, or the device's memory is unknown.
inline QString over_capacity_text(std::int64_t peak_bytes, const DeviceDescription& device) {
  const std::int64_t over = bytes_over_capacity(peak_bytes, device);
  return over > 0 ? tr("over by %1").arg(bytes_text(over)) : QString();
}

}  // namespace jointer::views
