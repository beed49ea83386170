#include "core/base/bytes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/sanitized.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Folder : public testing::Test {
 protected:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "jointer.XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() override {
    std::error_code status;
    fs::remove_all(path, status);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {}));
  }
  static std::string content(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path path;
};
using Bytes = Folder;

TEST_F(Bytes, RoundTrip) {
  const std::string text("a\0b\xff", 4);
  ASSERT_TRUE(write_bytes(file("plain"), text).has_value());
  EXPECT_EQ(content(file("plain")), text);
  EXPECT_EQ(read_bytes(file("plain"))->view(), text);
}

TEST_F(Bytes, CompressesIfTheNameRequestsIt) {
  const std::string text(100'000, 'x');
  ASSERT_TRUE(write_bytes(file("a.zst"), text).has_value());
  EXPECT_LT(fs::file_size(file("a.zst")), 1000U);
  EXPECT_EQ(read_bytes(file("a.zst"))->view(), text);
  fs::rename(file("a.zst"), file("b"));
  EXPECT_EQ(read_bytes(file("b"))->view(), text) << "the content decides, not the name";
}

// Two gzip members, as `cat a.gz b.gz` makes them: "some text, " and "some more".
const std::string kGzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x2b\xce\xcf\x4d\x55\x28\x49\xad\x28\xd1"
    "\x51\x00\x00\x20\x9f\x7c\xe8\x0b\x00\x00\x00"
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x2b\xce\xcf\x4d\x55\xc8\xcd\x2f\x4a\x05"
    "\x00\x01\xe8\x63\xff\x09\x00\x00\x00",
    60);

TEST_F(Bytes, GzipIsDecompressed) {
  const auto whole = unpack(kGzip, "a.gz");
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  EXPECT_EQ(whole->view(), "some text, some more");
  for (std::size_t size = 2; size < kGzip.size(); ++size) {
    const auto cut = unpack(std::string_view(kGzip).substr(0, size), "a.gz");
    if (size == 31) {
      EXPECT_EQ(cut->view(), "some text, ");
      continue;
    }
    ASSERT_FALSE(cut.has_value()) << size;
    EXPECT_THAT(cut.error().message, testing::StartsWith("a.gz: "));
  }
  for (std::size_t i = 10; i < kGzip.size(); ++i) {
    std::string damaged = kGzip;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    const auto read = unpack(damaged, "a.gz");
    if (!read) {
      EXPECT_THAT(read.error().message, testing::Not(HasSubstr("\n")));
    }
  }
}

// Ends with the message of the error.
[[noreturn]] void unpack_without_memory(const std::string& packed) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{16} << 20);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  ::setrlimit(RLIMIT_AS, &limit);
  const auto read = unpack(packed, "a.zst");
  std::fprintf(stderr, "%s\n", read ? "unpacked" : read.error().message.c_str());
  std::_Exit(0);
}

TEST_F(Bytes, WithoutMemoryUnpackingIsAnError) {
  if (JOINTER_IS_SANITIZED) GTEST_SKIP() << "the sanitizer ends the process instead";
  ASSERT_TRUE(write_bytes(file("a.zst"), std::string(std::size_t{48} << 20, 'x')).has_value());
  const std::string packed = content(file("a.zst"));
  EXPECT_EXIT(unpack_without_memory(packed), testing::ExitedWithCode(0),
              "a.zst: not enough memory");
}

