# mrcsim_use_rtl(NAME BLOCK block SOURCES file… [TOP module] [CONTRACT file] [PIN_MAP ours=yours …] [PARAMETER_MAP ours=yours …]
#                [INCLUDE_DIRS folder…] [DEFINES NAME[=value]…] [PARTS part…] [ASSERTIONS])
#
# Executable NAME: mrcsim with your SystemVerilog in the place of ours for one block; with several calls of the same NAME, for
# several. SOURCES are yours, packages first (mrc_pkg.sv is there already, and modules of rtl/common that you use and do not
# define). TOP is your module, by default named like the block; its ports and parameters have the block's names
# (rtl/BLOCK/README.md) where PIN_MAP, PARAMETER_MAP and the contract do not say otherwise. A module named like the block with
# those ports is written around it, so that everything else stays as it is: adapter, bench, --rtl, --shadow, cosim, calibrate.
# CONTRACT: what your block promises (docs/rtl.md), by default contract.toml beside this file, or else what ours promises.
# PARTS: of run, small and default, those that are built: the RTL in runs, and the benches of the two sizes.
# ASSERTIONS: those of rtl/BLOCK/assertions are bound to your RTL in the benches.
# tests/mutation/rtl_mutants.sh --for bin/NAME.rtl/BLOCK.sources plants mutations in it.
# Called from a folder that -DMRCSIM_USER_RTL=FOLDER adds to the build. A folder that is refused leaves the build folder as it was.
function(mrcsim_use_rtl NAME)
  cmake_parse_arguments(ARG "ASSERTIONS" "BLOCK;TOP;CONTRACT" "SOURCES;PIN_MAP;PARAMETER_MAP;INCLUDE_DIRS;DEFINES;PARTS" ${ARGN})
  set_property(GLOBAL PROPERTY MRCSIM_USES_RTL ON)
  set(where ${CMAKE_CURRENT_LIST_FILE})
  get_property(blocks GLOBAL PROPERTY MRCSIM_RTL_BLOCKS)
  get_property(joined GLOBAL PROPERTY MRCSIM_JOINED_RTL)
  list(APPEND blocks ${joined})
  list(JOIN blocks ", " all_blocks)
  if(ARG_UNPARSED_ARGUMENTS)
    _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_BLOCK IN_LIST blocks)
    _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): no block ${ARG_BLOCK}; there are: ${all_blocks}")
  endif()
  get_property(replaced GLOBAL PROPERTY MRCSIM_REPLACED_${NAME})
  if(TARGET ${NAME} AND NOT replaced)
    _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): a target of mrcsim itself has this name; choose another")
  endif()
  if(ARG_BLOCK IN_LIST replaced)
    _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): ${ARG_BLOCK} is replaced twice")
  endif()
  foreach(part ${ARG_PARTS})
    if(NOT part MATCHES "^(run|small|default)$")
      _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): PARTS: no ${part}; there are: run, small, default")
    endif()
  endforeach()
  if(NOT ARG_SOURCES)
    _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): SOURCES are missing")
  endif()
  if(NOT ARG_TOP)
    set(ARG_TOP ${ARG_BLOCK})
  endif()
  if(NOT ARG_CONTRACT AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/contract.toml)
    set(ARG_CONTRACT contract.toml)
  elseif(NOT ARG_CONTRACT)
    set(ARG_CONTRACT ${PROJECT_SOURCE_DIR}/rtl/${ARG_BLOCK}/contract.toml)
  endif()
  foreach(list ARG_SOURCES ARG_INCLUDE_DIRS ARG_CONTRACT)
    list(TRANSFORM ${list} REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  endforeach()
  foreach(file ${ARG_SOURCES} ${ARG_CONTRACT})
    get_source_file_property(generated ${file} GENERATED)
    if(NOT EXISTS ${file} AND NOT generated)
      _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): ${file} does not exist")
    endif()
  endforeach()
  _mrcsim_check_contract(${ARG_BLOCK} ${ARG_TOP} ${ARG_CONTRACT} "${ARG_PIN_MAP}" "${ARG_PARAMETER_MAP}")
  set(sources ${PROJECT_SOURCE_DIR}/rtl/common/mrc_pkg.sv ${ARG_SOURCES})
  list(TRANSFORM ARG_INCLUDE_DIRS PREPEND -I)
  list(TRANSFORM ARG_DEFINES PREPEND -D)
  set(arguments -y ${PROJECT_SOURCE_DIR}/rtl/common ${ARG_INCLUDE_DIRS} ${ARG_DEFINES})
  if(NOT ARG_TOP STREQUAL ARG_BLOCK)
    _mrcsim_wrap_rtl(wrapper ${NAME} ${ARG_BLOCK} ${ARG_TOP} ${ARG_CONTRACT} "${ARG_PIN_MAP}" "${ARG_PARAMETER_MAP}")
    list(APPEND sources ${wrapper})
  elseif(ARG_PIN_MAP OR ARG_PARAMETER_MAP)
    _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): PIN_MAP and PARAMETER_MAP need a TOP with a name other than ${ARG_BLOCK}")
  endif()
  set(assertions "")
  if(ARG_ASSERTIONS)
    set(assertions ASSERTIONS)
  endif()
  if(ARG_BLOCK IN_LIST joined)
    if(ARG_PARTS OR ARG_ASSERTIONS)
      _mrcsim_refuse_rtl("${where}: mrcsim_use_rtl(${NAME}): PARTS and ASSERTIONS are of benches, which ${ARG_BLOCK} has not")
    endif()
    mrcsim_add_joined_rtl(${ARG_BLOCK} FOR ${NAME} TOP ${ARG_TOP} CONTRACT ${ARG_CONTRACT} SOURCES ${sources} ARGS ${arguments})
  else()
    mrcsim_add_rtl_block(${ARG_BLOCK} FOR ${NAME} TOP ${ARG_TOP} CONTRACT ${ARG_CONTRACT} PARTS ${ARG_PARTS} SOURCES ${sources}
                         ARGS ${arguments} ${assertions})
  endif()
  mrcsim_executable_for_rtl(${NAME} ${ARG_BLOCK})
  # For the tool that plants mutations.
  list(TRANSFORM sources PREPEND "source ")
  list(TRANSFORM ARG_INCLUDE_DIRS PREPEND "argument ")
  list(TRANSFORM ARG_DEFINES PREPEND "argument ")
  list(JOIN sources "\n" lines)
  list(JOIN ARG_INCLUDE_DIRS "\n" include_dirs)
  list(JOIN ARG_DEFINES "\n" defines)
  set(lines "top ${ARG_TOP}\nfolder ${CMAKE_CURRENT_SOURCE_DIR}\ncontract ${ARG_CONTRACT}\n${lines}\n${include_dirs}\n${defines}")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/bin/${NAME}.rtl/${ARG_BLOCK}.sources @ONLY CONTENT "@lines@\n")
