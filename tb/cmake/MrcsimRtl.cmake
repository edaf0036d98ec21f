# RTL: Verilated while building, each block as two modules that mrcsim loads when it is asked for them. See docs/rtl.md.

include(GNUInstallDirs)
# An executable looks for its modules in a folder with its name and .rtl.
set(MRCSIM_MODULES ${PROJECT_BINARY_DIR}/tb/mrcsim/mrcsim.rtl)
set(MRCSIM_MODULES_INSTALL ${CMAKE_INSTALL_LIBDIR}/mrcsim)
# From the installed executable.
file(RELATIVE_PATH MRCSIM_INSTALLED_MODULES /${CMAKE_INSTALL_BINDIR} /${MRCSIM_MODULES_INSTALL})

# Names are looked up in the module alone: each has its own Verilator runtime.
set(MRCSIM_VERILATED_OPTIONS -w -fvisibility=hidden -fvisibility-inlines-hidden)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND MRCSIM_VERILATED_OPTIONS -fcf-protection=none)
endif()
set(MRCSIM_VERILATED_DEFINITIONS VL_TIME_CONTEXT VM_COVERAGE=1 VM_SC=0 VM_TRACE=1 VM_TRACE_FST=1 VM_TRACE_VCD=0)
set(MRCSIM_VERILATED_INCLUDES ${VERILATOR_ROOT}/include ${VERILATOR_ROOT}/include/vltstd)
set(MRCSIM_VERILATE ${CMAKE_CURRENT_LIST_DIR}/verilate.sh)

# _mrcsim_verilated_library(TARGET): how everything from Verilator is compiled, apart from the level of optimization.
function(_mrcsim_verilated_library TARGET)
  set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options(${TARGET} PRIVATE ${MRCSIM_VERILATED_OPTIONS})
  target_compile_definitions(${TARGET} PUBLIC ${MRCSIM_VERILATED_DEFINITIONS})
  target_include_directories(${TARGET} SYSTEM PUBLIC ${MRCSIM_VERILATED_INCLUDES})
endfunction()

# Verilator's runtime; what benches need beside it, waves; what testbenches in SystemVerilog need, time and DPI.
add_library(mrcsim_verilator STATIC EXCLUDE_FROM_ALL ${VERILATOR_ROOT}/include/verilated.cpp
            ${VERILATOR_ROOT}/include/verilated_cov.cpp ${VERILATOR_ROOT}/include/verilated_threads.cpp)
_mrcsim_verilated_library(mrcsim_verilator)
target_link_libraries(mrcsim_verilator PUBLIC Threads::Threads)
add_library(mrcsim_verilator_waves STATIC EXCLUDE_FROM_ALL ${VERILATOR_ROOT}/include/verilated_fst_c.cpp)
_mrcsim_verilated_library(mrcsim_verilator_waves)
target_link_libraries(mrcsim_verilator_waves PUBLIC mrcsim_verilator ZLIB::ZLIB)
add_library(mrcsim_verilator_timing STATIC EXCLUDE_FROM_ALL ${VERILATOR_ROOT}/include/verilated_dpi.cpp
            ${VERILATOR_ROOT}/include/verilated_timing.cpp)
_mrcsim_verilated_library(mrcsim_verilator_timing)
target_link_libraries(mrcsim_verilator_timing PUBLIC mrcsim_verilator)

