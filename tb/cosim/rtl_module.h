// What a shared module with the RTL of a block exports, and mrcsim looks up.
#pragma once

#include "rtl_interface.h"

namespace mrc {

struct RtlModule {
  const char* interface;  ///< MRCSIM_RTL_INTERFACE as the module was built
  void (*factory)();      ///< of the type that the block's header declares
};
using RtlModuleFunction = const RtlModule*();
inline constexpr const char* kRtlModuleFunction = "mrcsim_rtl_module";

}  // namespace mrc

#define MRCSIM_RTL_MODULE(FACTORY)                                                                    \
  extern "C" __attribute__((visibility("default"))) const mrc::RtlModule* mrcsim_rtl_module() {       \
    static const mrc::RtlModule module{MRCSIM_RTL_INTERFACE, reinterpret_cast<void (*)()>(&FACTORY)}; \
    return &module;                                                                                   \
  }
