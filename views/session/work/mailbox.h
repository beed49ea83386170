#pragma once

#include <QObject>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace jointer::views {

// Worker threads post calls, which run on the thread that created the mailbox. Uses its own lock to
// order the threads, since ThreadSanitizer does not see Qt's locks.
class Mailbox : public QObject {
 public:
  Mailbox();
  // Drops pending calls.
  ~Mailbox() override;

 private:
  struct Shared {
    std::mutex mutex;
    Mailbox* mailbox = nullptr;  // null once the mailbox is gone
    std::deque<std::function<void()>> calls;
  };

 public:
  // Copies can be used on any thread, and after the mailbox is gone.
  class Address {
   public:
    // Runs `call` on the mailbox's thread, after earlier calls. Drops it if the mailbox is gone.
    void post(std::function<void()> call) const;

   private:
    friend class Mailbox;
    explicit Address(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
    std::shared_ptr<Shared> shared_;
  };
  [[nodiscard]] Address address() const { return Address(shared_); }

 protected:
  bool event(QEvent* event) override;

 private:
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace jointer::views
