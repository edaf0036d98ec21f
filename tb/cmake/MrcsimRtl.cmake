# RTL: Verilated while building, each block as two modules that mrcsim loads when it is asked for them. See docs/rtl.md.

include(GNUInstallDirs)
# An executable looks for its modules in a folder with its name and .rtl.
set(MRCSIM_MODULES ${PROJECT_BINARY_DIR}/tb/mrcsim/mrcsim.rtl)
set(MRCSIM_MODULES_INSTALL ${CMAKE_INSTALL_LIBDIR}/mrcsim)
# From the installed executable.
file(RELATIVE_PATH MRCSIM_INSTALLED_MODULES /${CMAKE_INSTALL_BINDIR} /${MRCSIM_MODULES_INSTALL})

# Names are looked up in the module alone: each has its own Verilator runtime.
set(MRCSIM_VERILATED_OPTIONS -w -fvisibility=hidden -fvisibility-inlines-hidden)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Verilator clears its wide temporaries in each evaluation: not by repeated string stores, which are slow to begin.
  list(APPEND MRCSIM_VERILATED_OPTIONS -fcf-protection=none -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
endif()
set(MRCSIM_VERILATED_DEFINITIONS VL_TIME_CONTEXT VM_COVERAGE=1 VM_SC=0 VM_TRACE=1 VM_TRACE_FST=1 VM_TRACE_VCD=0)
set(MRCSIM_VERILATED_INCLUDES ${VERILATOR_ROOT}/include ${VERILATOR_ROOT}/include/vltstd)
set(MRCSIM_VERILATE ${CMAKE_CURRENT_LIST_DIR}/verilate.sh)

# _mrcsim_verilated_library(TARGET): how everything from Verilator is compiled, apart from the level of optimization.
function(_mrcsim_verilated_library TARGET)
  set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options(${TARGET} PRIVATE ${MRCSIM_VERILATED_OPTIONS} ${MRCSIM_PROFILE_OPTIONS})
  target_compile_definitions(${TARGET} PUBLIC ${MRCSIM_VERILATED_DEFINITIONS})
  target_include_directories(${TARGET} SYSTEM PUBLIC ${MRCSIM_VERILATED_INCLUDES})
endfunction()

# Verilator's runtime; what benches need beside it, waves; what testbenches in SystemVerilog need, time and DPI.
add_library(mrcsim_verilator STATIC EXCLUDE_FROM_ALL ${VERILATOR_ROOT}/include/verilated.cpp
            ${VERILATOR_ROOT}/include/verilated_cov.cpp ${VERILATOR_ROOT}/include/verilated_threads.cpp
            ${PROJECT_SOURCE_DIR}/tb/cosim/bench/verilated_failure.cpp)
_mrcsim_verilated_library(mrcsim_verilator)
target_include_directories(mrcsim_verilator PRIVATE ${PROJECT_SOURCE_DIR}/tb)
# Assertions that fail are the bench's.
set_source_files_properties(${VERILATOR_ROOT}/include/verilated.cpp PROPERTIES COMPILE_OPTIONS
                            "-include;${PROJECT_SOURCE_DIR}/tb/cosim/bench/verilated_print.h")
target_link_libraries(mrcsim_verilator PUBLIC Threads::Threads)
add_library(mrcsim_verilator_waves STATIC EXCLUDE_FROM_ALL ${VERILATOR_ROOT}/include/verilated_fst_c.cpp
            ${PROJECT_SOURCE_DIR}/sc_models/results/fst_errors.cpp)
_mrcsim_verilated_library(mrcsim_verilator_waves)
target_include_directories(mrcsim_verilator_waves PRIVATE ${PROJECT_SOURCE_DIR}/sc_models)
# The writer does not look at what its writes return.
set_source_files_properties(${VERILATOR_ROOT}/include/verilated_fst_c.cpp PROPERTIES COMPILE_OPTIONS
                            "-include;${PROJECT_SOURCE_DIR}/tb/cosim/bench/verilated_fst_errors.h")
target_link_libraries(mrcsim_verilator_waves PUBLIC mrcsim_verilator ZLIB::ZLIB)
add_library(mrcsim_verilator_timing STATIC EXCLUDE_FROM_ALL ${VERILATOR_ROOT}/include/verilated_dpi.cpp
            ${VERILATOR_ROOT}/include/verilated_timing.cpp)
_mrcsim_verilated_library(mrcsim_verilator_timing)
target_link_libraries(mrcsim_verilator_timing PUBLIC mrcsim_verilator)

# mrcsim_verilate(TARGET PREFIX TOP [BENCH [COVERAGE] [ASSERTIONS] | TESTBENCH] [LENIENT] [ARGS argument…] SOURCES file…)
#
# Adds a Verilated class PREFIX of module TOP to the library TARGET of this folder. ARGS go to Verilator. By itself it is as
# quick as can be. BENCH: it has waves, and begins with random bits where it is told to; COVERAGE: it counts lines and toggles.
# ASSERTIONS: its assertions are checked. TESTBENCH: the module is a testbench, with delays and assertions. LENIENT: warnings
# never end the build. Verilator runs while building, when a source has changed. Where MRCSIM_RTL_RUNS_SHORTLY is set, all is one
# source with little optimization (a bench: two), and COVERAGE counts no toggles; where MRCSIM_RTL_COUNTS_NOTHING is set,
# COVERAGE has no effect. Either takes a part of the time to build and run.
function(mrcsim_verilate TARGET PREFIX TOP)
  cmake_parse_arguments(ARG "BENCH;COVERAGE;ASSERTIONS;TESTBENCH;LENIENT" "" "ARGS;SOURCES" ${ARGN})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.dir/${PREFIX})
  set(arguments --top-module ${TOP} -Wall -O3 ${ARG_ARGS})
  if(ARG_LENIENT OR NOT MRCSIM_WARNINGS_AS_ERRORS)
    list(APPEND arguments -Wno-fatal)
  endif()
  set(optimization -O3)
  set(slow_optimization -O1)  # it clears all memories when a run begins
  set(fast 1)
  set(slow 1)
  if(ARG_BENCH)
    list(APPEND arguments --x-assign unique --x-initial unique --trace-fst)
    set(optimization -O2)
    set(slow_optimization -O0)
  elseif(NOT ARG_TESTBENCH)
    list(APPEND arguments --x-assign fast --x-initial fast)
  endif()
  if(ARG_COVERAGE AND NOT MRCSIM_RTL_COUNTS_NOTHING)
    # Counters for each bit of each signal were nine tenths of spray_scheduler's code, most of it for the widest.
    list(APPEND arguments --coverage-line --coverage-user)
    if(NOT MRCSIM_RTL_RUNS_SHORTLY)
      list(APPEND arguments --coverage-toggle --coverage-max-width 32)
    endif()
    set(optimization -O1)
    set(fast 2)
  endif()
  if(MRCSIM_RTL_RUNS_SHORTLY)
    set(optimization -O1)
    set(fast 1)
    if(NOT ARG_BENCH)  # there, tracing and assertions are much of the code
      set(slow 0)
    endif()
  endif()
  if(ARG_TESTBENCH)
    list(APPEND arguments --timing --assert)
    target_link_libraries(${TARGET} PUBLIC mrcsim_verilator_timing)
  elseif(ARG_ASSERTIONS)
    list(APPEND arguments --assert)
    target_compile_definitions(${TARGET} PUBLIC MRCSIM_BENCH_ASSERTIONS)
  else()
    list(APPEND arguments --noassert)
  endif()
  set(fast_units "")
  set(slow_units "")
  foreach(kind fast slow)
    set(i 0)
    while(i LESS ${kind})
      list(APPEND ${kind}_units ${folder}/${PREFIX}_${kind}${i}.cpp)
      math(EXPR i "${i} + 1")
    endwhile()
  endforeach()
  add_custom_command(OUTPUT ${folder}/${PREFIX}.h ${fast_units} ${slow_units}
    COMMAND ${MRCSIM_VERILATE} ${VERILATOR_BIN} ${folder} ${PREFIX} ${fast} ${slow} ${arguments} ${ARG_SOURCES}
    DEPENDS ${ARG_SOURCES} ${MRCSIM_VERILATE}
    DEPFILE ${folder}/${PREFIX}.d
    COMMENT "Verilating ${PREFIX}"
    VERBATIM)
  target_sources(${TARGET} PRIVATE ${folder}/${PREFIX}.h ${fast_units} ${slow_units})
  set_source_files_properties(${fast_units} PROPERTIES COMPILE_OPTIONS ${optimization})
  if(slow_units)
    set_source_files_properties(${slow_units} PROPERTIES COMPILE_OPTIONS ${slow_optimization})
  endif()
  target_include_directories(${TARGET} SYSTEM PUBLIC ${folder})
  add_dependencies(${TARGET} mrcsim_rtl_ports)
  get_target_property(is_verilated ${TARGET} MRCSIM_VERILATED)
  if(NOT is_verilated)
    set_target_properties(${TARGET} PROPERTIES MRCSIM_VERILATED ON)
    _mrcsim_verilated_library(${TARGET})
    target_link_libraries(${TARGET} PUBLIC mrcsim_verilator)
  endif()
  if(ARG_BENCH)
    target_link_libraries(${TARGET} PUBLIC mrcsim_verilator_waves)
  endif()
