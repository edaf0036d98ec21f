# Ours under another name in the module that mrcsim_use_rtl() writes around a user's, for Verilator's lint:
# cmake -DBLOCK=… -DPROJECT_SOURCE_DIR=… -DVERILATOR=… -DPYTHON=… -DPORTS=… -DWORK=… -P fit_wrapper.cmake
cmake_minimum_required(VERSION 3.25)
set(folder ${PROJECT_SOURCE_DIR}/rtl/${BLOCK})
file(READ ${folder}/${BLOCK}.sv text)
string(REGEX REPLACE "(^|\n)module ${BLOCK}([ \n#])" "\\1module own_${BLOCK}\\2" own "${text}")
if(own STREQUAL text)
  message(FATAL_ERROR "${folder}/${BLOCK}.sv has no module ${BLOCK}")
endif()
file(MAKE_DIRECTORY ${WORK}/wrapper)
file(WRITE ${WORK}/own_${BLOCK}.sv "${own}")
execute_process(
  COMMAND ${PYTHON} ${PROJECT_SOURCE_DIR}/tb/cosim/rtl_wrapper.py --header ${folder}/${BLOCK}.sv --top own_${BLOCK}
          --contract ${folder}/contract.toml --out ${WORK}/wrapper/${BLOCK}.sv
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB common ${PROJECT_SOURCE_DIR}/rtl/common/*.sv)
file(GLOB parts ${folder}/*.sv)
list(REMOVE_ITEM common ${PROJECT_SOURCE_DIR}/rtl/common/mrc_pkg.sv)
list(REMOVE_ITEM parts ${folder}/${BLOCK}.sv)
execute_process(
  COMMAND ${VERILATOR} --lint-only -Wall --top-module ${BLOCK}_flat ${PROJECT_SOURCE_DIR}/rtl/common/mrc_pkg.sv ${common} ${parts}
          ${WORK}/own_${BLOCK}.sv ${WORK}/wrapper/${BLOCK}.sv
          ${PORTS}/cosim/${BLOCK}/${BLOCK}_flat.sv
  COMMAND_ERROR_IS_FATAL ANY)
