#pragma once

// The decisions of one or more steps, prepared for searching.

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
    const Decision* decision = nullptr;  // owned by `steps`
    int step = 0;
  };
  std::vector<ReportedStep> steps;
  std::vector<Row> rows;           // in the order in which the decisions were made
  std::vector<std::string> texts;  // by row: searchable text in lower case
  std::vector<std::pair<std::string, std::size_t>> actions;  // with counts, most frequent first
  NamedRows names;
};

// Prepares the searchable text once, so that filtering is a plain substring search. Call it on a
// worker thread.
DecisionList list_decisions(std::vector<ReportedStep> steps);

}  // namespace jointer::views