endfunction()

# Ends the configuration with one line of ours (tb/build.sh prints that line alone).
function(_mrcsim_refuse_rtl TEXT)
  message(NOTICE "mrcsim: ${TEXT}")
  message(FATAL_ERROR "A folder of your RTL is not accepted, see the line above. -DMRCSIM_USER_RTL= configures without one.")
endfunction()

# VAR: the folder of MRCSIM_USER_RTL. Until the configuration has ended well, the cache keeps the folder that was configured
# last, so that a folder that is refused leaves the build folder as it was.
function(_mrcsim_begin_user_rtl VAR)
  set(folder "${MRCSIM_USER_RTL}")
  if(NOT folder STREQUAL "")
    get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  endif()
  get_property(help CACHE MRCSIM_USER_RTL PROPERTY HELPSTRING)
  set(MRCSIM_USER_RTL "${MRCSIM_CONFIGURED_USER_RTL}" CACHE PATH "${help}" FORCE)
  set(allowed "allowed: a folder whose CMakeLists.txt calls mrcsim_use_rtl() (docs/rtl.md, \"Your own RTL\"), or -DMRCSIM_USER_RTL= for none")
  if(NOT folder STREQUAL "" AND NOT IS_DIRECTORY "${folder}")
    _mrcsim_refuse_rtl("MRCSIM_USER_RTL: ${folder}: no such folder; ${allowed}")
  elseif(NOT folder STREQUAL "" AND NOT EXISTS "${folder}/CMakeLists.txt")
    _mrcsim_refuse_rtl("MRCSIM_USER_RTL: ${folder}: CMakeLists.txt is missing; ${allowed}")
  endif()
  set(${VAR} "${folder}" PARENT_SCOPE)
