#pragma once

namespace jointer::runner {

// Some virtual machines show the guest a processor with AMX on which oneDNN's bfloat16 kernels die
// of an illegal instruction. Tries one in a child process and, if that dies, starts this program
// again with oneDNN told to do without (ONEDNN_MAX_CPU_ISA; where a person has set it, nothing is
// tried). Call it first of all: before there are threads, before torch has computed anything.
void avoid_trapping_instructions(char** argv);

}  // namespace jointer::runner
