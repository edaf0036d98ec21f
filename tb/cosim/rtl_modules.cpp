#include "cosim/rtl_modules.h"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cosim/rtl_module.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

std::string module_name(RtlModuleKind kind, const std::string& block) {
  if (kind == RtlModuleKind::rtl) return "rtl_" + block;
  return "cosim_" + block + (kind == RtlModuleKind::bench_small ? "_small" : "_default");
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
  return modules_folder() / (module_name(kind, block) + ".so");
}

/// The target that builds this module. Those of a user's RTL are listed beside the modules, as "rtl_BLOCK TARGET".
std::string target_of(const std::string& module) {
  std::ifstream list(modules_folder() / "targets");
  for (std::string listed, target; list >> listed >> target;) {
    if (listed == module) return target;
  }
  return module;
}

/// The command that builds these modules.
std::string build_command(RtlModuleKind kind, const std::vector<std::string>& blocks) {
  std::string targets;
  for (const std::string& block : blocks) targets += " " + target_of(module_name(kind, block));
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

bool is_users_rtl(const std::string& block) {
  const std::string module = module_name(RtlModuleKind::rtl, block);
  return target_of(module) != module;
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

namespace {

const RtlModule& load_module(RtlModuleKind kind, const std::string& block) {
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
  return *module;
}

/// The shared parts of rtl/common by their number, the other files by their names without folders.
std::string file_list(const std::vector<std::string>& files) {
  constexpr const char* common = "rtl/common/";
  std::string text;
  std::size_t shared = 0;
  for (const std::string& file : files) {
    if (file.starts_with(common)) {
      ++shared;
    } else {
      text += (text.empty() ? "" : " ") + fs::path(file).filename().string();
    }
  }
  if (shared > 0) text += fmt::format(" + {} of {}", shared, common);
  return text;
}

}  // namespace

void (*rtl_module_factory(RtlModuleKind kind, const std::string& block))() {
  return load_module(kind, block).factory;
}

RtlSource rtl_source(RtlModuleKind kind, const std::string& block) {
  const RtlModule& module = load_module(kind, block);
  RtlSource source{block, module.top, {}, module.sha256, module.contract_file, module.contract};
  std::istringstream files(module.files);
  for (std::string file; std::getline(files, file);) source.files.push_back(file);
  return source;
}

RtlContract rtl_contract(RtlModuleKind kind, const std::string& block) {
  const RtlModule& module = load_module(kind, block);
  return parse_contract(module.contract, module.contract_file);
}

void require_same_sources(const std::string& block, RtlModuleKind bench) {
  const std::string in_runs = rtl_source(RtlModuleKind::rtl, block).sha256;
  const std::string in_bench = rtl_source(bench, block).sha256;
  if (in_runs == in_bench) return;
  throw std::invalid_argument(fmt::format(
      "{}: runs have other RTL (sha256 {}) than the bench ({}); to build both: {} {}", block, in_runs.substr(0, 12),
      in_bench.substr(0, 12), build_command(RtlModuleKind::rtl, {block}), target_of(module_name(bench, block))));
}

std::string rtl_line(const RtlSource& source) {
  return fmt::format("RTL: {}, top {}, {}, sha256 {}", source.block, source.top, file_list(source.files),
                     source.sha256.substr(0, 12));
}

}  // namespace mrc
