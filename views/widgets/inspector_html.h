#pragma once

#include <QString>
#include <QStringList>
#include <QUrl>
#include <vector>

#include "views/theme/theme.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// The inspector's page as HTML. Links are `node:ID`, or `nodes:SECTION.ROW` for all nodes of a row.
// The tooltip of each value shows its provenance. `roots`: folders to search for source files.
QString inspector_html(const InspectorContent& content, const Graph& graph, const Theme& theme,
                       const QStringList& roots, int font_px);
// The nodes to which a link on the page leads; none if it leads elsewhere, or to a row that
// `content` does not have.
std::vector<NodeId> linked_nodes(const InspectorContent& content, const QUrl& link);

// The page that is shown while nothing is selected.
QString inspector_hint(const Theme& theme);

}  // namespace jointer::views