endfunction()

# Where executable PATH looks for its modules.
function(mrcsim_modules_folder VAR PATH)
  set(${VAR} ${PATH}.rtl PARENT_SCOPE)
endfunction()
# What C++ and SystemVerilog share of a block is described by rtl/BLOCK/BLOCK.sv, the package and tb/cosim/BLOCK/ports.toml;
# tb/cosim/rtl_ports.py makes of them BLOCK_flat.sv and BLOCK_run.sv, which are Verilated, and the headers cosim/BLOCK/ports.h and
# dut.h.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
set(MRCSIM_RTL_PORTS ${PROJECT_BINARY_DIR}/rtl_ports)
set(MRCSIM_RTL_PORTS_SCRIPT ${PROJECT_SOURCE_DIR}/tb/cosim/rtl_ports.py)
set(MRCSIM_RTL_PACKAGE ${PROJECT_SOURCE_DIR}/rtl/common/mrc_pkg.sv)
add_custom_command(OUTPUT ${MRCSIM_RTL_PORTS}/cosim/mrc_pkg.h
  COMMAND Python3::Interpreter ${MRCSIM_RTL_PORTS_SCRIPT} package ${MRCSIM_RTL_PACKAGE} ${MRCSIM_RTL_PORTS}/cosim
  DEPENDS ${MRCSIM_RTL_PACKAGE} ${MRCSIM_RTL_PORTS_SCRIPT}
  COMMENT "Types of rtl/common/mrc_pkg.sv for C++"
  VERBATIM)
