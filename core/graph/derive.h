#pragma once

// Derives what captures do not record but the rest of the program needs: phases, roles, partners.
// Each function uses whatever the capture does record. Graph::facts reports guesses.

#include "core/graph/graph.h"

namespace jointer {

// Sets the phase of every node and marks recomputed calls. In a backward graph, every node is
// backward, and calls tagged is_forward are recomputed. In other graphs, a node is backward if its
// partitioner_tag is is_backward or if it is marked autograd_backward. If calls with neither mark
// nor any tag remain, tangents and all nodes that depend on a tangent or on a backward node are
// backward too. If no call was marked as backward, so are nodes that come after the first call that
// depends on a tangent and feed no forward output. Calls named `*_recomputed` are recomputed.
void derive_phases(Graph& graph);

// Sets the role and the target (parameter name) of every placeholder and of every element of the
// output (Part::outputs). Reads them from `desc`. If there is none, derives them from FX's names
// (primals_*, tangents_*) and from phases. If a joint graph names no parameter or buffer, primals
// with gradients are parameters. Calls derive_step_parameters.
void derive_roles(Graph& graph);

// Indexed by node id: true for `nodes` and for all nodes that they depend on.
std::vector<bool> ancestors(const Graph& graph, std::vector<NodeId> nodes);

// The last output node of a part; null if there is none.
NodeId output_node(const Graph& graph, PartId part);

// The arguments of an output node, flattened: the leaves of its lists, tuples and dictionaries,
// without keys.
std::vector<Argument> output_arguments(const Graph& graph, NodeId output);

// The elements of the part's output, read from its current output node.
std::vector<OutputEntry> derive_outputs(const Graph& graph, PartId part);

// Links each placeholder of a pair's backward to the forward output with the same name.
// Random-generator states have different names and are linked in order. A linked placeholder gets
// the role of the forward placeholder that it equals, or else Role::saved. Error (input): an input
// of the backward, other than a tangent, is a tensor that the forward does not return.
Result<void> link_pair(Graph& graph);

// The role and target that a descriptor gives, such as Role::parameter and
// `layers.0.attention.wq.weight` for SubclassGetAttrAOTInput{base: ParamAOTInput{target}}.
// Role::none if the text is not a descriptor.
struct Descriptor {
  Role role = Role::none;
  std::string target;
};
Descriptor parse_descriptor(std::string_view json);

}  // namespace jointer
