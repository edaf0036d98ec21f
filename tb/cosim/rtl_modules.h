// Shared modules with Verilated blocks, which are built and loaded only where they are asked for: rtl_BLOCK for runs,
// cosim_BLOCK with the block's bench.
#pragma once

#include <string>
#include <vector>

namespace mrc {

enum class RtlModuleKind { rtl, cosim };

/// The block's module is built: beside this executable, or where it is installed.
bool has_rtl_module(RtlModuleKind kind, const std::string& block);

/// Throws std::invalid_argument where modules of these blocks are not built, naming all of them and the command that
/// builds them.
void require_rtl_modules(RtlModuleKind kind, const std::vector<std::string>& blocks);

/// The factory that the block's module exports. Throws std::invalid_argument where it is not built, or was built with
/// other headers than this executable.
void (*rtl_module_factory(RtlModuleKind kind, const std::string& block))();

/// As rtl_module_factory(), as the function that the block's header declares.
template <typename Function>
Function* load_rtl(RtlModuleKind kind, const std::string& block) {
  return reinterpret_cast<Function*>(rtl_module_factory(kind, block));
}

}  // namespace mrc
