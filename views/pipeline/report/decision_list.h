#pragma once

// The decisions of some steps, ready to be looked through.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "views/pipeline/report/reported_step.h"
#include "views/tables/named_rows.h"

namespace jointer::views {

struct DecisionList {
  struct Row {
    const Decision* decision = nullptr;  // of `steps`
    int step = 0;
  };
  std::vector<ReportedStep> steps;
  std::vector<Row> rows;           // in the order in which they were made
  std::vector<std::string> texts;  // by row: all that a filter looks at, in lower case
  std::vector<std::pair<std::string, std::size_t>> actions;  // how often each, the most first
  NamedRows names;
};

// On a working thread: texts are made once, so that a filter is a search in bytes.
DecisionList list_decisions(std::vector<ReportedStep> steps);

}  // namespace jointer::views
