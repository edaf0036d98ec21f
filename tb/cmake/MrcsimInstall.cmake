# `cmake --install`: the executable, and a package for who builds on the model: find_package(mrcsim), targets mrcsim::…,
# headers, static libraries, documentation and the example platform.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(MRCSIM_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/mrcsim)
set(MRCSIM_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/mrcsim)
set(MRCSIM_DOCS ${CMAKE_INSTALL_DATADIR}/doc/mrcsim)

set_target_properties(mrc_protocol PROPERTIES EXPORT_NAME protocol)
foreach(part parameters results workload ideal models systemc options fst)
  set_target_properties(mrcsim_${part} PROPERTIES EXPORT_NAME ${part})
endforeach()
foreach(target mrc_protocol mrcsim_parameters mrcsim_workload mrcsim_models)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${MRCSIM_HEADERS}>)
endforeach()

# Whoever links the libraries may have another compiler, or none of its link-time optimization: each object carries machine
# code beside what GCC's own link step wants. Clang has no such objects here, so its libraries are plain.
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  foreach(part parameters results workload ideal models)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Code is generated here and not at the link, and with it come GCC's warnings of that stage, which see ghosts in
      # std::string (GCC bug 105651); the default build has them as errors where they mean something.
      target_compile_options(mrcsim_${part} PRIVATE -ffat-lto-objects -Wno-restrict -Wno-error=array-bounds
                             -Wno-error=stringop-overflow -Wno-error=maybe-uninitialized -Wno-error=null-dereference)
    else()
      set_target_properties(mrcsim_${part} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
    endif()
  endforeach()
endif()

install(TARGETS mrc_protocol mrcsim_options mrcsim_systemc mrcsim_parameters mrcsim_results
        mrcsim_workload mrcsim_ideal mrcsim_models mrcsim_fst
        EXPORT mrcsimTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT mrcsimTargets NAMESPACE mrcsim:: DESTINATION ${MRCSIM_PACKAGE})
install(DIRECTORY include/mrc sc_models/ DESTINATION ${MRCSIM_HEADERS} FILES_MATCHING PATTERN "*.h")
configure_package_config_file(tb/cmake/mrcsimConfig.cmake.in ${PROJECT_BINARY_DIR}/mrcsimConfig.cmake
                              INSTALL_DESTINATION ${MRCSIM_PACKAGE} PATH_VARS MRCSIM_DOCS)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mrcsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mrcsimConfig.cmake ${PROJECT_BINARY_DIR}/mrcsimConfigVersion.cmake
        DESTINATION ${MRCSIM_PACKAGE})
install(DIRECTORY docs/ DESTINATION ${MRCSIM_DOCS} FILES_MATCHING PATTERN "*.md")
install(FILES LICENSE DESTINATION ${MRCSIM_DOCS})
install(DIRECTORY tb/platform DESTINATION ${CMAKE_INSTALL_DATADIR}/mrcsim/examples
        FILES_MATCHING PATTERN "*.cpp" PATTERN "*.h" PATTERN "CMakeLists.txt" PATTERN "register_map_command.cpp" EXCLUDE)
install(DIRECTORY tb/python/mrcsim DESTINATION ${CMAKE_INSTALL_DATADIR}/mrcsim/python FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")
install(TARGETS mrcsim RUNTIME)
