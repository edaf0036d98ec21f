# Writes OUTPUT, a source file with the commit of the clone in SOURCE, where it is not there already. Runs in every build; what
# is compiled anew when the commit changes is this one file.
#   cmake -D SOURCE=… -D OUTPUT=… -P write_commit.cmake
cmake_minimum_required(VERSION 3.25)

# git(VAR argument…): what git prints; empty where there is no git or no clone. A clone of another user is read too.
function(git VAR)
  execute_process(COMMAND git -c safe.directory=* -c core.fsmonitor=false -C ${SOURCE} ${ARGN}
                  OUTPUT_VARIABLE out ERROR_QUIET RESULT_VARIABLE code OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    set(out "")
  endif()
  set(${VAR} "${out}" PARENT_SCOPE)
endfunction()

git(top rev-parse --show-toplevel)
file(REAL_PATH "${SOURCE}" source)
set(commit "")
# An unpacked archive may lie in a clone of something else.
if(top STREQUAL source)
  git(commit rev-parse --short=10 HEAD)
  git(changes status --porcelain --untracked-files=no)
  if(changes)
    string(APPEND commit ", modified")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"// Written by write_commit.cmake.
#include \"mrcsim/commit.h\"

namespace mrc {

const char* source_commit() {
  return \"@commit@\";
}

}  // namespace mrc
")
