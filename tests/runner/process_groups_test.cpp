#include "app/runner/groups/process_groups.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <stdexcept>
#include <vector>

#include "core/graph/literal.h"

namespace jointer::runner {
namespace {

using testing::ElementsAre;

TEST(World, AVariableThatIsNoNumberIsNamed) {
  for (const char* text : {"-1", "two"}) {
    ::setenv("RANK", text, 1);
    const auto world = World::from_environment();
    ::unsetenv("RANK");
    ASSERT_FALSE(world);
    EXPECT_EQ(world.error().message,
              "RANK: expected an integer of at least 0, got `" + std::string(text) + "`");
  }
}

TEST(World, APortThatDoesNotFitInSixteenBitsIsRefused) {
  ::setenv("MASTER_PORT", "65536", 1);
  const auto world = World::from_environment();
  ::unsetenv("MASTER_PORT");
  ASSERT_FALSE(world);
  EXPECT_EQ(world.error().message, "MASTER_PORT: expected a port of at most 65535, got `65536`");
}

// --- Groups of two ranks in this process ---

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool is_bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(socket);
  return is_bound ? ntohs(address.sin_port) : 0;
}

TEST(ProcessGroups, EveryRankLearnsWhatAnyRankSays) {
  const int port = free_port();
  ASSERT_GT(port, 0);
  const auto ask = [port](int rank) {
    const auto groups = ProcessGroups::make(
        *parse_literal("return []"),
        {.world = {.rank = rank, .size = 2, .master_port = port}, .backend = &gloo_collectives()});
    if (!groups) throw std::runtime_error(groups.error().message);
    std::vector<bool> answers;
    for (const bool here : {false, rank == 0, rank == 1, true})
      answers.push_back((*groups)->any(here));
    (*groups)->barrier();  // neither rank leaves while the other one waits
    return answers;
  };
  auto other = std::async(std::launch::async, ask, 1);
  EXPECT_THAT(ask(0), ElementsAre(false, true, true, true));
  EXPECT_THAT(other.get(), ElementsAre(false, true, true, true));
}

TEST(ProcessGroups, ARankAloneDecides) {
  const auto groups =
      ProcessGroups::make(*parse_literal("return []"), {.backend = &local_copies(), .alone = true});
  ASSERT_TRUE(groups) << groups.error().message;
  EXPECT_FALSE((*groups)->any(false));
  EXPECT_TRUE((*groups)->any(true));
}

}  // namespace
}  // namespace jointer::runner