# mrcsim_verilate(TARGET PREFIX TOP [BENCH [COVERAGE] | TESTBENCH] [ARGS argument…] SOURCES file…)
#
# Adds a Verilated class PREFIX of module TOP to the library TARGET of this folder. ARGS go to Verilator. By itself it is as
# quick as can be. BENCH: it has waves, and begins with random bits where it is told to; COVERAGE: it counts lines and toggles.
# TESTBENCH: the module is a testbench, with delays and assertions. Verilator runs while building, when a source has changed.
function(mrcsim_verilate TARGET PREFIX TOP)
  cmake_parse_arguments(ARG "BENCH;COVERAGE;TESTBENCH" "" "ARGS;SOURCES" ${ARGN})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.dir/${PREFIX})
  set(arguments --top-module ${TOP} -Wall -O3 ${ARG_ARGS})
  if(NOT MRCSIM_WARNINGS_AS_ERRORS)
    list(APPEND arguments -Wno-fatal)
  endif()
  set(optimization -O3)
  set(fast 1)
  set(slow 1)
  if(ARG_BENCH)
    list(APPEND arguments --x-assign unique --x-initial unique --trace-fst)
    set(optimization -O2)
  elseif(NOT ARG_TESTBENCH)
    list(APPEND arguments --x-assign fast --x-initial fast)
  endif()
  if(ARG_COVERAGE)
    list(APPEND arguments --coverage)
    set(optimization -O1)
    set(fast 3)
    set(slow 2)
  endif()
  if(ARG_TESTBENCH)
    list(APPEND arguments --timing --assert)
    target_link_libraries(${TARGET} PUBLIC mrcsim_verilator_timing)
  else()
    list(APPEND arguments --noassert)
  endif()
  set(fast_units "")
  set(slow_units "")
  foreach(kind fast slow)
    foreach(i RANGE 1 ${${kind}})
      math(EXPR i "${i} - 1")
      list(APPEND ${kind}_units ${folder}/${PREFIX}_${kind}${i}.cpp)
    endforeach()
  endforeach()
  add_custom_command(OUTPUT ${folder}/${PREFIX}.h ${fast_units} ${slow_units}
    COMMAND ${MRCSIM_VERILATE} ${VERILATOR_BIN} ${folder} ${PREFIX} ${fast} ${slow} ${arguments} ${ARG_SOURCES}
    DEPENDS ${ARG_SOURCES} ${MRCSIM_VERILATE}
    DEPFILE ${folder}/${PREFIX}.d
    COMMENT "Verilating ${PREFIX}"
    VERBATIM)
  target_sources(${TARGET} PRIVATE ${folder}/${PREFIX}.h ${fast_units} ${slow_units})
  set_source_files_properties(${fast_units} PROPERTIES COMPILE_OPTIONS ${optimization})
  set_source_files_properties(${slow_units} PROPERTIES COMPILE_OPTIONS -O0)
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
# tb/cosim/rtl_ports.py makes of them BLOCK_flat.sv, which is Verilated, and the headers cosim/BLOCK/ports.h and dut.h.
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
  add_custom_command(OUTPUT ${folder}/${BLOCK}_flat.sv ${folder}/ports.h ${folder}/dut.h
    COMMAND Python3::Interpreter ${MRCSIM_RTL_PORTS_SCRIPT} block ${MRCSIM_RTL_PACKAGE} ${block} ${ports} ${folder}
    DEPENDS ${MRCSIM_RTL_PACKAGE} ${block} ${ports} ${MRCSIM_RTL_PORTS_SCRIPT}
    COMMENT "Ports of ${BLOCK}"
    VERBATIM)
  add_custom_target(mrcsim_rtl_ports_${BLOCK} DEPENDS ${folder}/${BLOCK}_flat.sv ${folder}/ports.h ${folder}/dut.h)
  add_dependencies(mrcsim_rtl_ports mrcsim_rtl_ports_${BLOCK})
endfunction()

