// Shared modules with Verilated blocks, which are built and loaded only where they are asked for: rtl_BLOCK for runs,
// cosim_BLOCK_small and cosim_BLOCK_default with the block's bench.
#pragma once

#include <string>
#include <vector>

#include "cosim/contract.h"

namespace mrc {

enum class RtlModuleKind { rtl, bench_small, bench_default };

/// Of a bench of this size, "small" or "default".
inline RtlModuleKind bench_kind(const std::string& size) {
  return size == "default" ? RtlModuleKind::bench_default : RtlModuleKind::bench_small;
}

/// The block's module is built: beside this executable, or where it is installed.
bool has_rtl_module(RtlModuleKind kind, const std::string& block);

/// This executable has other RTL of the block in runs than mrcsim.
bool is_users_rtl(const std::string& block);

/// Throws std::invalid_argument where modules of these blocks are not built, naming all of them and the command that
/// builds them.
void require_rtl_modules(RtlModuleKind kind, const std::vector<std::string>& blocks);

/// What a module was built from.
struct RtlSource {
  std::string block;
  std::string top;                 ///< the SystemVerilog module that replaces the block
  std::vector<std::string> files;  ///< that were Verilated
  std::string sha256;              ///< over their contents, in hexadecimal
  std::string contract_file;       ///< as it is named in messages
  std::string contract;            ///< its text
};

/// Of the block's module, which is loaded. Throws as rtl_module_factory().
RtlSource rtl_source(RtlModuleKind kind, const std::string& block);

/// What that RTL promises. Throws also std::invalid_argument, with file and line, for what is not a contract.
RtlContract rtl_contract(RtlModuleKind kind, const std::string& block);

/// Throws std::invalid_argument where the block's RTL in runs and in this bench is not built from the same sources,
/// naming the command that builds them.
void require_same_sources(const std::string& block, RtlModuleKind bench);

/// "RTL: BLOCK, top MODULE, FILES, sha256 HASH": the first 12 digits of the hash.
std::string rtl_line(const RtlSource& source);

/// The factory that the block's module exports. Throws std::invalid_argument where it is not built, or was built with
/// other headers than this executable.
void (*rtl_module_factory(RtlModuleKind kind, const std::string& block))();

/// As rtl_module_factory(), as the function that the block's header declares.
template <typename Function>
Function* load_rtl(RtlModuleKind kind, const std::string& block) {
  return reinterpret_cast<Function*>(rtl_module_factory(kind, block));
}

}  // namespace mrc
