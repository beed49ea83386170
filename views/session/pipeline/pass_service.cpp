#include "views/session/pipeline/pass_service.h"

#include "views/session/work/job.h"

namespace jointer::views {
namespace {

// More than one, since a cancelled run may still be ending when the next one starts.
constexpr int kThreads = 4;

}  // namespace

PassService::PassService(QObject* parent) : QObject(parent) {
  threads_.setMaxThreadCount(kThreads);
}

PassService::~PassService() {
  wait_on_close(threads_);
}

}  // namespace jointer::views
