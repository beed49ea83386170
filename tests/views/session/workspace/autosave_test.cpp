// Tests saving while other parts of the session write their files.

#include "views/session/workspace/autosave.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/fake_benchmarks.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

TEST(AutosaveTest, SavesWhileBenchmarkResultsAreWritten) {
  const QTemporaryDir folder;
  test::FakeBenchmarks service;
  Document document(OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::kSmallStep));
  Benchmarks benchmarks(document, service, BenchmarkHistory(folder.path().toStdString()));
  benchmarks.load();
  ASSERT_TRUE(QTest::qWaitFor([&] { return benchmarks.is_settled(); }));
  Autosave autosave(document, benchmarks, {});
  benchmarks.run();
  service.finish(service.measured(2));
  ASSERT_FALSE(benchmarks.is_settled()) << "the results are being written";
  const QSignalSpy saved(&autosave, &Autosave::saved), failed(&autosave, &Autosave::failed);
  autosave.save(folder.filePath(QStringLiteral("graph.jointer")), {});
  EXPECT_TRUE(QTest::qWaitFor([&] { return saved.count() + failed.count() > 0; }));
  EXPECT_EQ(saved.count(), 1);
}

// A save ends when this thread processes events.
TEST(AutosaveTest, SavesRequestedDuringASaveFollow) {
  const QTemporaryDir folder;
  test::FakeBenchmarks service;
  Document document(OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::kSmallStep));
  Benchmarks benchmarks(document, service, BenchmarkHistory(folder.path().toStdString()));
  Autosave autosave(document, benchmarks, {});
  const auto path = [&](const char* name) { return folder.filePath(QString::fromLatin1(name)); };
  const QSignalSpy saved(&autosave, &Autosave::saved), failed(&autosave, &Autosave::failed);
  autosave.save(path("a.jointer"), {});
  autosave.save(path("b.jointer"), {});
  autosave.save(path("none/c.jointer"), {});
  autosave.save(path("d.jointer"), {});
  autosave.save(path("b.jointer"), "layout");
  EXPECT_EQ(autosave.path(), QString());
  EXPECT_EQ(autosave.next_path(), path("b.jointer"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !autosave.is_saving(); }));
  QStringList files;
  for (const QList<QVariant>& arguments : saved) files << arguments.front().toString();
  EXPECT_EQ(files, (QStringList{path("a.jointer"), path("d.jointer"), path("b.jointer")}));
  EXPECT_EQ(failed.count(), 1) << "the folder of c does not exist";
  EXPECT_EQ(autosave.path(), path("b.jointer"));
  EXPECT_EQ(autosave.next_path(), path("b.jointer"));
  EXPECT_TRUE(QFile::exists(path("a.jointer")));
  const auto last = read_workspace(path("b.jointer").toStdString());
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(QByteArray::fromBase64(QByteArray::fromStdString(last->layout)), "layout");
}

// Another window may have taken over the journal.
TEST(AutosaveTest, SaysWhyAJournalIsNotRestored) {
  const QTemporaryDir folder;
  test::FakeBenchmarks service;
  Document document(OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::kSmallStep));
  Benchmarks benchmarks(document, service, BenchmarkHistory(folder.path().toStdString()));
  Autosave autosave(document, benchmarks, {});
  const QSignalSpy restored(&autosave, &Autosave::restored);
  const QSignalSpy failed(&autosave, &Autosave::restore_failed);
  autosave.restore({.journal = folder.filePath(QStringLiteral("no"))});
  EXPECT_EQ(restored.count(), 0);
  EXPECT_EQ(failed.count(), 1);
}

}  // namespace
}  // namespace jointer::views
