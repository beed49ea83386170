#pragma once

namespace jointer::runner {

// Some virtual machines report a processor with AMX on which oneDNN's bfloat16 kernels fail with an
// illegal instruction. Tries one in a child process and, if that dies, restarts this program with
// AMX disabled in oneDNN (ONEDNN_MAX_CPU_ISA; nothing is tried if the user has set it). Call it
// first: before there are threads, and before torch has computed anything.
void avoid_trapping_instructions(char** argv);

}  // namespace jointer::runner
