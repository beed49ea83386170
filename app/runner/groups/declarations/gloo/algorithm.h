#pragma once
// See README.md in the parent folder.
namespace gloo {
class Algorithm;
}  // namespace gloo
