#include "views/session/session.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include "tests/support/fake_benchmarks.h"
#include "tests/support/fake_passes.h"
#include "tests/support/snapshots.h"
#include "views/session/benchmark/benchmarks.h"
#include "views/session/document/document.h"
#include "views/session/document/open_documents.h"
#include "views/session/edit/editing.h"
#include "views/session/pipeline/pipeline_session.h"
#include "views/session/tune/tune_session.h"
#include "views/session/workspace/autosave.h"

namespace jointer::views {
namespace {

class ASession : public testing::Test {
 protected:
  QTemporaryDir folder;
  test::FakeBenchmarks benchmarks;
  test::FakePasses passes;
  OpenDocuments documents;
  std::unique_ptr<Session> session = std::make_unique<Session>(
      OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::kSmallStep),
      SessionServices{.benchmarks = benchmarks,
                      .history = BenchmarkHistory(folder.path().toStdString()),
                      .passes = passes,
                      .documents = documents});
};

TEST_F(ASession, HandsOutPartsOfItsDocument) {
  EXPECT_EQ(&session->benchmarks().document(), &session->document());
  EXPECT_EQ(&session->pipeline().document(), &session->document());
  EXPECT_EQ(&session->tune().document(), &session->document());
  EXPECT_EQ(&session->autosave().document(), &session->document());
}

TEST_F(ASession, ListsItsDocumentWhileItIsOpen) {
  EXPECT_EQ(documents.all(), std::vector{&session->document()});
  int changes = 0;
  QObject::connect(&documents, &OpenDocuments::changed, session.get(), [&] {
    ++changes;
    EXPECT_TRUE(documents.all().empty());
  });
  session.reset();
  EXPECT_EQ(changes, 1);
}

TEST_F(ASession, ClosesWhileItsPartsAreValid) {
  int closings = 0;
  QObject::connect(session.get(), &Session::closing, session.get(), [&, closed = session.get()] {
    ++closings;
    EXPECT_TRUE(closed->document().editing().is_settled());
    EXPECT_FALSE(closed->benchmarks().is_running());
  });
  session.reset();
  EXPECT_EQ(closings, 1);
}

}  // namespace
}  // namespace jointer::views
