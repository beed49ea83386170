#pragma once

#include <QStringList>
#include <vector>

#include "core/capture/open.h"

namespace jointer::views {

// What to open when these files or folders are dropped on the window or chosen together. Two files
// whose names differ only in saying forward and backward (`m.fw.json`, `m.bw.json`) are one pair;
// all others are opened one by one.
std::vector<OpenRequest> requests_for(const QStringList& paths);

}  // namespace jointer::views