add_custom_target(mrcsim_rtl_ports ALL DEPENDS ${MRCSIM_RTL_PORTS}/cosim/mrc_pkg.h)

function(_mrcsim_rtl_ports BLOCK)
  set(folder ${MRCSIM_RTL_PORTS}/cosim/${BLOCK})
  set(block ${PROJECT_SOURCE_DIR}/rtl/${BLOCK}/${BLOCK}.sv)
  set(ports ${PROJECT_SOURCE_DIR}/tb/cosim/${BLOCK}/ports.toml)
  set(written ${folder}/${BLOCK}_flat.sv ${folder}/${BLOCK}_run.sv ${folder}/ports.h ${folder}/dut.h)
  add_custom_command(OUTPUT ${written}
    COMMAND Python3::Interpreter ${MRCSIM_RTL_PORTS_SCRIPT} block ${MRCSIM_RTL_PACKAGE} ${block} ${ports} ${folder}
    DEPENDS ${MRCSIM_RTL_PACKAGE} ${block} ${ports} ${MRCSIM_RTL_PORTS_SCRIPT}
    COMMENT "Ports of ${BLOCK}"
    VERBATIM)
  add_custom_target(mrcsim_rtl_ports_${BLOCK} DEPENDS ${written})
  add_dependencies(mrcsim_rtl_ports mrcsim_rtl_ports_${BLOCK})
