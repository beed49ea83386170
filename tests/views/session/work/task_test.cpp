// Tests jobs on working threads: their results, exceptions, cancellation, and what is dropped.

#include "views/session/work/task.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QTest>
#include <QThread>
#include <memory>
#include <new>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/held_pool.h"
#include "views/session/work/precomputed.h"

namespace jointer::views {
namespace {

void deliver() {
  QCoreApplication::processEvents();
}

// Waits until a task has ended.
template <class AnyTask>
void finish(const AnyTask& task) {
  EXPECT_TRUE(QTest::qWaitFor([&] { return !task.is_running(); }));
}

TEST(TaskTest, DeliversOnTheThreadThatStartedIt) {
  Task<QThread*> task;
  QThread *worked_on = nullptr, *delivered_on = nullptr;
  task.start([] { return QThread::currentThread(); },
             [&](const Result<QThread*>& result) {
               worked_on = result.value();
               delivered_on = QThread::currentThread();
               EXPECT_FALSE(task.is_running());
             });
  EXPECT_TRUE(task.is_running());
  finish(task);
  EXPECT_EQ(delivered_on, QThread::currentThread());
  EXPECT_NE(worked_on, delivered_on);
}

TEST(TaskTest, LongJobsLeaveThreadsForOthers) {
  const int cores = QThread::idealThreadCount();
  const auto go_on = std::make_shared<std::counting_semaphore<>>(0);
  std::vector<std::unique_ptr<Task<bool>>> searches;
  for (int i = 0; i < cores; ++i) {
    searches.push_back(std::make_unique<Task<bool>>());
    searches.back()->start([go_on] { return go_on->acquire(), true; }, [](const Result<bool>&) {});
  }
  Task<int> task;
  int delivered = 0;
  task.start([] { return 1; }, [&](const Result<int>& result) { delivered = result.value(); });
  finish(task);
  EXPECT_EQ(delivered, 1);
  go_on->release(cores);
  for (const auto& search : searches) finish(*search);
}

TEST(TaskTest, ErrorsAndExceptionsAreResults) {
  Task<int> task;
  std::vector<std::string> messages;
  const auto note = [&](const Result<int>& result) { messages.push_back(result.error().message); };
  task.start([]() -> Result<int> { return fail(Error::Kind::usage, "no such node"); }, note);
  finish(task);
  task.start([]() -> int { throw std::runtime_error("a bug"); }, note);
  finish(task);
  task.start([]() -> int { throw std::bad_alloc(); }, note);
  finish(task);
  task.start([]() -> int { throw 1; }, note);
  finish(task);
  EXPECT_EQ(messages,
            (std::vector<std::string>{"no such node", "unexpected error: a bug",
                                      "not enough memory; close other graphs and try again",
                                      "unexpected error"}));
}

TEST(TaskTest, NewerJobReplacesAnOlderOne) {
  test::HeldPool pool;
  Task<int> task;
  std::vector<int> ran, delivered;
  const auto start = [&](int number) {
    task.start([&ran, number] { return ran.push_back(number), number; },
               [&](const Result<int>& result) { delivered.push_back(result.value()); });
  };
  start(1);
  pool.run_started();  // has a result, which is not delivered yet
  start(2);
  start(3);
  pool.run_started();
  deliver();
  EXPECT_EQ(ran, (std::vector{1, 3}));
  EXPECT_EQ(delivered, std::vector{3});
}

TEST(TaskTest, CancelledJobIsNotifiedAndNotDelivered) {
  Task<bool> task;
  std::binary_semaphore started(0), saw_it(0);
  task.start(
      [&](const Cancellation& job) {
        started.release();
        while (!job.is_cancelled()) QThread::yieldCurrentThread();
        saw_it.release();
        return true;
      },
      [](const Result<bool>&) { ADD_FAILURE() << "it was cancelled"; });
  started.acquire();
  task.cancel();
  EXPECT_FALSE(task.is_running());
  saw_it.acquire();
  wait_on_close(work::pool());
  deliver();
}

TEST(TaskTest, JobThatEndsEarlyIsDelivered) {
  Task<int> task;
  Result<int> delivered = 0;
  std::binary_semaphore started(0);
  task.start(
      [&](const Cancellation& job) {
        int rounds = 1;
        started.release();
        for (; !job.is_cancelled(); ++rounds) QThread::yieldCurrentThread();
        return rounds;
      },
      [&](const Result<int>& result) { delivered = result; });
  started.acquire();
  task.end_early();
  EXPECT_TRUE(task.is_running());
  finish(task);
  EXPECT_GT(delivered.value(), 0);

  test::HeldPool pool;
  task.start([](const Cancellation&) { return 1; },
             [&](const Result<int>& result) { delivered = result; });
  task.end_early();
  pool.run_started();
  deliver();
  EXPECT_EQ(delivered.error().kind, Error::Kind::cancelled) << "it had not begun";
}

TEST(TaskTest, DestroyedTaskDropsItsResult) {
  test::HeldPool pool;
  const auto not_delivered = [](const Result<int>&) { ADD_FAILURE() << "the task is gone"; };
  auto task = std::make_unique<Task<int>>();
  task->start([] { return 1; }, not_delivered);
  pool.run_started();
  task.reset();
  task = std::make_unique<Task<int>>();
  task->start([] { return 2; }, not_delivered);
  task.reset();
  pool.run_started();
  deliver();
}

TEST(TaskTest, ResultMayStartAnotherJobOrDestroyTheTask) {
  auto task = std::make_unique<Task<int>>();
  int sum = 0;
  task->start([] { return 1; },
              [&](const Result<int>& first) {
                sum += first.value();
                task->start([] { return 2; },
                            [&](const Result<int>& second) {
                              sum += second.value();
                              task.reset();
                            });
              });
  EXPECT_TRUE(QTest::qWaitFor([&] { return task == nullptr; }));
  EXPECT_EQ(sum, 3);
}

TEST(TaskTest, ReportsArriveInOrderBeforeTheResult) {
  Task<int, std::string> task;
  std::vector<std::string> received;
  const auto work = [](const Reporter<std::string>& job) {
    for (const char* each : {"one", "two", "three"}) job.report(each);
    return 4;
  };
  task.start(
      work, [&](const Result<int>& result) { received.push_back(std::to_string(result.value())); },
      [&](const std::string& report) { received.push_back(report); });
  finish(task);
  EXPECT_EQ(received, (std::vector<std::string>{"one", "two", "three", "4"}));

  received.clear();
  test::HeldPool pool;
  task.start(
      work, [](const Result<int>&) { ADD_FAILURE() << "it was cancelled"; },
      [&](const std::string& report) {
        received.push_back(report);
        task.cancel();
      });
  pool.run_started();
  deliver();
  EXPECT_EQ(received, std::vector<std::string>{"one"});
}

TEST(TaskTest, TaskWithoutAValue) {
  Task<void> task;
  bool has_run = false;
  task.start([] {}, [&](const Result<void>& result) { has_run = result.has_value(); });
  finish(task);
  EXPECT_TRUE(has_run);
}

TEST(RunInBackgroundTest, AllJobsRunAndAreDelivered) {
  QObject receiver;
  int sum = 0, errors = 0;
  for (int i = 1; i <= 20; ++i)
    run_in_background(
        &receiver,
        [i] {
          if (i == 7) throw std::runtime_error("a bug");
          return i;
        },
        [&](const Result<int>& result) { result ? sum += *result : ++errors; });
  EXPECT_TRUE(QTest::qWaitFor([&] { return errors == 1 && sum == 210 - 7; }));
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  EXPECT_TRUE(receiver.children().isEmpty());
}

TEST(RunInBackgroundTest, RunsWithoutItsReceiver) {
  test::HeldPool pool;
  auto receiver = std::make_unique<QObject>();
  bool has_run = false;
  run_in_background(
      receiver.get(), [&] { has_run = true; },
      [](const Result<void>&) { ADD_FAILURE() << "the receiver is gone"; });
  receiver.reset();
  pool.run_started();
  deliver();
  EXPECT_TRUE(has_run);
}

TEST(MailboxTest, CallsKeepTheirPositionAmongOtherEvents) {
  Mailbox mailbox;
  std::string order;
  mailbox.address().post([&] { order += 'a'; });
  QMetaObject::invokeMethod(
      &mailbox, [&] { order += 'b'; }, Qt::QueuedConnection);
  mailbox.address().post([&] { order += 'c'; });
  deliver();
  EXPECT_EQ(order, "abc");
}

TEST(PrecomputedTest, IsComputedOnceAndNeverWaitsForOtherWork) {
  test::HeldPool pool;
  int computed = 0;
  const Precomputed<int> value([&] { return ++computed; });
  EXPECT_EQ(value.block_until_known().value(), 1) << "computed here, as the pool is held";
  pool.run_started();
  EXPECT_EQ(value.block_until_known().value(), 1);

  const Precomputed<int> failed([]() -> int { throw std::runtime_error("a bug"); });
  pool.run_started();
  EXPECT_EQ(failed.block_until_known().error().message, "unexpected error: a bug");
}

}  // namespace
}  // namespace jointer::views
