#include "views/pipeline/pass_service.h"

namespace jointer::views {
namespace {

// A run that was given up may be at its last stretch while others begin.
constexpr int kThreads = 4;

}  // namespace

PassService::PassService(QObject* parent) : QObject(parent) {
  threads_.setMaxThreadCount(kThreads);
}

PassService::~PassService() {
  threads_.waitForDone();
}

}  // namespace jointer::views
