# mrcsim_options: what every target of ours is compiled with. mrcsim_systemc: the kernel, with the one macro it needs here.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MRCSIM_SANITIZE AND NOT MRCSIM_COVERAGE)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT CMAKE_INTERPROCEDURAL_OPTIMIZATION LANGUAGES CXX)
  # Objects hold machine code too: what need not be fast (tests) links that, in seconds.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(TRANSFORM CMAKE_CXX_COMPILE_OPTIONS_IPO REPLACE "^-fno-fat-lto-objects$" "-ffat-lto-objects")
  endif()
endif()

# mrcsim_link_without_ipo(TARGET): TARGET is for tests; its link is not optimized across files.
function(mrcsim_link_without_ipo TARGET)
  if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_target_properties(${TARGET} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
    target_link_options(${TARGET} PRIVATE -fno-lto)
  endif()
endfunction()

# mrcsim_join_sources(TARGET SOURCES): a Release compiles the sources of TARGET together, SOURCES at a time: headers and
# templates once, and the optimizer sees across files. Other builds compile each for itself, for the next edit.
function(mrcsim_join_sources TARGET SOURCES)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SOURCES})
  endif()
endfunction()

# mrcsim_compile_fast(TARGET): TARGET does nothing for a packet (command line, reports, parameters). Optimizing it takes most of
# the time of its compilation and saves none in a run.
function(mrcsim_compile_fast TARGET)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_target_properties(${TARGET} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
    target_compile_options(${TARGET} PRIVATE -O1)
  endif()
endfunction()

add_library(mrcsim_options INTERFACE)
target_compile_options(mrcsim_options INTERFACE "$<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Wshadow;$<$<BOOL:${MRCSIM_WARNINGS_AS_ERRORS}>:-Werror>>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlaps in std::string's operator+ that are not there; the others depend on what was inlined.
  target_compile_options(mrcsim_options INTERFACE
    "$<BUILD_INTERFACE:-Wno-restrict;-Wno-error=maybe-uninitialized;-Wno-error=array-bounds;-Wno-error=stringop-overflow>")
endif()
# Verilated code takes MRCSIM_PROFILE_OPTIONS too (MrcsimRtl.cmake).
set(MRCSIM_PROFILE_OPTIONS "")
if(MRCSIM_PROFILE)
  # The counts lie next to each object; what the training did not run is optimized as without it.
  set(profile_generate -fprofile-generate -fprofile-update=single)
  set(profile_use -fprofile-use -fprofile-partial-training -Wno-missing-profile)
  if(NOT DEFINED profile_${MRCSIM_PROFILE})
    message(FATAL_ERROR "MRCSIM_PROFILE is ${MRCSIM_PROFILE}; it is generate, use or empty")
  endif()
  set(MRCSIM_PROFILE_OPTIONS ${profile_${MRCSIM_PROFILE}})
  target_compile_options(mrcsim_options INTERFACE "$<BUILD_INTERFACE:${MRCSIM_PROFILE_OPTIONS}>")
  target_link_options(mrcsim_options INTERFACE "$<BUILD_INTERFACE:${MRCSIM_PROFILE_OPTIONS}>")
endif()
if(MRCSIM_SANITIZE)
  add_compile_options(-UNDEBUG -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(MRCSIM_COVERAGE)
  add_compile_options(--coverage -O0 -g -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# Debian's libsystemc exports only the C++17 API-version symbol, so every file that includes <systemc> says 201703L.
add_library(mrcsim_systemc INTERFACE)
target_link_libraries(mrcsim_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_definitions(mrcsim_systemc INTERFACE SC_CPLUSPLUS=201703L
  $<BUILD_INTERFACE:SC_INCLUDE_DYNAMIC_PROCESSES> $<INSTALL_INTERFACE:SC_INCLUDE_DYNAMIC_PROCESSES=>)

# mrcsim_precompile(TARGET [SYSTEMC | FAST]): where MRCSIM_PRECOMPILED_HEADERS is on, the headers that most files include are read
# once, which takes four fifths of the time of a file. Each file still includes what it uses: without the option it is built by
# that alone. SYSTEMC: for what links mrcsim_systemc. FAST: after mrcsim_compile_fast(); a compiler takes precompiled headers with
# the level of optimization only with which they were made.
if(MRCSIM_PRECOMPILED_HEADERS)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp CONTENT "// Only its headers are compiled.\n")
  foreach(headers mrcsim_headers mrcsim_headers_fast mrcsim_headers_systemc)
    add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(${headers} PRIVATE mrcsim_options fmt::fmt)
    target_precompile_headers(${headers} PRIVATE <algorithm> <array> <charconv> <chrono> <cmath> <deque> <filesystem> <fstream>
      <functional> <map> <memory> <optional> <span> <sstream> <stdexcept> <string> <string_view> <tuple> <unordered_map> <utility>
      <vector> <fmt/format.h>)
  endforeach()
  mrcsim_compile_fast(mrcsim_headers_fast)
  target_link_libraries(mrcsim_headers_systemc PRIVATE mrcsim_systemc)
  target_precompile_headers(mrcsim_headers_systemc PRIVATE <systemc>)
endif()
function(mrcsim_precompile TARGET)
  cmake_parse_arguments(ARG "SYSTEMC;FAST" "" "" ${ARGN})
  if(MRCSIM_PRECOMPILED_HEADERS AND ARG_SYSTEMC)
    target_precompile_headers(${TARGET} REUSE_FROM mrcsim_headers_systemc)
  elseif(MRCSIM_PRECOMPILED_HEADERS AND ARG_FAST)
    target_precompile_headers(${TARGET} REUSE_FROM mrcsim_headers_fast)
  elseif(MRCSIM_PRECOMPILED_HEADERS)
    target_precompile_headers(${TARGET} REUSE_FROM mrcsim_headers)
  endif()
endfunction()
