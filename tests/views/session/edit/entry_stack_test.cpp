#include "views/session/edit/edit_history.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

EditEntry titled(const char* title) {
  EditEntry entry;
  entry.title = QString::fromLatin1(title);
  return entry;
}

TEST(EntryStack, IsEmptyAtFirst) {
  const EntryStack entries;
  EXPECT_EQ(entries.count(), 0);
  EXPECT_EQ(entries.place(), 0);
  EXPECT_EQ(entries.undoable(), nullptr);
  EXPECT_EQ(entries.redoable(), nullptr);
}

TEST(EntryStack, NamesTheEntriesOnBothSidesOfThePosition) {
  EntryStack entries;
  entries.push(titled("a"));
  entries.push(titled("b"));
  EXPECT_EQ(entries.undoable()->title, "b");
  EXPECT_EQ(entries.redoable(), nullptr);
  entries.go_to(1);
  EXPECT_EQ(entries.undoable()->title, "a");
  EXPECT_EQ(entries.redoable()->title, "b");
  entries.go_to(0);
  EXPECT_EQ(entries.undoable(), nullptr);
  EXPECT_EQ(entries.redoable()->title, "a");
}

TEST(EntryStack, RemovesUndoneEntriesWhenOneIsAdded) {
  EntryStack entries;
  for (const char* title : {"a", "b", "c"}) entries.push(titled(title));
  entries.go_to(1);
  entries.push(titled("d"));
  EXPECT_EQ(entries.count(), 2);
  EXPECT_EQ(entries.place(), 2);
  EXPECT_EQ(entries.entry(0).title, "a");
  EXPECT_EQ(entries.entry(1).title, "d");
}

TEST(EntryStack, LimitsPositionsToItsEntries) {
  std::vector<EditEntry> two;
  two.push_back(titled("a"));
  two.push_back(titled("b"));
  EntryStack entries(std::move(two), 7);
  EXPECT_EQ(entries.place(), 2);
  entries.go_to(-1);
  EXPECT_EQ(entries.place(), 0);
}

}  // namespace
}  // namespace jointer::views
