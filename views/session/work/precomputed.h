#pragma once

#include <QThreadPool>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "views/session/work/job.h"

namespace jointer::views {

// A value that is computed in advance on a worker thread.
template <class T>
class Precomputed {
 public:
  // `function` returns T or Result<T>.
  template <class Function>
  explicit Precomputed(Function function) : shared_(std::make_shared<Shared>()) {
    shared_->compute = [function = std::move(function)]() mutable {
      return work::result_of<T>(function);
    };
    work::start(work::pool(), [shared = shared_] { shared->find(); });
  }

  // Blocks this thread while another thread computes the value. If none has begun, computes it on
  // this thread, so that the call never waits for unrelated work.
  [[nodiscard]] const Result<T>& block_until_known() const { return shared_->find(); }

 private:
  struct Shared {
    std::once_flag once;
    std::function<Result<T>()> compute;
    std::optional<Result<T>> result;

    const Result<T>& find() {
      std::call_once(once, [this] { result = std::exchange(compute, nullptr)(); });
      return *result;
    }
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace jointer::views
