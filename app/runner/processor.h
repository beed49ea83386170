#pragma once

namespace jointer::runner {

// On some virtual machines that report a processor with AMX, oneDNN's bfloat16 kernels fail with an
// illegal instruction. Tries such a kernel in a child process and, if the child dies, restarts this
// program with AMX disabled in oneDNN (ONEDNN_MAX_CPU_ISA; if the user has set that, tries
// nothing). Call it before starting threads and before torch computes anything.
void avoid_trapping_instructions(char** argv);

}  // namespace jointer::runner
