#include "app/runner/support/torch_error.h"

#include <gtest/gtest.h>

namespace jointer::runner {
namespace {

TEST(TorchError, NcclsCauseIsOnALaterLine) {
  EXPECT_EQ(in_one_line("NCCL error in: ProcessGroupNCCL.cpp:1\nncclSystemError: a call failed\n"
                        "Last error:\nsocket closed\n"),
            "NCCL error in: ProcessGroupNCCL.cpp:1; ncclSystemError: a call failed; Last error:; "
            "socket closed");
  EXPECT_EQ(in_one_line("one"), "one");
  EXPECT_EQ(in_one_line(""), "");
}

TEST(TorchError, MemoryMessagesEndBeforeTheirAdvice) {
  EXPECT_EQ(without_advice("CUDA out of memory. 5 MiB are reserved. If reserved but unallocated "
                           "memory is large try setting PYTORCH_ALLOC_CONF\nmore"),
            "CUDA out of memory. 5 MiB are reserved.");
  EXPECT_EQ(without_advice("out of memory"), "out of memory");
}

}  // namespace
}  // namespace jointer::runner
