# mrcsim_use_rtl(NAME BLOCK block SOURCES file… [TOP module] [PIN_MAP ours=yours …] [PARAMETER_MAP ours=yours …])
#
# Executable NAME: mrcsim with your SystemVerilog in the place of ours for one block. SOURCES are yours, packages first
# (those of rtl/common are there already). TOP is your module, by default named like the block; its ports and parameters
# have the block's names (rtl/BLOCK/README.md) where PIN_MAP and PARAMETER_MAP do not say otherwise. A module named like the
# block with those ports is written around it, so that everything else stays as it is: adapter, bench, --rtl, --shadow, cosim,
# calibrate.
# Called from a folder that -DMRCSIM_USER_RTL=FOLDER adds to the build.
function(mrcsim_use_rtl NAME)
  cmake_parse_arguments(ARG "" "BLOCK;TOP" "SOURCES;PIN_MAP;PARAMETER_MAP" ${ARGN})
  get_property(blocks GLOBAL PROPERTY MRCSIM_RTL_BLOCKS)
  if(NOT ARG_BLOCK IN_LIST blocks)
    list(JOIN blocks ", " blocks)
    message(FATAL_ERROR "mrcsim_use_rtl(${NAME}): no block ${ARG_BLOCK}; there are: ${blocks}")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "mrcsim_use_rtl(${NAME}): SOURCES are missing")
  endif()
  list(TRANSFORM ARG_SOURCES REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  set(ours ${PROJECT_SOURCE_DIR}/rtl/${ARG_BLOCK}/${ARG_BLOCK}.sv)
  file(GLOB sources ${PROJECT_SOURCE_DIR}/rtl/common/*.sv)
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/rtl/common/mrc_pkg.sv)
  list(PREPEND sources ${PROJECT_SOURCE_DIR}/rtl/common/mrc_pkg.sv)
  list(APPEND sources ${ARG_SOURCES})
  if(ARG_TOP AND NOT ARG_TOP STREQUAL ARG_BLOCK)
    _mrcsim_write_wrapper(${NAME} ${ARG_BLOCK} ${ARG_TOP} ${ours} "${ARG_PIN_MAP}" "${ARG_PARAMETER_MAP}")
    list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_wrapper/${ARG_BLOCK}.sv)
  elseif(ARG_PIN_MAP OR ARG_PARAMETER_MAP)
    message(FATAL_ERROR "mrcsim_use_rtl(${NAME}): PIN_MAP and PARAMETER_MAP need a TOP with a name other than ${ARG_BLOCK}")
  endif()
  mrcsim_add_rtl_block(${ARG_BLOCK} FOR ${NAME} SOURCES ${sources})
  mrcsim_executable_for_rtl(${NAME} ${ARG_BLOCK})
endfunction()

# The module BLOCK with the header of ours, and TOP inside, each pin by its name.
function(_mrcsim_write_wrapper NAME BLOCK TOP OURS PIN_MAP PARAMETER_MAP)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${OURS})
  file(READ ${OURS} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(FIND "${text}" "module ${BLOCK}" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "\n);" end)
  string(SUBSTRING "${text}" 0 ${end} header)
  string(FIND "${header}" "\n) (" ports_at)
  string(SUBSTRING "${header}" 0 ${ports_at} parameters)
  string(SUBSTRING "${header}" ${ports_at} -1 ports)
  string(REGEX MATCHALL "[a-z][a-z0-9_]*_n?[io] *(,|\n|$)" pins "${ports},")
  string(REGEX MATCHALL "parameter [^=\n]*=" parameter_lines "${parameters}")
  set(parameter_names "")
  foreach(line ${parameter_lines})
    string(REGEX REPLACE "^.* ([A-Za-z0-9_]+) *=$" "\\1" name "${line}")
    list(APPEND parameter_names ${name})
  endforeach()
  _mrcsim_connect(pin_list "${pins}" "${PIN_MAP}" ${NAME} PIN_MAP)
  _mrcsim_connect(parameter_list "${parameter_names}" "${PARAMETER_MAP}" ${NAME} PARAMETER_MAP)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_wrapper/${BLOCK}.sv @ONLY CONTENT
"// ${TOP} with the ports of ${BLOCK}; written by mrcsim_use_rtl(${NAME}).
// The header is the whole one of ${BLOCK}: some of its parameters are used in the body of that module only.
/* verilator lint_off UNUSEDPARAM */
@header@
);
/* verilator lint_on UNUSEDPARAM */

  ${TOP} #(
    @parameter_list@
  ) u_${TOP} (
    @pin_list@
  );

endmodule
")
endfunction()

# ".yours(ours)" for each of NAMES, mapped by "ours=yours"; an entry that maps none of them is an error.
function(_mrcsim_connect OUT NAMES MAP TARGET OPTION)
  set(connections "")
  set(left ${MAP})
  foreach(name ${NAMES})
    string(REGEX MATCH "[A-Za-z0-9_]+" name "${name}")
    set(yours ${name})
    foreach(entry ${MAP})
      if(entry MATCHES "^${name}=(.+)$")
        set(yours ${CMAKE_MATCH_1})
        list(REMOVE_ITEM left ${entry})
      endif()
    endforeach()
    list(APPEND connections ".${yours}(${name})")
  endforeach()
  if(left)
    message(FATAL_ERROR "mrcsim_use_rtl(${TARGET}): ${OPTION} ${left}: the block has no such name")
  endif()
  list(JOIN connections ",\n    " connections)
  set(${OUT} "${connections}" PARENT_SCOPE)
endfunction()
