#pragma once

#include <QStringList>
#include <vector>

#include "core/open/open.h"

namespace jointer::views {

// The graphs to open when the user drops files or folders on the window, or chooses several files.
// Two files in one folder whose names differ only in the last word for forward or backward
// (`m.fw.json`, `m.bw.json`) form a pair; all others are opened separately.
std::vector<OpenRequest> requests_for(const QStringList& paths);

// The file filter for dialogs that open graphs, with the patterns of all readers.
QString graph_file_filter();

}  // namespace jointer::views
