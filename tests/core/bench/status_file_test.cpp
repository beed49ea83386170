#include "core/bench/status_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/process/child.h"
#include "core/process/temporary_folder.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

TEST(StatusFile, TheReaderSeesWhatTheWriterWrites) {
  const auto folder = must(jointer::TemporaryFolder::make("jointer-test-"));
  const auto reader = must(StatusReader::make(folder.path("status")));
  EXPECT_EQ(reader.read(), (RankStatus{-1, -1, 0}));
  EXPECT_EQ(reader.read().stage_name(), "");

  auto writer = must(StatusWriter::open(folder.path("status")));
  writer.set_stage("measure");
  writer.set_position(54'680);
  EXPECT_EQ(reader.read(), (RankStatus{6, 54'680, 2}));
  EXPECT_EQ(reader.read().stage_name(), "measure");
  writer.beat();
  EXPECT_EQ(reader.read().count, 3);
  writer.set_stage("verify");
  EXPECT_EQ(reader.read(), (RankStatus{4, -1, 4}));
  writer.set_stage("another");
  EXPECT_EQ(reader.read().stage, -1);
}

// A rank in another language writes the same bytes.
TEST(StatusFile, PositionsOfAnotherGraphAreNotPublished) {
  const auto folder = must(jointer::TemporaryFolder::make("jointer-test-"));
  const auto reader = StatusReader::make(folder.path("status"));
  auto writer = StatusWriter::open(folder.path("status"));
  ASSERT_TRUE(reader && writer);
  writer->set_position(7);
  writer->publish_positions(false);
  EXPECT_EQ(reader->read().position, -1);
  writer->set_position(8);
  EXPECT_EQ(reader->read().position, -1);
  EXPECT_EQ(reader->read().count, 2);  // still a sign of life
  EXPECT_EQ(writer->position(), 8);
  writer->publish_positions(true);
  writer->set_position(9);
  EXPECT_EQ(reader->read().position, 9);
}

TEST(StatusFile, IsFourIntegers) {
  const auto folder = must(jointer::TemporaryFolder::make("jointer-test-"));
  const std::string path = folder.path("status");
  const auto reader = must(StatusReader::make(path));
  const std::int64_t words[] = {kStatusMagic, 4, 17, 99};
  std::ofstream(path, std::ios::binary | std::ios::in)
      .write(reinterpret_cast<const char*>(words), sizeof words);
  EXPECT_EQ(reader.read(), (RankStatus{4, 17, 99}));
  EXPECT_EQ(std::filesystem::file_size(path), 32U);
}

TEST(StatusFile, RefusesOtherFiles) {
  const auto folder = must(jointer::TemporaryFolder::make("jointer-test-"));
  std::ofstream(folder.path("short")) << "short";
  std::ofstream(folder.path("zeros")) << std::string(32, '\0');
  for (const char* name : {"short", "zeros", "absent"}) {
    const auto writer = StatusWriter::open(folder.path(name));
    ASSERT_FALSE(writer) << name;
    EXPECT_EQ(writer.error().kind, Error::Kind::run);
  }
  ASSERT_TRUE(StatusReader::make(folder.path("twice")));
  EXPECT_FALSE(StatusReader::make(folder.path("twice")));
}

TEST(StatusFile, AnEmptyWriterDoesNothing) {
  ::unsetenv(kStatusFileVariable);
  StatusWriter writer = StatusWriter::from_environment();
  writer.set_stage("measure");
  writer.set_position(3);
  writer.beat();
  ::setenv(kStatusFileVariable, "/no/such/file", 1);
  StatusWriter::from_environment().set_position(3);
  ::unsetenv(kStatusFileVariable);
}

}  // namespace
}  // namespace jointer::test
