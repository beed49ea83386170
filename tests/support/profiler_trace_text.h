#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace jointer::test {

// A trace as torch.profiler writes it: one process, times in microseconds.
class ProfilerTraceText {
 public:
  using Json = nlohmann::ordered_json;

  ProfilerTraceText& gpu(const char* name = "NVIDIA H200") {
    devices_.push_back({{"id", 0}, {"name", name}, {"totalGlobalMem", 150'000'000'000}});
    return *this;
  }
  ProfilerTraceText& step(int number, double ts, double dur) {
    return add("user_annotation", fmt::format("ProfilerStep#{}", number), 10, ts, dur, {});
  }
  ProfilerTraceText& annotation(const char* name, int tid, double ts, double dur) {
    return add("user_annotation", name, tid, ts, dur, {{"External id", ++external_}});
  }
  // The external ids of calls and annotations count up from 1.
  ProfilerTraceText& op(const char* name, double ts, double dur, const Json& dims = nullptr,
                        int tid = 10) {
    Json args{{"External id", ++external_}, {"Record function id", 0}};
    if (!dims.is_null()) args["Input Dims"] = dims;
    args["Ev Idx"] = external_;
    return add("cpu_op", name, tid, ts, dur, std::move(args));
  }
  ProfilerTraceText& launch(int correlation, double ts, double dur = 2) {
    return add("cuda_runtime", "cudaLaunchKernel", 10, ts, dur,
               {{"cbid", 211}, {"correlation", correlation}});
  }
  ProfilerTraceText& kernel(const char* name, double ts, double dur, int correlation,
                            int external = 0, const char* category = "kernel", int stream = 7) {
    Json args{{"device", 0}, {"stream", stream}, {"correlation", correlation}};
    if (external != 0) args["External id"] = external;
    return add(category, name, stream, ts, dur, std::move(args), 0);
  }
  struct Kernel {
    const char* name;
    double ts, dur;
    int stream = 7;
  };
  // A call that launches kernels.
  ProfilerTraceText& call(const char* name, double ts, const std::vector<Kernel>& kernels) {
    op(name, ts, 8);
    const int id = external_;
    for (const Kernel& each : kernels) {
      launch(++correlation_, ts + 1);
      kernel(each.name, each.ts, each.dur, correlation_, id, "kernel", each.stream);
    }
    return *this;
  }
  // The mark that torch writes around a run of a compiled graph.
  ProfilerTraceText& compiled_graph(const char* key, double ts, double dur) {
    return annotation(fmt::format("## Call CompiledFxGraph {} ##", key).c_str(), 10, ts, dur);
  }
  [[nodiscard]] std::string text() const {
    Json json{{"schemaVersion", 1},
              {"deviceProperties", devices_},
              {"displayTimeUnit", "ms"},
              {"baseTimeNanoseconds", 1790857026000000000},
              {"traceEvents", events_}};
    return json.dump();
  }

 private:
  ProfilerTraceText& add(const char* category, const std::string& name, int tid, double ts,
                         double dur, Json args, int pid = 4242) {
    events_.push_back({{"ph", "X"},
                       {"cat", category},
                       {"name", name},
                       {"pid", pid},
                       {"tid", tid},
                       {"ts", ts},
                       {"dur", dur},
                       {"args", std::move(args)}});
    return *this;
  }

  Json devices_ = Json::array(), events_ = Json::array();
  int external_ = 0, correlation_ = 10'000;
};

}  // namespace jointer::test
