#pragma once

#include <gtest/gtest.h>

#include "views/tables/table_model.h"

namespace jointer::test {

// The row whose first column shows `name`. The test fails if there is none.
inline int row_of(const views::TableModel& model, const QString& name) {
  for (int row = 0; row < model.row_count(); ++row)
    if (model.text(row, 0) == name) return row;
  ADD_FAILURE() << name.toStdString();
  return 0;
}

}  // namespace jointer::test