# mrcsim_add_rtl_block(BLOCK SOURCES file…
#                      [RUN "name [-Gparameter=value…]"…] [BENCH_SMALL -G…] [BENCH_DEFAULT -G…] [BENCH_CPP file…]
#                      [FOR executable [NO_BENCH]])
#
# The RTL of a block from these sources, packages first; its flat wrapper comes after them. The executable takes what it
# knows of the block from tb/cosim/BLOCK/block.cpp.
#   module rtl_BLOCK     what runs take, by --rtl and --shadow: a class VBLOCK_<name> for each size of RUN, and tb/cosim/BLOCK/rtl.cpp,
#                        which chooses among them in make_BLOCK_rtl()
#   module cosim_BLOCK   what `mrcsim cosim` and `mrcsim calibrate` take: VBLOCK_bench_small and VBLOCK_bench, and
#                        tb/cosim/BLOCK/bench.cpp, which chooses in make_BLOCK_bench_model(), with the library
#                        mrcsim_bench_BLOCK of the files BENCH_CPP
# FOR: these are the modules of another executable (mrcsim_use_rtl); the sizes are those of our block.
function(mrcsim_add_rtl_block BLOCK)
  cmake_parse_arguments(ARG "NO_BENCH" "FOR" "SOURCES;RUN;BENCH_SMALL;BENCH_DEFAULT;BENCH_CPP" ${ARGN})
  set(here ${PROJECT_SOURCE_DIR}/tb/cosim/${BLOCK})
  if(ARG_FOR)
    set(engine ${ARG_FOR}_engine)
    set(modules rtl ${ARG_FOR}_rtl cosim ${ARG_FOR}_cosim)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/bin/${ARG_FOR}.rtl)
    foreach(sizes RUN BENCH_SMALL BENCH_DEFAULT)
      get_property(ARG_${sizes} GLOBAL PROPERTY MRCSIM_RTL_${BLOCK}_${sizes})
    endforeach()
  else()
    set(engine mrcsim_cosim_${BLOCK})
    set(modules rtl rtl_${BLOCK} cosim cosim_${BLOCK})
    set(folder ${MRCSIM_MODULES})
    foreach(sizes SOURCES RUN BENCH_SMALL BENCH_DEFAULT)
      set_property(GLOBAL PROPERTY MRCSIM_RTL_${BLOCK}_${sizes} "${ARG_${sizes}}")
    endforeach()
    set_property(GLOBAL APPEND PROPERTY MRCSIM_RTL_BLOCKS ${BLOCK})
    _mrcsim_rtl_ports(${BLOCK})
    target_sources(mrcsim_rtl_blocks PRIVATE ${here}/block.cpp)
    list(TRANSFORM ARG_BENCH_CPP PREPEND ${here}/)
    add_library(mrcsim_bench_${BLOCK} STATIC EXCLUDE_FROM_ALL ${ARG_BENCH_CPP})
    _mrcsim_rtl_part(mrcsim_bench_${BLOCK})
    target_link_libraries(mrcsim_bench_${BLOCK} PUBLIC mrcsim_cosim_bench)
  endif()
  set(sources ${ARG_SOURCES})
  set(flat ${MRCSIM_RTL_PORTS}/cosim/${BLOCK}/${BLOCK}_flat.sv)
  if(NOT flat IN_LIST sources)
    list(APPEND sources ${flat})
  endif()

  add_library(${engine}_verilated STATIC EXCLUDE_FROM_ALL)
  foreach(size ${ARG_RUN})
    separate_arguments(size UNIX_COMMAND "${size}")
    list(POP_FRONT size name)
    mrcsim_verilate(${engine}_verilated V${BLOCK}_${name} ${BLOCK}_flat ARGS ${size} SOURCES ${sources})
  endforeach()
  add_library(${engine} STATIC EXCLUDE_FROM_ALL ${here}/rtl.cpp)
  _mrcsim_rtl_part(${engine})
  target_link_libraries(${engine} PUBLIC ${engine}_verilated)
  _mrcsim_rtl_module(${BLOCK} rtl rtl.h make_${BLOCK}_rtl "${modules}" ${folder})
  list(GET modules 1 rtl)
  target_link_libraries(${rtl} PRIVATE ${engine})
  if(ARG_NO_BENCH)
    return()
  endif()

  list(GET modules 3 cosim)
  add_library(${cosim}_verilated STATIC EXCLUDE_FROM_ALL)
  mrcsim_verilate(${cosim}_verilated V${BLOCK}_bench_small ${BLOCK}_flat BENCH COVERAGE ARGS ${ARG_BENCH_SMALL} SOURCES ${sources})
  mrcsim_verilate(${cosim}_verilated V${BLOCK}_bench ${BLOCK}_flat BENCH ARGS ${ARG_BENCH_DEFAULT} SOURCES ${sources})
  _mrcsim_rtl_module(${BLOCK} cosim bench.h cosim::make_${BLOCK}_bench_model "${modules}" ${folder})
  target_sources(${cosim} PRIVATE ${here}/bench.cpp)
  target_link_libraries(${cosim} PRIVATE mrcsim_bench_${BLOCK} ${cosim}_verilated)
  if(NOT ARG_FOR)
    add_dependencies(rtl ${rtl} ${cosim})
    install(TARGETS ${rtl} ${cosim} LIBRARY DESTINATION ${MRCSIM_MODULES_INSTALL} COMPONENT program OPTIONAL)
  endif()
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

