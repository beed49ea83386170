#include "views/session/open/open_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer::views {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<std::pair<std::string, std::string>> opened(const QStringList& paths) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const OpenRequest& request : requests_for(paths))
    files.emplace_back(request.path, request.backward);
  return files;
}

TEST(OpenRequests, PairTheHalvesOfAGraph) {
  EXPECT_THAT(opened({"m.bw.json", "m.fw.json", "n.json"}),
              ElementsAre(Pair("m.fw.json", "m.bw.json"), Pair("n.json", "")));
  EXPECT_THAT(opened({"forward_m_forward.txt", "forward_m_backward.txt"}),
              ElementsAre(Pair("forward_m_forward.txt", "forward_m_backward.txt")));
}

TEST(OpenRequests, PairFilesOfOneFolderOnly) {
  EXPECT_THAT(opened({"r0/m.fw", "r0/m.bw", "r1/m.fw", "r1/m.bw"}),
              ElementsAre(Pair("r0/m.fw", "r0/m.bw"), Pair("r1/m.fw", "r1/m.bw")));
  EXPECT_THAT(opened({"r0/m.fw", "r1/m.bw"}),
              ElementsAre(Pair("r0/m.fw", ""), Pair("r1/m.bw", "")));
}

TEST(OpenRequests, UseEachFileOnce) {
  EXPECT_THAT(opened({"m.fw", "m.fw", "m.bw"}), ElementsAre(Pair("m.fw", "m.bw")));
}

}  // namespace
}  // namespace jointer::views
