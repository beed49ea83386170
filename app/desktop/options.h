#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/capture/open.h"
#include "core/schedule/analysis.h"
#include "views/theme/theme_choice.h"

namespace jointer::desktop {

// What the command line asks for.
struct Options {
  std::vector<OpenRequest> open;
  AnalysisOptions analysis;
  std::optional<views::ThemeChoice> theme;
  QString select;         // a node that is selected when its graph is on screen
  QString pane;           // a pane that comes to the front
  bool measured = false;  // the last benchmark is laid over the estimates
  QString picture;        // write the window into this file and end
  QSize size{1600, 1000};
  bool size_is_given = false;
  bool exit_after_first_frame = false;
};

// `--help` and `--version` print and end the program. Error (usage): what does not fit, in a line.
Result<Options> parse_options(const QStringList& arguments);

}  // namespace jointer::desktop
