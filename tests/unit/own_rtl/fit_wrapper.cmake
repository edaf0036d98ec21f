# Ours under another name in the module that mrcsim_use_rtl() writes around a user's, for Verilator's lint:
# cmake -DBLOCK=… -DPROJECT_SOURCE_DIR=… -DVERILATOR=… -DPORTS=… -DWORK=… -P fit_wrapper.cmake
cmake_minimum_required(VERSION 3.25)
set(CMAKE_CURRENT_BINARY_DIR ${WORK})
include(${PROJECT_SOURCE_DIR}/tb/cmake/MrcsimUseRtl.cmake)
set(folder ${PROJECT_SOURCE_DIR}/rtl/${BLOCK})
file(READ ${folder}/${BLOCK}.sv text)
string(REGEX REPLACE "(^|\n)module ${BLOCK}([ \n#])" "\\1module own_${BLOCK}\\2" own "${text}")
if(own STREQUAL text)
  message(FATAL_ERROR "${folder}/${BLOCK}.sv has no module ${BLOCK}")
endif()
file(WRITE ${WORK}/own_${BLOCK}.sv "${own}")
_mrcsim_write_wrapper(own_${BLOCK} ${BLOCK} own_${BLOCK} ${folder}/${BLOCK}.sv "" "")
file(GLOB common ${PROJECT_SOURCE_DIR}/rtl/common/*.sv)
file(GLOB parts ${folder}/*.sv)
list(REMOVE_ITEM common ${PROJECT_SOURCE_DIR}/rtl/common/mrc_pkg.sv)
list(REMOVE_ITEM parts ${folder}/${BLOCK}.sv)
execute_process(
  COMMAND ${VERILATOR} --lint-only -Wall --top-module ${BLOCK}_flat ${PROJECT_SOURCE_DIR}/rtl/common/mrc_pkg.sv ${common} ${parts}
          ${WORK}/own_${BLOCK}.sv ${WORK}/own_${BLOCK}_wrapper/${BLOCK}.sv
          ${PORTS}/cosim/${BLOCK}/${BLOCK}_flat.sv
  COMMAND_ERROR_IS_FATAL ANY)