endfunction()

# mrcsim_add_rtl_block(BLOCK SOURCES file…
#                      [RUN "name [-Gparameter=value…]"…] [BENCH_SMALL -G…] [BENCH_DEFAULT -G…] [BENCH_CPP file…]
#                      [FOR executable [PARTS part…] [TOP module] [CONTRACT file] [ARGS argument…]] [ASSERTIONS])
#
# The RTL of a block from these sources, packages first; its flat wrapper comes after them. The executable takes what it
# knows of the block from tb/cosim/BLOCK/block.cpp.
#   module rtl_BLOCK     what runs take, by --rtl and --shadow: a class VBLOCK_<name> for each size of RUN, and tb/cosim/BLOCK/rtl.cpp,
#                        which chooses among them in make_BLOCK_rtl()
#   modules cosim_BLOCK_small, cosim_BLOCK_default
#                        what `mrcsim cosim` and `mrcsim calibrate` take: VBLOCK_bench_small or VBLOCK_bench, and
#                        make_BLOCK_bench_model() of tb/cosim/BLOCK/bench.cpp, with the library mrcsim_bench_BLOCK of the files
#                        BENCH_CPP
#   target cosim_BLOCK   both of them
# FOR: these are the modules of another executable (mrcsim_use_rtl); the sizes are those of our block. PARTS: of run, small and
# default, those that are built; the others are refused as not built. TOP: the module of the sources that replaces the block. ARGS go to Verilator. ASSERTIONS: those of rtl/BLOCK/assertions are
# bound to the block in its benches. Modules have the hash of their sources, and the block's contract, rtl/BLOCK/contract.toml if
# no other is given.
function(mrcsim_add_rtl_block BLOCK)
  cmake_parse_arguments(ARG "ASSERTIONS" "FOR;TOP;CONTRACT" "SOURCES;RUN;BENCH_SMALL;BENCH_DEFAULT;BENCH_CPP;ARGS;PARTS" ${ARGN})
  _mrcsim_begin_rtl(${BLOCK} RUN BENCH_SMALL BENCH_DEFAULT)
  if(NOT ARG_FOR)
    set_property(GLOBAL PROPERTY MRCSIM_RTL_${BLOCK}_SOURCES "${ARG_SOURCES}")
    set_property(GLOBAL APPEND PROPERTY MRCSIM_RTL_BLOCKS ${BLOCK})
    target_sources(mrcsim_rtl_blocks PRIVATE ${here}/block.cpp)
    list(TRANSFORM ARG_BENCH_CPP PREPEND ${here}/)
    add_library(mrcsim_bench_${BLOCK} STATIC EXCLUDE_FROM_ALL ${ARG_BENCH_CPP})
    _mrcsim_rtl_part(mrcsim_bench_${BLOCK})
    target_link_libraries(mrcsim_bench_${BLOCK} PUBLIC mrcsim_cosim_bench)
  endif()
  if(NOT ARG_PARTS)
    set(ARG_PARTS run small default)
  endif()
  if("run" IN_LIST ARG_PARTS)
    _mrcsim_add_run_module(${BLOCK})
  endif()

  set(cosim ${prefix}cosim_${BLOCK})
  set(benches "")
  set(checked "")
  if(ARG_ASSERTIONS)
    set(checked ASSERTIONS)
    mrcsim_assertions(assertions ${BLOCK})
    list(APPEND sources ${assertions})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_CONTRACT})
    file(STRINGS ${ARG_CONTRACT} ranges REGEX "^cycles *= *\"ranges\"")
    if(ranges)
      list(APPEND ARG_ARGS -DMRCSIM_OTHER_CYCLES)
    endif()
  endif()
  if("small" IN_LIST ARG_PARTS)
    _mrcsim_add_bench(${BLOCK}_bench_small ${cosim}_small COVERAGE ${checked} ${lenient} ARGS ${ARG_BENCH_SMALL} ${ARG_ARGS})
  endif()
  if("default" IN_LIST ARG_PARTS)
    _mrcsim_add_bench(${BLOCK}_bench ${cosim}_default ${checked} ${lenient} ARGS ${ARG_BENCH_DEFAULT} ${ARG_ARGS})
  endif()
  add_custom_target(${cosim} DEPENDS ${benches})
  if(NOT ARG_FOR)
    add_dependencies(rtl rtl_${BLOCK} ${cosim})
    install(TARGETS rtl_${BLOCK} ${benches} LIBRARY DESTINATION ${MRCSIM_MODULES_INSTALL} COMPONENT program OPTIONAL)
  endif()
