#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/open/open.h"
#include "core/schedule/analysis.h"
#include "views/theme/theme_choice.h"

namespace jointer::desktop {

// The parsed command line.
struct Options {
  std::vector<OpenRequest> open;
  AnalysisOptions analysis;
  std::optional<views::ThemeChoice> theme;
  QString select;         // node to select once its graph is shown
  QString pane;           // pane to bring to the front
  bool measured = false;  // show the latest benchmark with the estimates
  QString picture;        // save the window as this picture and exit
  QSize size{1600, 1000};
  bool size_is_given = false;
  bool exit_after_first_frame = false;
};

// `--help` and `--version` print their text and exit the process. Error (usage): an argument is
// invalid.
Result<Options> parse_options(const QStringList& arguments);

}  // namespace jointer::desktop
