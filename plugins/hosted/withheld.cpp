#include "plugins/hosted/withheld.h"

namespace jointer {

Pass withheld(const Pass& pass, std::string why) {
  return {.info = pass.info,
          .run = [why = std::move(why)](Graph&, const Arguments&, PassContext&) -> Result<void> {
            return fail(Error::Kind::usage, "{}", why);
          }};
}

}  // namespace jointer