endfunction()

# mrcsim_add_joined_rtl(NAME BLOCKS block… SOURCES file… RUN "name [-Gparameter=value…]"…
#                       [FOR executable [TOP module] [CONTRACT file] [ARGS argument…]])
#
# Neighbors in the data path, BLOCKS, joined in RTL: module rtl_NAME, which runs take by pins where all of them are in RTL, with a
# class VNAME_<name> for each size of RUN and tb/cosim/NAME/rtl.cpp. SOURCES, FOR and the rest as with mrcsim_add_rtl_block(). There
# is no bench.
function(mrcsim_add_joined_rtl NAME)
  cmake_parse_arguments(ARG "" "FOR;TOP;CONTRACT" "BLOCKS;SOURCES;RUN;ARGS" ${ARGN})
  _mrcsim_begin_rtl(${NAME} RUN)
  _mrcsim_add_run_module(${NAME})
  if(NOT ARG_FOR)
    set_property(GLOBAL PROPERTY MRCSIM_JOINED_${NAME} "${ARG_BLOCKS}")
    set_property(GLOBAL APPEND PROPERTY MRCSIM_JOINED_RTL ${NAME})
    add_dependencies(rtl rtl_${NAME})
    install(TARGETS rtl_${NAME} LIBRARY DESTINATION ${MRCSIM_MODULES_INSTALL} COMPONENT program OPTIONAL)
  endif()
endfunction()

# What mrcsim_add_rtl_block() and mrcsim_add_joined_rtl() begin with, whose variables these two use and set: `engine`, the library
# that runs and benches share, `prefix` of their targets, the `folder` of the modules, the `sources` with the flat wrapper and
# LENIENT for a user's. The sizes behind NAME are kept from our RTL for that of a user.
macro(_mrcsim_begin_rtl NAME)
  set(here ${PROJECT_SOURCE_DIR}/tb/cosim/${NAME})
  if(ARG_FOR)
    set(engine ${ARG_FOR}_engine_${NAME})
    set(prefix ${ARG_FOR}_)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/bin/${ARG_FOR}.rtl)
    set(lenient LENIENT)
    foreach(sizes ${ARGN})
      get_property(ARG_${sizes} GLOBAL PROPERTY MRCSIM_RTL_${NAME}_${sizes})
    endforeach()
  else()
    set(engine mrcsim_cosim_${NAME})
    set(prefix "")
    set(folder ${MRCSIM_MODULES})
    set(lenient "")
    foreach(sizes ${ARGN})
      set_property(GLOBAL PROPERTY MRCSIM_RTL_${NAME}_${sizes} "${ARG_${sizes}}")
    endforeach()
    _mrcsim_rtl_ports(${NAME})
  endif()
  if(NOT ARG_TOP)
    set(ARG_TOP ${NAME})
  endif()
  if(NOT ARG_CONTRACT)
    set(ARG_CONTRACT ${PROJECT_SOURCE_DIR}/rtl/${NAME}/contract.toml)
  endif()
  set(sources ${ARG_SOURCES})
  set(flat ${MRCSIM_RTL_PORTS}/cosim/${NAME}/${NAME}_flat.sv)
  if(NOT flat IN_LIST sources)
    list(APPEND sources ${flat})
  endif()
  _mrcsim_rtl_identity(${engine} ${NAME} ${ARG_TOP} ${ARG_CONTRACT} "${sources}" "${ARG_ARGS}")
