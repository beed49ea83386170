#include "plugins/cpp/plugin.h"

namespace nowhere {
std::vector<jointer::Pass> passes();
}  // namespace nowhere

JOINTER_PLUGIN(nowhere::passes)
