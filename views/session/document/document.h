#pragma once

#include <memory>

#include "views/session/open/open_graph.h"

namespace jointer::views {

class AskedKernels;
class Editing;
class KernelOrderEdits;
class Marks;
class OpenedKernels;
class PredictedKernels;
class SacSession;
class ShownKernels;
class ShownRange;
class TracedKernels;

// An open graph with its edit history, policies, kernels and marked moments. Panes hold a document
// and listen to it; they do not refer to the window.
class Document : public OpenGraph {
  Q_OBJECT
 public:
  Document(OpenRequest source, SnapshotPtr snapshot, QObject* parent = nullptr);
  ~Document() override;

  [[nodiscard]] Editing& editing() const { return *editing_; }
  // The kernels that Inductor is predicted to make of the graph.
  [[nodiscard]] PredictedKernels& kernels() const { return *kernels_; }
  // The order of the predicted kernels, which the user can change.
  [[nodiscard]] KernelOrderEdits& kernel_order() const { return *kernel_order_; }
  // The kernels that the installed Inductor reports for the graph, if the user has asked it.
  [[nodiscard]] AskedKernels& asked_kernels() const { return *asked_kernels_; }
  // The kernels that a compilation has made of the graph, if the user has opened its artifacts.
  [[nodiscard]] OpenedKernels& opened_kernels() const { return *opened_kernels_; }
  // The kernels that were measured, if the user has opened a trace of compiled steps.
  [[nodiscard]] TracedKernels& traced_kernels() const { return *traced_kernels_; }
  // The kernels that panes show, from one of the sources above.
  [[nodiscard]] ShownKernels& shown_kernels() const { return *shown_kernels_; }
  [[nodiscard]] SacSession& sac() const { return *sac_; }
  [[nodiscard]] Marks& marks() const { return *marks_; }
  // The range of time that panes show; a range of the pair while the timeline shows a joint graph
  // as partitioned.
  [[nodiscard]] ShownRange& shown_range() const { return *shown_range_; }
  // Uses the marks of another document. Call this before anything listens to this document's marks.
  void share_marks_of(const Document& other) { marks_ = other.marks_; }

 private:
  std::unique_ptr<Editing> editing_;
  std::unique_ptr<PredictedKernels> kernels_;
  std::unique_ptr<SacSession> sac_;
  std::shared_ptr<Marks> marks_;
  std::unique_ptr<ShownRange> shown_range_;
  std::unique_ptr<KernelOrderEdits> kernel_order_;
  std::unique_ptr<AskedKernels> asked_kernels_;
  std::unique_ptr<OpenedKernels> opened_kernels_;
  std::unique_ptr<TracedKernels> traced_kernels_;
  std::unique_ptr<ShownKernels> shown_kernels_;
};

}  // namespace jointer::views