endmacro()

# The module rtl_NAME, which runs take.
macro(_mrcsim_add_run_module NAME)
  add_library(${engine}_verilated STATIC EXCLUDE_FROM_ALL)
  foreach(size ${ARG_RUN})
    separate_arguments(size UNIX_COMMAND "${size}")
    list(POP_FRONT size name)
    mrcsim_verilate(${engine}_verilated V${NAME}_${name} ${NAME}_run ${lenient} ARGS ${size} ${ARG_ARGS}
                    SOURCES ${sources} ${MRCSIM_RTL_PORTS}/cosim/${NAME}/${NAME}_run.sv)
  endforeach()
  add_library(${engine} STATIC EXCLUDE_FROM_ALL ${here}/rtl.cpp)
  _mrcsim_rtl_part(${engine})
  target_link_libraries(${engine} PUBLIC ${engine}_verilated)
  _mrcsim_rtl_module("${prefix}" rtl_${NAME} ${NAME}/rtl.h make_${NAME}_rtl ${folder} ${engine})
  target_link_libraries(${prefix}rtl_${NAME} PRIVATE ${engine})
endmacro()

# The module MODULE of mrcsim_add_rtl_block(), whose variables it uses, with the Verilated class VCLASS.
macro(_mrcsim_add_bench CLASS MODULE)
  list(APPEND benches ${MODULE})
  add_library(${MODULE}_verilated STATIC EXCLUDE_FROM_ALL)
  mrcsim_verilate(${MODULE}_verilated V${CLASS} ${BLOCK}_flat BENCH ${ARGN} SOURCES ${sources})
  string(REPLACE "${cosim}" "cosim_${BLOCK}" name ${MODULE})
  _mrcsim_rtl_module("${prefix}" ${name} ${BLOCK}/bench.h cosim::make_${BLOCK}_bench_model ${folder} ${engine})
  target_sources(${MODULE} PRIVATE ${here}/bench.cpp)
  target_link_libraries(${MODULE} PRIVATE mrcsim_bench_${BLOCK} ${MODULE}_verilated)
endmacro()

# mrcsim_assertions(VAR BLOCK): VAR is the list of sources that bind the assertions of BLOCK to it.
function(mrcsim_assertions VAR BLOCK)
  set(common ${PROJECT_SOURCE_DIR}/rtl/common/assertions)
  set(folder ${PROJECT_SOURCE_DIR}/rtl/${BLOCK}/assertions)
  set(${VAR} ${common}/drawn_in_reset.sv ${common}/drawn_in_cycle.sv ${folder}/${BLOCK}_assertions.sv ${folder}/${BLOCK}_bind.sv
      PARENT_SCOPE)
endfunction()

