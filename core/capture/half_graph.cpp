#include "core/capture/half_graph.h"

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"

namespace jointer {

Result<Graph> half_graph(const Graph& pair, PartId half) {
  const PaddedBytes capture(write_native(pair, half));
  return read_native(half == kForwardPart ? "forward half" : "backward half", capture);
}

}  // namespace jointer
