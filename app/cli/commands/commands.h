#pragma once

// One function per command, which adds the command and its options to the program. If the command
// line names the command, CLI11 runs the command's callback, which stores the exit code in
// `exit_code`.

#include <CLI/CLI.hpp>

namespace jointer::cli {

void add_info_command(CLI::App& program, int& exit_code);
void add_memory_command(CLI::App& program, int& exit_code);
void add_overlap_command(CLI::App& program, int& exit_code);
void add_sac_command(CLI::App& program, int& exit_code);
void add_bench_command(CLI::App& program, int& exit_code);
void add_apply_command(CLI::App& program, int& exit_code);
void add_passes_command(CLI::App& program, int& exit_code);
void add_diff_command(CLI::App& program, int& exit_code);
void add_export_command(CLI::App& program, int& exit_code);
void add_calibrate_command(CLI::App& program, int& exit_code);
void add_spmd_command(CLI::App& program, int& exit_code);
void add_query_command(CLI::App& program, int& exit_code);
void add_kernels_command(CLI::App& program, int& exit_code);
void add_capture_command(CLI::App& program, int& exit_code);

}  // namespace jointer::cli
