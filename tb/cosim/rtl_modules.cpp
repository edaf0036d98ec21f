#include "cosim/rtl_modules.h"

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cosim/rtl_module.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

const char* prefix_of(RtlModuleKind kind) {
  return kind == RtlModuleKind::rtl ? "rtl_" : "cosim_";
}

const fs::path& executable() {
  static const fs::path path = fs::read_symlink("/proc/self/exe");
  return path;
}

/// Next to the executable, or where it is installed.
const fs::path& modules_folder() {
  static const fs::path folder = [] {
    fs::path beside = executable();
    beside += ".rtl";
    return fs::exists(beside) ? beside : executable().parent_path() / MRCSIM_INSTALLED_MODULES;
  }();
  return folder;
}

fs::path path_of(RtlModuleKind kind, const std::string& block) {
  return modules_folder() / (prefix_of(kind) + block + ".so");
}

/// The command that builds these modules.
std::string build_command(RtlModuleKind kind, const std::vector<std::string>& blocks) {
  std::string targets;
  for (const std::string& block : blocks) targets += fmt::format(" {}{}", prefix_of(kind), block);
  for (fs::path folder = executable().parent_path(); folder != folder.root_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / "CMakeCache.txt")) {
      return fmt::format("cmake --build {} --target{}", fs::proximate(folder).string(), targets);
    }
  }
  return fmt::format("tb/build.sh build --target{}, in the sources of mrcsim, and install it", targets);
}

}  // namespace

bool has_rtl_module(RtlModuleKind kind, const std::string& block) {
  return fs::exists(path_of(kind, block));
}

void require_rtl_modules(RtlModuleKind kind, const std::vector<std::string>& blocks) {
  std::vector<std::string> missing;
  for (const std::string& block : blocks) {
    if (!has_rtl_module(kind, block)) missing.push_back(block);
  }
  if (missing.empty()) return;
  throw std::invalid_argument(fmt::format("not built: {} of {}; to build: {}",
                                          kind == RtlModuleKind::rtl ? "RTL" : "benches", fmt::join(missing, ", "),
                                          build_command(kind, missing)));
}

void (*rtl_module_factory(RtlModuleKind kind, const std::string& block))() {
  static std::map<std::string, const RtlModule*> loaded;
  const fs::path path = path_of(kind, block);
  const RtlModule*& module = loaded[path.string()];
  if (module == nullptr) {
    require_rtl_modules(kind, {block});
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* function = library == nullptr ? nullptr : dlsym(library, kRtlModuleFunction);
    if (function == nullptr) throw std::invalid_argument(fmt::format("{}: {}", path.string(), dlerror()));
    const RtlModule* found = reinterpret_cast<RtlModuleFunction*>(function)();
    if (std::string(found->interface) != MRCSIM_RTL_INTERFACE) {
      throw std::invalid_argument(fmt::format("{} was built with other headers than this mrcsim; to build it: {}",
                                              path.string(), build_command(kind, {block})));
    }
    module = found;
  }
  return module->factory;
}

}  // namespace mrc