# The header ENGINE_identity.h, from which the modules of ENGINE know what they were built from.
function(_mrcsim_rtl_identity ENGINE BLOCK TOP CONTRACT SOURCES ARGS)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${ENGINE}_identity.h)
  # Not what is written while building around the block, and of rtl/common what it uses.
  list(FILTER SOURCES EXCLUDE REGEX "^${MRCSIM_RTL_PORTS}/|_wrapper/${BLOCK}.sv$")
  list(FILTER SOURCES EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/rtl/common/")
  list(PREPEND SOURCES ${MRCSIM_RTL_PACKAGE})
  set(options --block ${BLOCK} --top ${TOP} --contract ${CONTRACT} --base ${PROJECT_SOURCE_DIR} --base ${CMAKE_CURRENT_SOURCE_DIR}
      --library ${PROJECT_SOURCE_DIR}/rtl/common)
  list(FILTER ARGS INCLUDE REGEX "^-I")
  list(TRANSFORM ARGS REPLACE "^-I(.*)$" "--include=\\1")
  add_custom_command(OUTPUT ${header}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tb/cosim/rtl_identity.py ${options} ${ARGS} --out ${header}
            --depfile ${header}.d ${SOURCES}
    DEPENDS ${SOURCES} ${CONTRACT} ${PROJECT_SOURCE_DIR}/tb/cosim/rtl_identity.py
    DEPFILE ${header}.d
    COMMENT "Hash of ${TOP}"
    VERBATIM)
  add_custom_target(${ENGINE}_identity DEPENDS ${header})
endfunction()

# mrcsim_write_rtl_block_table(TARGET): rtl_blocks(), of the blocks that were added, in TARGET.
function(mrcsim_write_rtl_block_table TARGET)
  get_property(blocks GLOBAL PROPERTY MRCSIM_RTL_BLOCKS)
  list(TRANSFORM blocks APPEND "_block()" OUTPUT_VARIABLE calls)
  list(TRANSFORM calls PREPEND "RtlBlock " OUTPUT_VARIABLE declarations)
  list(JOIN declarations ";\n" declarations)
  list(JOIN calls ", " calls)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/rtl_block_table.cpp @ONLY CONTENT
"// Written by mrcsim_write_rtl_block_table().
#include \"cosim/rtl_blocks.h\"

namespace mrc {

@declarations@;

const std::vector<RtlBlock>& rtl_blocks() {
  static const std::vector<RtlBlock> blocks{@calls@};
  return blocks;
}

}  // namespace mrc
")
  target_sources(${TARGET} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/rtl_block_table.cpp)
endfunction()

# A part of a module that is ours.
function(_mrcsim_rtl_part TARGET)
  set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${TARGET} PUBLIC ${PROJECT_SOURCE_DIR}/tb ${PROJECT_SOURCE_DIR}/sc_models ${MRCSIM_RTL_PORTS})
  add_dependencies(${TARGET} mrcsim_rtl_ports)
  target_link_libraries(${TARGET} PUBLIC mrc_protocol fmt::fmt PRIVATE mrcsim_options)
endfunction()

# The module NAME.so in FOLDER, target PREFIXNAME, which exports FACTORY, declared in HEADER.
function(_mrcsim_rtl_module PREFIX NAME HEADER FACTORY FOLDER ENGINE)
  set(target ${PREFIX}${NAME})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_module.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// Written by mrcsim_add_rtl_block().
#include \"@ENGINE@_identity.h\"
#include \"cosim/@HEADER@\"
#include \"cosim/rtl_module.h\"

MRCSIM_RTL_MODULE(mrc::@FACTORY@)
")
  add_library(${target} MODULE ${source})
  _mrcsim_rtl_part(${target})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${target} PRIVATE mrcsim_rtl_interface)
  add_dependencies(${target} mrcsim_rtl_interface_header ${ENGINE}_identity)
  target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${NAME} LIBRARY_OUTPUT_DIRECTORY ${FOLDER})
  if(NAME MATCHES "_default$")
    target_compile_definitions(${target} PRIVATE MRCSIM_BENCH_DEFAULT)
  endif()
endfunction()

