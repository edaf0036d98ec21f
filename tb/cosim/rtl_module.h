// What a shared module with the RTL of a block exports, and mrcsim looks up.
#pragma once

#include "rtl_interface.h"

namespace mrc {

struct RtlModule {
  const char* interface;      ///< MRCSIM_RTL_INTERFACE as the module was built
  void (*factory)();          ///< of the type that the block's header declares
  const char* top;            ///< the SystemVerilog module that replaces the block
  const char* files;          ///< that were Verilated, one per line
  const char* sha256;         ///< over their contents, in hexadecimal
  const char* contract_file;  ///< as it is named in messages
  const char* contract;       ///< its text
};
using RtlModuleFunction = const RtlModule*();
inline constexpr const char* kRtlModuleFunction = "mrcsim_rtl_module";

}  // namespace mrc

// With the header that tb/cosim/rtl_identity.py wrote for the module.
#define MRCSIM_RTL_MODULE(FACTORY)                                                                   \
  extern "C" __attribute__((visibility("default"))) const mrc::RtlModule* mrcsim_rtl_module() {      \
    static const mrc::RtlModule module{MRCSIM_RTL_INTERFACE, reinterpret_cast<void (*)()>(&FACTORY), \
                                       MRCSIM_RTL_TOP,       MRCSIM_RTL_FILES,                       \
                                       MRCSIM_RTL_SHA256,    MRCSIM_RTL_CONTRACT_FILE,               \
                                       MRCSIM_RTL_CONTRACT};                                         \
    return &module;                                                                                  \
  }
