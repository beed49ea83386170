#pragma once

#include <QString>

#include "core/partition/save_plan.h"

namespace jointer::views {

QString action_word(PlanAction action);  // "save"

}  // namespace jointer::views
