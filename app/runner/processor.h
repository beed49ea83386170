#pragma once

namespace jointer::runner {

// On some virtual machines that report a processor with AMX, oneDNN's bfloat16 kernels fail with an
// illegal instruction. Tries such a kernel in a child process and, if that instruction kills the
// child, restarts this program with AMX disabled in oneDNN (ONEDNN_MAX_CPU_ISA). Does nothing if
// the processor does not report AMX, or if the user has set this variable. Must be called before
// threads are started and before torch computes anything.
void avoid_trapping_instructions(char** argv);

}  // namespace jointer::runner
