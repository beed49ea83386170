#include "views/session/pipeline/pass_service.h"

namespace jointer::views {
namespace {

// Cancelled runs may still be finishing when others start.
constexpr int kThreads = 4;

}  // namespace

PassService::PassService(QObject* parent) : QObject(parent) {
  threads_.setMaxThreadCount(kThreads);
}

PassService::~PassService() {
  threads_.waitForDone();
}

}  // namespace jointer::views
