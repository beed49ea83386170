// Handwritten pickles and memory snapshots; tests/differential/test_memory_snapshot.py reads those
// that Python writes.

#include "core/capture/memory_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "core/capture/pickle.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Writes pickles of protocol 4, without a memo.
struct Writer {
  std::string bytes{"\x80\x04", 2};

  Writer& raw(std::string_view opcodes) {
    bytes += opcodes;
    return *this;
  }
  Writer& text(std::string_view value) {
    bytes += '\x8c';
    bytes += static_cast<char>(value.size());
    bytes += value;
    return *this;
  }
  Writer& integer(std::int64_t value) {
    bytes += "\x8a\x08";
    for (int i = 0; i < 8; ++i)
      bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
    return *this;
  }
  [[nodiscard]] std::string done() const { return bytes + "."; }
};

struct Entry {
  const char* action;
  std::int64_t size, us;
};
struct Block {
  std::int64_t size, asked;
  const char* state = "active_allocated";
};

// One segment with these blocks on GPU 0, and its trace.
std::string snapshot(const std::vector<Entry>& entries, const std::vector<Block>& blocks) {
  Writer w;
  std::int64_t total = 0;
  for (const Block& block : blocks) total += block.size;
  w.raw("}(").text("segments").raw("](");
  w.raw("}(").text("device").integer(0).text("total_size").integer(total).text("blocks").raw("](");
  for (const Block& block : blocks)
    w.raw("}(")
        .text("size")
        .integer(block.size)
        .text("requested_size")
        .integer(block.asked)
        .text("state")
        .text(block.state)
        .raw("u");
  w.raw("eue").text("device_traces").raw("](").raw("](");
  for (const Entry& entry : entries) {
    w.raw("}(").text("action").text(entry.action).text("size").integer(entry.size);
    if (entry.us >= 0) w.text("time_us").integer(entry.us);
    w.text("frames").raw("]u");
  }
  return w.raw("eeu").done();
}

Result<MemorySnapshot> read(const std::string& bytes) {
  // The pickle's strings point into these bytes while it is read.
  const PaddedBytes padded(bytes);
  return read_memory_snapshot("dir/snapshot.pickle", padded);
}

std::vector<std::pair<std::int64_t, std::int64_t>> points(const std::vector<MeasuredBytes>& curve) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const MeasuredBytes& point : curve) result.emplace_back(point.ns / 1000, point.bytes);
  return result;
}

using testing::Pair;