TEST_F(Bytes, WritesReplaceTheWholeFileAndLeaveNoOtherFile) {
  ASSERT_TRUE(write_bytes(file("a"), "old and longer").has_value());
  ASSERT_TRUE(write_bytes(file("a"), "new").has_value());
  EXPECT_EQ(content(file("a")), "new");
  EXPECT_EQ(entries(), 1U);
  // A folder cannot be replaced: the temporary file is removed again.
  fs::create_directory(file("folder"));
  const auto failed = write_bytes(file("folder"), "text");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().kind, Error::Kind::run);
  EXPECT_THAT(failed.error().message, HasSubstr(file("folder")));
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Bytes, FoldersAreMadeWithThoseThatContainThem) {
  ASSERT_TRUE(make_folder(file("a/b")).has_value());
  EXPECT_TRUE(fs::is_directory(file("a/b")));
  EXPECT_TRUE(make_folder(file("a/b")).has_value()) << "it exists";
  ASSERT_TRUE(write_bytes(file("plain"), "text").has_value());
  const auto failed = make_folder(file("plain/c"));
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().kind, Error::Kind::run);
  EXPECT_THAT(failed.error().message, HasSubstr("cannot create the folder " + file("plain/c")));
}

// Killed in the middle of a write, because the file becomes too large.
void write_until_killed(const std::string& name) {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const rlimit size{.rlim_cur = 4096, .rlim_max = 4096};
  ::setrlimit(RLIMIT_FSIZE, &size);
  (void)write_bytes(name, std::string(std::size_t{1} << 20, 'a'));
}

TEST_F(Bytes, AKilledWriteLeavesNoFile) {
  const int unnamed = ::open(path.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) GTEST_SKIP() << "the file system has no files without names";
  ::close(unnamed);
  ASSERT_TRUE(write_bytes(file("a"), "old").has_value());
  EXPECT_EXIT(write_until_killed(file("a")), testing::KilledBySignal(SIGXFSZ), "");
  EXPECT_EQ(content(file("a")), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Bytes, WritesFollowLinks) {
  ASSERT_TRUE(write_bytes(file("a"), "old").has_value());
  fs::create_symlink(file("a"), file("link"));
  ASSERT_TRUE(write_bytes(file("link"), "new").has_value());
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(content(file("a")), "new");
}

TEST_F(Bytes, ErrorsNameWhatCannotBeRead) {
  EXPECT_THAT(read_bytes(file("none")).error().message,
              testing::AllOf(HasSubstr(file("none")), HasSubstr("No such file")));
  EXPECT_THAT(read_bytes(path.string()).error().message, HasSubstr("got a folder"));
  std::ofstream(file("empty")).close();
  EXPECT_THAT(read_bytes(file("empty")).error().message, HasSubstr("empty"));
}

TEST_F(Bytes, PaddingIsReadableAndZero) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096},
                                 (std::size_t{2} << 20) - 64, std::size_t{5} << 20}) {
    PaddedBytes bytes(std::string(size, 'x'));
    EXPECT_EQ(bytes.size(), size);
    for (std::size_t i = 0; i < PaddedBytes::kPadding; ++i)
      ASSERT_EQ(bytes.data()[size + i], '\0') << size;
  }
}

// Returns the error message of `result`, for rapidcheck to print; empty on success.
template <typename T>
std::string said(const Result<T>& result) {
  return result ? std::string() : result.error().message;
}

RC_GTEST_FIXTURE_PROP(Folder, CompressionRoundTrips, (std::string text)) {
  // An empty file is not a capture, and a file that begins with the magic number of a compressed
  // format is read as one whatever its name: one random text in 100,000 begins with gzip's.
  text.insert(0, 1, 'x');
  for (const std::string name : {"a.zst", "a"}) {
    RC_ASSERT(said(write_bytes(file(name), text)) == "");
    const auto read = read_bytes(file(name));
    RC_ASSERT(said(read) == "");
    RC_ASSERT(read->view() == text);
  }
}

TEST_F(Bytes, MagicNumberDecidesTheFormat) {
  ASSERT_TRUE(write_bytes(file("a"), "\x1f\x8bno gzip").has_value());
  const auto read = read_bytes(file("a"));
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, HasSubstr("gzip"));
  // Compressed because of its name, the same text reads back.
  ASSERT_TRUE(write_bytes(file("a.zst"), "\x1f\x8bno gzip").has_value());
  EXPECT_EQ(read_bytes(file("a.zst"))->view(), "\x1f\x8bno gzip");
}

}  // namespace
}  // namespace jointer
