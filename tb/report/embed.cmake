# Puts style, chart library and script into the page and the page into a C++ array:
# cmake -DPAGE=… -DCSS=… -DSCRIPT=… -DCHART_LIBRARY=… -DOUTPUT=… -P embed.cmake
file(READ "${PAGE}" page)
foreach(part CSS SCRIPT CHART_LIBRARY)
  file(READ "${${part}}" text)
  string(REPLACE "@${part}@" "${text}" page "${page}")
endforeach()
file(WRITE "${OUTPUT}.html" "${page}")
file(READ "${OUTPUT}.html" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"report/page.h\"\n\nnamespace mrc {\nnamespace {\nconst unsigned char kPage[] = {\n${bytes}};\n}\n\nstd::string_view report_page() {\n  return {reinterpret_cast<const char*>(kPage), sizeof kPage};\n}\n\n}  // namespace mrc\n")