# The module of KIND (rtl, cosim), which exports FACTORY, declared in the block's HEADER.
function(_mrcsim_rtl_module BLOCK KIND HEADER FACTORY MODULES FOLDER)
  list(FIND MODULES ${KIND} at)
  math(EXPR at "${at} + 1")
  list(GET MODULES ${at} target)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_module.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// Written by mrcsim_add_rtl_block().
#include \"cosim/@BLOCK@/@HEADER@\"
#include \"cosim/rtl_module.h\"

MRCSIM_RTL_MODULE(mrc::@FACTORY@)
")
  add_library(${target} MODULE ${source})
  _mrcsim_rtl_part(${target})
  target_link_libraries(${target} PRIVATE mrcsim_rtl_interface)
  add_dependencies(${target} mrcsim_rtl_interface_header)
  target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${KIND}_${BLOCK} LIBRARY_OUTPUT_DIRECTORY ${FOLDER})
endfunction()

# mrcsim_executable_for_rtl(NAME BLOCK): bin/NAME in this folder, which is mrcsim with its own modules for BLOCK
# (mrcsim_add_rtl_block FOR NAME); those of the other blocks are ours.
function(mrcsim_executable_for_rtl NAME BLOCK)
  set(path ${CMAKE_CURRENT_BINARY_DIR}/bin/${NAME})
  add_custom_command(OUTPUT ${path} COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:mrcsim> ${path} DEPENDS mrcsim VERBATIM)
  add_custom_target(${NAME} ALL DEPENDS ${path})
  set_target_properties(${NAME} PROPERTIES MRCSIM_EXECUTABLE ${path})
  set(folder ${path}.rtl)
  file(MAKE_DIRECTORY ${folder})
  get_property(blocks GLOBAL PROPERTY MRCSIM_RTL_BLOCKS)
  foreach(block ${blocks})
    if(NOT block STREQUAL BLOCK)
      file(CREATE_LINK ${MRCSIM_MODULES}/rtl_${block}.so ${folder}/rtl_${block}.so SYMBOLIC)
      file(CREATE_LINK ${MRCSIM_MODULES}/cosim_${block}.so ${folder}/cosim_${block}.so SYMBOLIC)
    endif()
  endforeach()
  foreach(part rtl cosim)
    if(TARGET ${NAME}_${part})
      add_dependencies(${NAME} ${NAME}_${part})
    endif()
  endforeach()
endfunction()

# mrcsim_find_modules(TARGET): TARGET, an executable of the tests, takes mrcsim's modules.
function(mrcsim_find_modules TARGET)
  get_target_property(folder ${TARGET} BINARY_DIR)
  file(CREATE_LINK ${MRCSIM_MODULES} ${folder}/${TARGET}.rtl SYMBOLIC)
endfunction()

add_custom_target(rtl COMMENT "RTL of all blocks, and their benches")
