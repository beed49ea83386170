#include "core/process/gpus.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/process/temporary_folder.h"

namespace jointer::test {
namespace {

TEST(Gpus, TheListEndsAtTheFirstUnknownEntry) {
  EXPECT_EQ(named_gpus("", 4), 0);
  EXPECT_EQ(named_gpus("0,2", 4), 2);
  EXPECT_EQ(named_gpus("0, 1", 4), 2);
  EXPECT_EQ(named_gpus("GPU-1f,MIG-22,3", 4), 3);
  EXPECT_EQ(named_gpus("1,-1,2", 4), 1);
  EXPECT_EQ(named_gpus("-1", 4), 0);
  EXPECT_EQ(named_gpus("0,4,1", 4), 1);
  EXPECT_EQ(named_gpus("99999999999999999999", 4), 0);
}

TEST(Gpus, AListWithARepeatedEntryNamesNone) {
  EXPECT_EQ(named_gpus("0,1,0", 4), 0);
  EXPECT_EQ(named_gpus("GPU-1f,GPU-1f", 4), 0);
  EXPECT_EQ(named_gpus("0,1,-1,0", 4), 2);
}

// A machine described by the files of its driver.
class VisibleGpus : public testing::Test {
 protected:
  VisibleGpus() { ::unsetenv("CUDA_VISIBLE_DEVICES"); }
  ~VisibleGpus() override { ::unsetenv("CUDA_VISIBLE_DEVICES"); }
  void add(const std::string& file) {
    std::filesystem::create_directories(folder_.path("dev"));
    std::ofstream(folder_.path("dev/" + file)) << "";
  }
  static void make_visible(const char* devices) {
    ::setenv("CUDA_VISIBLE_DEVICES", devices, /*overwrite=*/1);
  }
  [[nodiscard]] int count() const { return visible_gpus(folder_.path()); }

 private:
  jointer::TemporaryFolder folder_ = *jointer::TemporaryFolder::make("jointer-machine-");
};

TEST_F(VisibleGpus, AreTheDriversFiles) {
  EXPECT_EQ(count(), 0);
  add("nvidiactl");
  add("nvidia-uvm");
  EXPECT_EQ(count(), 0);
  add("nvidia0");
  add("nvidia1");
  EXPECT_EQ(count(), 2);
}

TEST_F(VisibleGpus, CanBeHidden) {
  add("nvidia0");
  add("nvidia1");
  make_visible("1");
  EXPECT_EQ(count(), 1);
  make_visible("1,2");
  EXPECT_EQ(count(), 1);
  make_visible("");
  EXPECT_EQ(count(), 0);
}

TEST_F(VisibleGpus, CannotBeAddedByAVariable) {
  make_visible("0,1");
  EXPECT_EQ(count(), 0);
}

TEST_F(VisibleGpus, UnderWslThereIsOneFileForAll) {
  add("dxg");
  EXPECT_EQ(count(), 1);
  make_visible("0,1");
  EXPECT_EQ(count(), 2);
  make_visible("");
  EXPECT_EQ(count(), 0);
}

TEST_F(VisibleGpus, OneOfThemIsNamedAsTheVariableNamesIt) {
  EXPECT_EQ(only_gpu(1), "1");
  make_visible("2, 5,GPU-1f");
  EXPECT_EQ(only_gpu(0), "2");
  EXPECT_EQ(only_gpu(1), "5");
  EXPECT_EQ(only_gpu(2), "GPU-1f");
}

}  // namespace
}  // namespace jointer::test
