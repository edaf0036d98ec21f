#include "mrcsim/report_error.h"

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "engine/rtl_error.h"
#include "mpi/launcher.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/rtl_selection.h"
#include "parameters/input_file.h"
#include "parameters/registry.h"
#include "results/output_directory.h"
#include "study/study_error.h"
#include "traffic/trace_error.h"

namespace mrc {

bool speaks() {
  return launched_process() == 0;
}

int report_bad_input(std::string_view program, const std::string& why) {
  if (speaks()) fmt::print(stderr, "{}: {}\n", program, printable(why));
  return speaks() ? kExitBadInput : kExitOk;
}

int report_error(std::string_view program) {
  try {
    throw;
  } catch (const ParameterError& error) {
    return report_bad_input(program, error.what());
  } catch (const TraceError& error) {
    return report_bad_input(program, error.what());
  } catch (const RtlSelectionError& error) {
    return report_bad_input(program, error.what());
  } catch (const OutputError& error) {
    return report_bad_input(program, error.what());
  } catch (const StudyError& error) {
    return report_bad_input(program, error.what());
  } catch (const std::invalid_argument& error) {
    return report_bad_input(program, error.what());
  } catch (const std::bad_alloc&) {
    return report_bad_input(program,
                            "out of memory: a limit of the system or of the shell is reached; fewer NICs or QPs, or a "
                            "smaller trace, need less");
  } catch (const std::length_error&) {
    return report_bad_input(program, "out of memory: more is asked for than a process can address");
  } catch (const std::system_error& error) {
    // Files and folders that cannot be used, and standard output that takes nothing.
    return report_bad_input(program, error.what());
  } catch (const RtlError& error) {
    fmt::print(stderr, "{}: mismatch: {}\n", program, error.what());
    return kExitMismatch;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: internal error: {}\n", program, printable(error.what()));
    return kExitBug;
  }
}

}  // namespace mrc
