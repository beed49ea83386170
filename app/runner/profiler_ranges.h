#pragma once

#include <string>

namespace jointer::runner {

// Tells a profiler that this process runs under, such as Nsight Systems, which part of the run to
// record, and marks named ranges. This base class does nothing.
class ProfilerRanges {
 public:
  virtual ~ProfilerRanges() = default;
  ProfilerRanges() = default;
  ProfilerRanges(const ProfilerRanges&) = delete;
  ProfilerRanges& operator=(const ProfilerRanges&) = delete;

  // The profiler records between these calls. Throws c10::Error if the device has failed.
  virtual void start_recording() {}
  virtual void stop_recording() {}
  // Ranges of a thread nest: push begins one, and pop ends the one that began last.
  virtual void push(const std::string& name) { (void)name; }
  virtual void pop() {}
};

}  // namespace jointer::runner
