#include "core/base/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_bytes.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kLimit = 1 << 20;

ZipArchive opened(std::string bytes) {
  return ZipArchive::of(std::move(bytes), "a.zip").value();
}

std::string error_of(std::string bytes) {
  const auto archive = ZipArchive::of(std::move(bytes), "a.zip");
  return archive ? "" : archive.error().message;
}

class ZipForms : public testing::TestWithParam<ZipForm> {};

TEST_P(ZipForms, EntriesAreReadByTheirPlaceInTheDirectory) {
  const std::string large(100'000, 'x');
  const ZipArchive archive =
      opened(zip_bytes({{"empty", ""}, {"folder/b.txt", "text"}, {"large", large}}, GetParam()));
  ASSERT_EQ(archive.entries().size(), 3U);
  EXPECT_EQ(archive.entries()[1].name, "folder/b.txt");
  EXPECT_EQ(archive.entries()[2].size, large.size());
  EXPECT_EQ(archive.read(archive.entries()[0], kLimit).value(), "");
  EXPECT_EQ(archive.read(archive.entries()[1], kLimit).value(), "text");
  EXPECT_EQ(archive.read(archive.entries()[2], kLimit).value(), large);
}

INSTANTIATE_TEST_SUITE_P(All, ZipForms,
                         testing::Values(ZipForm::stored, ZipForm::deflated, ZipForm::with_64));

TEST(ZipArchive, FilesAreReadLikeMemory) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.pt2";
  ASSERT_TRUE(write_bytes(path, zip_bytes({{"a", "first"}, {"b", "second"}})));
  const auto archive = ZipArchive::open(path);
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(archive->read(archive->entries()[1], kLimit).value(), "second");
  EXPECT_FALSE(ZipArchive::open(folder / "missing"));
  EXPECT_FALSE(ZipArchive::open(folder.path().string()));
}

TEST(ZipArchive, CutOffArchivesAreRefused) {
  const std::string whole = zip_bytes({{"a", "first"}, {"b", "second"}});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(error_of(whole.substr(0, size)), HasSubstr("copy the file again")) << size;
}

TEST(ZipArchive, DamagedContentIsRefused) {
  for (const ZipForm form : {ZipForm::stored, ZipForm::deflated}) {
    std::string bytes = zip_bytes({{"name", std::string(1000, 'x') + "end"}}, form);
    bytes[36] = static_cast<char>(bytes[36] ^ 1);
    const ZipArchive archive = opened(bytes);
    const auto text = archive.read(archive.entries()[0], kLimit);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().message, "a.zip: name is damaged; copy the file again");
  }
}

TEST(ZipArchive, NoEntryUnpacksToMoreThanTheLimit) {
  const std::string large(5 << 20, '\0');
  std::string bytes = zip_bytes({{"bomb", large}}, ZipForm::deflated);
  EXPECT_LT(bytes.size(), 10'000U);
  const ZipArchive honest = opened(bytes);
  const auto refused = honest.read(honest.entries()[0], kLimit);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("more than the 1048576 bytes"));
  // A directory that states a smaller size does not help.
  const std::size_t directory = bytes.rfind("PK\x01\x02");
  for (int i = 0; i < 4; ++i) bytes[directory + 24 + static_cast<std::size_t>(i)] = 0;
  bytes[directory + 25] = 64;  // 16384 bytes
  const ZipArchive lying = opened(bytes);
  const auto damaged = lying.read(lying.entries()[0], kLimit);
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("is damaged"));
}

TEST(ZipArchive, AnEntryCannotStateMoreThanItsDataCanFill) {
  std::string bytes = zip_bytes({{"name", std::string(1000, 'x')}}, ZipForm::deflated);
  const std::size_t directory = bytes.rfind("PK\x01\x02");
  bytes[directory + 27] = 0x1f;  // about 500 MiB
  const ZipArchive archive = opened(bytes);
  const auto text = archive.read(archive.entries()[0], std::size_t{1} << 30);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message,
              HasSubstr("cannot decompress to 520094696; copy the file again"));
}

TEST(ZipArchive, AbsurdDirectoriesAreRefused) {
  std::string bytes = zip_bytes({{"a", "text"}});
  const std::size_t end = bytes.rfind("PK\x05\x06");
  std::string many = bytes;
  many[end + 10] = 2;  // states two entries, but there is one
  EXPECT_THAT(error_of(many), HasSubstr("damaged at entry 2 of 2"));
  std::string far = bytes;
  far[end + 19] = 0x7f;  // the directory begins after the end
  EXPECT_THAT(error_of(far), HasSubstr("damaged or cut off"));
  EXPECT_THAT(error_of("no archive at all"), HasSubstr("is missing"));
}

}  // namespace
}  // namespace jointer::test