endfunction()

function(_mrcsim_require_used_rtl FOLDER)
  get_property(uses GLOBAL PROPERTY MRCSIM_USES_RTL)
  if(NOT uses)
    _mrcsim_refuse_rtl("MRCSIM_USER_RTL: ${FOLDER}/CMakeLists.txt: mrcsim_use_rtl() is not called, so no block is replaced; docs/rtl.md, \"Your own RTL\", has an example; -DMRCSIM_USER_RTL= for none")
  endif()
endfunction()

# The configuration has ended well.
function(_mrcsim_end_user_rtl FOLDER)
  get_property(help CACHE MRCSIM_USER_RTL PROPERTY HELPSTRING)
  set(MRCSIM_USER_RTL "${FOLDER}" CACHE PATH "${help}" FORCE)
  set(MRCSIM_CONFIGURED_USER_RTL "${FOLDER}" CACHE INTERNAL "MRCSIM_USER_RTL of the last configuration that ended well")
endfunction()

# What can be said of the contract and the maps before anything is built.
function(_mrcsim_check_contract BLOCK TOP CONTRACT PIN_MAP PARAMETER_MAP)
  list(TRANSFORM PIN_MAP PREPEND --pin=)
  list(TRANSFORM PARAMETER_MAP PREPEND --parameter=)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tb/cosim/rtl_wrapper.py --header ${PROJECT_SOURCE_DIR}/rtl/${BLOCK}/${BLOCK}.sv
            --top ${TOP} --contract ${CONTRACT} --check ${PIN_MAP} ${PARAMETER_MAP}
    RESULT_VARIABLE failed ERROR_VARIABLE error OUTPUT_QUIET ERROR_STRIP_TRAILING_WHITESPACE)
  if(failed)
    string(REGEX REPLACE "^rtl_wrapper.py: " "" error "${error}")
    _mrcsim_refuse_rtl("${error}")
  endif()
endfunction()

# VAR: the module BLOCK with the header of ours, and TOP inside.
function(_mrcsim_wrap_rtl VAR NAME BLOCK TOP CONTRACT PIN_MAP PARAMETER_MAP)
  set(header ${PROJECT_SOURCE_DIR}/rtl/${BLOCK}/${BLOCK}.sv)
  set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_wrapper/${BLOCK}.sv)
  list(TRANSFORM PIN_MAP PREPEND --pin=)
  list(TRANSFORM PARAMETER_MAP PREPEND --parameter=)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_wrapper)
  set(scripts ${PROJECT_SOURCE_DIR}/tb/cosim/rtl_wrapper.py ${MRCSIM_RTL_PORTS_SCRIPT})
  add_custom_command(OUTPUT ${wrapper}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tb/cosim/rtl_wrapper.py --header ${header} --top ${TOP} --contract ${CONTRACT}
            --out ${wrapper} ${PIN_MAP} ${PARAMETER_MAP}
    DEPENDS ${header} ${CONTRACT} ${scripts} ${MRCSIM_RTL_PACKAGE}
    COMMENT "${TOP} with the ports of ${BLOCK}"
    VERBATIM)
  set(${VAR} ${wrapper} PARENT_SCOPE)
endfunction()
