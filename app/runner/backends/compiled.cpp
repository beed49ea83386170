#include "app/runner/backends/compiled.h"
namespace jointer::runner {
Result<std::vector<CompiledRegion>> compile_regions(const Graph&, const CompileOptions&,
                                                    Reporter&) {
  return fail(Error::Kind::run, "x");
}
}  // namespace jointer::runner
