#include "views/session/pipeline/pass_service.h"

#include "views/session/work/job.h"

namespace jointer::views {
namespace {

// More than one, since cancelled runs may still be finishing when others start.
constexpr int kThreads = 4;

}  // namespace

PassService::PassService(QObject* parent) : QObject(parent) {
  threads_.setMaxThreadCount(kThreads);
}

PassService::~PassService() {
  wait_on_close(threads_);
}

}  // namespace jointer::views
