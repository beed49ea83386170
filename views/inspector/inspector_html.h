#pragma once

#include <QString>
#include <QStringList>

#include "views/inspector/inspector_content.h"
#include "views/theme/theme.h"

namespace jointer::views {

// The inspector's text as a page: links are `node:ID`, `nodes:SECTION.ROW` for all of a row's, and
// every value has its provenance as a tooltip. `roots`: where source files are looked for.
QString inspector_html(const InspectorContent& content, const Graph& graph, const Theme& theme,
                       const QStringList& roots, int font_px);

// What is shown while nothing is selected.
QString inspector_hint(const Theme& theme);

}  // namespace jointer::views
