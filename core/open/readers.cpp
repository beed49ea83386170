#include "core/open/readers.h"

#include <array>

// The table of readers, one per line, in the order in which they are tried. Workspaces are JSON
// too, so their reader precedes that of native captures; logs contain FX text, so theirs precedes
// that of FX text.
#define JOINTER_READERS(READER) \
  READER(kWorkspaceReader)      \
  READER(kNativeReader)         \
  READER(kTorchTraceReader)     \
  READER(kFxTextReader)

namespace jointer {

#define JOINTER_DECLARE(reader) extern const GraphReader reader;
JOINTER_READERS(JOINTER_DECLARE)
#undef JOINTER_DECLARE

namespace {

#define JOINTER_ADDRESS(reader) &reader,
constexpr std::array kReaders{JOINTER_READERS(JOINTER_ADDRESS)};
#undef JOINTER_ADDRESS

}  // namespace

std::span<const GraphReader* const> graph_readers() {
  return kReaders;
}

}  // namespace jointer
