#pragma once
// See README.md beside this folder.
namespace gloo {
class Algorithm;
}  // namespace gloo