TEST(MemorySnapshot, IsACurveOfAllocatedBytes) {
  const auto s = read(snapshot({{"segment_alloc", 1 << 21, 1000},
                                {"alloc", 512, 1001},
                                {"alloc", 1000, 1010},  // rounded to 1,024
                                {"free_requested", 512, 1020},
                                {"free_completed", 512, 1025},
                                {"snapshot", 0, 1030}},
                               {{1024, 1000}, {(1 << 21) - 1024, 0, "inactive"}}));
  ASSERT_TRUE(s.has_value()) << s.error().message;
  EXPECT_THAT(points(s->measurement.memory_over_time),
              ElementsAre(Pair(0, 0), Pair(1, 512), Pair(10, 1536), Pair(20, 1024)));
  EXPECT_THAT(points(s->reserved), ElementsAre(Pair(0, 0), Pair(0, 1 << 21)));
  EXPECT_EQ(s->peak_bytes, 1536);
  EXPECT_EQ(s->reserved_peak_bytes, 1 << 21);
  EXPECT_FALSE(s->begins_before);
  EXPECT_EQ(s->entries, 6U);
  EXPECT_EQ(s->measurement.label, "snapshot.pickle");
  EXPECT_EQ(s->measurement.step_ns, 20'000);
  EXPECT_THAT(s->measurement.notes, IsEmpty());
}

TEST(MemorySnapshot, TheEndDeterminesWhereATruncatedRingBegan) {
  // 4 KiB were allocated before the trace begins, and half of them are freed in it.
  const auto s = read(snapshot({{"free_requested", 2048, 50}, {"alloc", 512, 60}},
                               {{2048, 2048}, {512, 512}, {4096, 0, "inactive"}}));
  ASSERT_TRUE(s.has_value());
  EXPECT_TRUE(s->begins_before);
  EXPECT_THAT(points(s->measurement.memory_over_time),
              ElementsAre(Pair(0, 4096), Pair(0, 2048), Pair(10, 2560)));
  EXPECT_THAT(points(s->reserved), ElementsAre(Pair(0, 2048 + 512 + 4096)));
  EXPECT_EQ(s->peak_bytes, 4096);
}

TEST(MemorySnapshot, NotesAnomalies) {
  const auto s = read(snapshot({{"alloc", 512, 70}, {"oom", 1 << 30, 60}, {"alloc", 512, 80}},
                               {{1024, 512}, {512, 512}, {2048, 2048, "active_pending_free"}}));
  ASSERT_TRUE(s.has_value());
  EXPECT_THAT(
      s->measurement.notes,
      ElementsAre(
          "1 out-of-memory error", "1 entry is not in chronological order",
          "the allocator counts 512 B more at the end, because it did not split some blocks"));
  const auto& curve = s->measurement.memory_over_time;
  for (std::size_t i = 1; i < curve.size(); ++i) EXPECT_GE(curve[i].ns, curve[i - 1].ns);
}

TEST(MemorySnapshot, OtherFilesAreRefusedInOneLine) {
  const auto refused = [](const std::string& bytes, const char* why) {
    const auto s = read(bytes);
    ASSERT_FALSE(s.has_value()) << why;
    EXPECT_EQ(s.error().kind, Error::Kind::input);
    EXPECT_THAT(s.error().message, StartsWith("dir/snapshot.pickle: "));
    EXPECT_THAT(s.error().message, HasSubstr(why));
    EXPECT_THAT(s.error().message, Not(HasSubstr("\n")));
  };
  refused("", "missing header");
  refused("{}", "missing header");
  refused("\x80\x06N.", "protocol 6");
  refused(Writer().raw("}").done(), "`segments` or `device_traces` is missing");
  refused(snapshot({}, {}), "has no trace of GPU 0");
  refused(snapshot({{"alloc", 512, -1}}, {}), "has no `time_us`");
  // __import__("os").system("...") in each of the ways that attackers write it.
  refused(
      "\x80\x04"
      "cos\nsystem\n.",
      "would run code (GLOBAL)");
  refused(Writer().text("os").text("system").raw("\x93.").bytes, "would run code (STACK_GLOBAL)");
  refused(Writer().raw("N)R.").bytes, "would run code (REDUCE)");
  refused(Writer().raw("N)\x81.").bytes, "would run code (NEWOBJ)");
  refused(Writer().raw("}}b.").bytes, "would run code (BUILD)");
  refused(Writer().raw("(ios\nsystem\n.").bytes, "would run code (INST)");
  refused(Writer().raw("(o.").bytes, "would run code (OBJ)");
  refused(Writer().raw("NQ.").bytes, "would run code (PERSID)");
  refused(Writer().raw("\x82\x01.").bytes, "would run code (EXT)");
}

TEST(Pickle, ReadsPlainValues) {
  const std::string bytes = Writer()
                                .raw("}(")
                                .text("none")
                                .raw("N")
                                .text("yes")
                                .raw("\x88")
                                .text("small")
                                .raw(std::string_view("K\xff", 2))
                                .text("two")
                                .raw(std::string_view("M\x01\x02", 3))
                                .text("four")
                                .raw(std::string_view("J\xfe\xff\xff\xff", 5))
                                .text("long")
                                .raw(std::string_view("\x8a\x02\xff\x7f", 4))
                                .text("half")
                                .raw(std::string_view("G\x3f\xe0\x00\x00\x00\x00\x00\x00", 9))
                                .text("tuple")
                                .raw("K\x01K\x02\x86")
                                .text("twice")
                                .raw("K\x01")
                                .text("twice")
                                .raw("K\x02")
                                .raw("u")
                                .done();
  const auto pickle = Pickle::read("p", bytes);
  ASSERT_TRUE(pickle.has_value()) << pickle.error().message;
  const PickleValue& root = pickle->root();
  EXPECT_EQ(pickle->find(root, "none")->kind, PickleValue::Kind::none);
  EXPECT_EQ(pickle->find(root, "yes")->integer, 1);
  EXPECT_EQ(pickle->integer(root, "small"), 255);
  EXPECT_EQ(pickle->integer(root, "two"), 0x201);
  EXPECT_EQ(pickle->integer(root, "four"), -2);
  EXPECT_EQ(pickle->integer(root, "long"), 0x7fff);
  EXPECT_EQ(pickle->find(root, "half")->real, 0.5);
  EXPECT_EQ(pickle->elements(*pickle->find(root, "tuple")).size(), 2U);
  EXPECT_EQ(pickle->integer(root, "twice"), 2) << "the last duplicate counts";
  EXPECT_EQ(pickle->find(root, "missing"), nullptr);
}

TEST(Pickle, AListMayContainItself) {
  const auto pickle = Pickle::read("p", std::string("\x80\x02]q\x00h\x00h\x00"
                                                    "a0.",
                                                    11));
  ASSERT_FALSE(pickle.has_value()) << "trailing data is refused";
  const std::string bytes(
      "\x80\x02]q\x00h\x00"
      "a.",
      9);
  const auto self = Pickle::read("p", bytes);
  ASSERT_TRUE(self.has_value()) << self.error().message;
  EXPECT_EQ(self->elements(self->root())[0].container, self->root().container);
}

TEST(MemorySnapshot, TruncatedAnywhere) {
  const std::string whole = snapshot({{"segment_alloc", 4096, 10}, {"alloc", 512, 20}},
                                     {{512, 512}, {3584, 0, "inactive"}});
  ASSERT_TRUE(read(whole).has_value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto s = read(whole.substr(0, size));
    ASSERT_FALSE(s.has_value()) << size;
    ASSERT_THAT(s.error().message,
                StartsWith("dir/snapshot.pickle: not a pickle of plain values: "));
  }
}

TEST(MemorySnapshot, BytesChangedAnywhere) {
  const std::string whole = snapshot({{"segment_alloc", 4096, 10}, {"alloc", 512, 20}},
                                     {{512, 512}, {3584, 0, "inactive"}});
  std::minstd_rand random(9);
  for (int round = 0; round < 5000; ++round) {
    std::string changed = whole;
    for (int i = 0; i < 2; ++i)
      changed[random() % changed.size()] = static_cast<char>(random() & 0xff);
    if (const auto s = read(changed); !s.has_value()) {
      ASSERT_THAT(s.error().message, Not(HasSubstr("\n")));
    }
  }
}

TEST(Pickle, DepthAndSizeAreBounded) {
  // 100,000 nested lists: depth uses no stack.
  std::string deep = "\x80\x02";
  constexpr int kDepth = 100'000;
  deep += std::string(kDepth, ']') + std::string(kDepth - 1, 'a') + ".";
  EXPECT_TRUE(Pickle::read("p", deep).has_value());
  // Sizes and references beyond the end.
  for (const std::string& bytes :
       {std::string("\x80\x02X\xff\xff\xff\xff.", 8), std::string("\x80\x02j\xff\xff\xff\xff.", 8),
        std::string("\x80\x02Nr\xff\xff\xff\xff.", 9),
        std::string("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", 12),
        std::string("\x80\x02\x8b\xff\xff\xff\x7f.", 8), std::string("\x80\x02t."),
        std::string("\x80\x02u."),
        std::string("\x80\x02"
                    "0."),
        std::string("\x80\x02."), std::string("\x80\x02(."), std::string("\x80\x02(N."),
        std::string("\x80\x02}(Nu."), std::string("\x80\x02N(Ne.")})
    EXPECT_FALSE(Pickle::read("p", bytes).has_value());
}

TEST(MemorySnapshot, ALargeSnapshotTakesSeconds) {
  std::vector<Entry> entries;
  constexpr int kEntries = 300'000;
  for (int i = 0; i < kEntries; ++i)
    entries.push_back({i % 2 == 0 ? "alloc" : "free_requested", 1024, 1'000'000 + i});
  const std::string bytes = snapshot(entries, {});
  const auto started = std::chrono::steady_clock::now();
  const auto s = read(bytes);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(s->measurement.memory_over_time.size(), std::size_t{kEntries + 1});
  EXPECT_EQ(s->peak_bytes, 1024);
  EXPECT_LT(took.count(), 10) << bytes.size() << " bytes";
}

}  // namespace
}  // namespace jointer::test
