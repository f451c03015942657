# cmake -D SOURCE=data/models/families -D FUNCTION=family_files -D OUTPUT=... -P families.cmake: writes a C++ source whose function
# holds every TOML file of a folder.
cmake_minimum_required(VERSION 3.25)

file(GLOB files "${SOURCE}/*.toml")
set(entries "")
foreach(file IN LISTS files)
  cmake_path(GET file STEM LAST_ONLY family)
  file(READ "${file}" text)
  string(APPEND entries "      {\"${family}\", R\"headwave(${text})headwave\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"${SOURCE}/../families.h\"\n\nnamespace headwave {\n\nconst std::vector<FamilyFile>& ${FUNCTION}() {\n  static const std::vector<FamilyFile> files{\n${entries}  };\n  return files;\n}\n\n}  // namespace headwave\n")
