#pragma once

#include <QString>

#include "core/partition/save_plan.h"

namespace jointer::views {

QString keep_word(Keep keep);  // "save"

}  // namespace jointer::views