# mrcsim_executable_for_rtl(NAME BLOCK): bin/NAME in this folder, which is mrcsim with its own modules for BLOCK
# (mrcsim_add_rtl_block FOR NAME); those of the other blocks are ours, unless a call for the same NAME replaces them too.
function(mrcsim_executable_for_rtl NAME BLOCK)
  set(path ${CMAKE_CURRENT_BINARY_DIR}/bin/${NAME})
  if(NOT TARGET ${NAME})
    add_custom_command(OUTPUT ${path} COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:mrcsim> ${path} DEPENDS mrcsim VERBATIM)
    add_custom_target(${NAME} ALL DEPENDS ${path})
    set_target_properties(${NAME} PROPERTIES MRCSIM_EXECUTABLE ${path})
    file(MAKE_DIRECTORY ${path}.rtl)
    # When all calls for it are known.
    set_property(GLOBAL PROPERTY MRCSIM_REPLACED_${NAME} "")
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _mrcsim_link_modules [[${NAME}]] [[${path}.rtl]])")
  endif()
  set_property(GLOBAL APPEND PROPERTY MRCSIM_REPLACED_${NAME} ${BLOCK})
  foreach(target ${NAME}_rtl_${BLOCK} ${NAME}_cosim_${BLOCK})
    if(TARGET ${target})
      add_dependencies(${NAME} ${target})
    endif()
  endforeach()
endfunction()

# Modules of executable NAME in FOLDER: ours of the blocks that it does not replace, and the list of targets of the others.
function(_mrcsim_link_modules NAME FOLDER)
  set(targets "")
  get_property(blocks GLOBAL PROPERTY MRCSIM_RTL_BLOCKS)
  get_property(replaced GLOBAL PROPERTY MRCSIM_REPLACED_${NAME})
  foreach(block ${blocks})
    foreach(module rtl_${block} cosim_${block}_small cosim_${block}_default)
      set(file ${FOLDER}/${module}.so)
      if(NOT block IN_LIST replaced)
        file(CREATE_LINK ${MRCSIM_MODULES}/${module}.so ${file} SYMBOLIC)
        continue()
      endif()
      string(APPEND targets "${module} ${NAME}_${module}\n")
      if(IS_SYMLINK ${file} OR NOT TARGET ${NAME}_${module})
        file(REMOVE ${file})
      endif()
    endforeach()
  endforeach()
  # Joined RTL has the blocks of ours: where one is replaced, its neighbors are not joined with it.
  get_property(all_joined GLOBAL PROPERTY MRCSIM_JOINED_RTL)
  foreach(joined ${all_joined})
    get_property(blocks GLOBAL PROPERTY MRCSIM_JOINED_${joined})
    set(file ${FOLDER}/rtl_${joined}.so)
    set(is_ours ON)
    foreach(block ${blocks})
      if(block IN_LIST replaced)
        set(is_ours OFF)
      endif()
    endforeach()
    if(joined IN_LIST replaced)
      string(APPEND targets "rtl_${joined} ${NAME}_rtl_${joined}\n")
      if(IS_SYMLINK ${file})
        file(REMOVE ${file})
      endif()
    elseif(is_ours)
      file(CREATE_LINK ${MRCSIM_MODULES}/rtl_${joined}.so ${file} SYMBOLIC)
    else()
      file(REMOVE ${file})
    endif()
  endforeach()
  file(WRITE ${FOLDER}/targets "${targets}")
endfunction()

# mrcsim_find_modules(TARGET): TARGET, an executable of the tests, takes mrcsim's modules.
function(mrcsim_find_modules TARGET)
  get_target_property(folder ${TARGET} BINARY_DIR)
  file(CREATE_LINK ${MRCSIM_MODULES} ${folder}/${TARGET}.rtl SYMBOLIC)
endfunction()

add_custom_target(rtl COMMENT "RTL of all blocks, and their benches")
