// SPDX-License-Identifier: MIT
#include "compiler/ir/module_files.h"

#include <algorithm>

#include "compiler/base/hash/canonical.h"

namespace kiln::ir {
namespace {

// The form of the list of files, which is stored beside the module.
constexpr std::string_view kDomain = "kiln.modulefiles.1";

// One message for all damage: what is wrong with an image is of use to nobody but its maker.
Error Corrupt() {
  return {.code = ErrorCode::kCorrupt, .context = "the files of the module image", .reason = {}};
}

// Five parts of a row: path, content, place, and the span of the include.
Result<ModuleFile> DecodeFile(ByteView item) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 5));
  ModuleFile file{.path = std::string(AsText(parts[0]))};
  KILN_TRY(file.digest, DecodeContent(parts[1]));
  KILN_TRY(file.first, DecodeU32(parts[2]));
  KILN_TRY(file.included.begin, DecodeU32(parts[3]));
  KILN_TRY(file.included.end, DecodeU32(parts[4]));
  return file;
}

// Three parts of a row: where it begins, its line, its path.
Result<LineMark> DecodeMark(ByteView item) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 3));
  LineMark mark;
  KILN_TRY(mark.begin, DecodeU32(parts[0]));
  KILN_TRY(mark.line, DecodeU32(parts[1]));
  KILN_TRY(mark.path, DecodeU32(parts[2]));
  return mark;
}

// A file is included by one before it, so that whoever follows the includes comes to the root.
// Also: places and marks ascend, and marks name paths that are there. Cost: the rows, once.
bool IsSound(const ModuleFiles& files) {
  const auto by_place = [](const auto& a, const auto& b) { return a.first < b.first; };
  // Files are sorted by their place, so the file of an offset is found by halving, and the root
  // comes first.
  bool sound = !files.files.empty() && files.files[0].first == 0 &&
               std::ranges::is_sorted(files.files, by_place) &&
               std::ranges::is_sorted(files.marks, {}, &LineMark::begin);
  for (size_t i = 1; sound && i < files.files.size(); ++i) {
    const ModuleFile& file = files.files[i];
    sound = file.first > files.files[i - 1].first && file.included.begin < file.first &&
            file.included.begin <= file.included.end;
  }
  return sound && std::ranges::all_of(files.marks, [&](const LineMark& mark) {
           return mark.path == LineMark::kOwnPath || mark.path < files.mark_paths.size();
         });
}

}  // namespace

// The last file that begins at or before the offset; the root has place 0.
size_t ModuleFiles::FileAt(uint32_t offset) const {
  const auto behind = std::ranges::upper_bound(files, offset, {}, &ModuleFile::first);
  return behind == files.begin() ? 0 : static_cast<size_t>(behind - files.begin()) - 1;
}

// The texts are the caller's: an image knows files by path and digest only.
ModuleText TextOf(const ModuleFiles& files,
                  const std::function<const SourceFile*(std::string_view path)>& find) {
  std::vector<ModuleText::File> rows;
  for (const ModuleFile& file : files.files) {
    rows.push_back({.first = file.first, .source = find(file.path), .included = file.included});
  }
  return ModuleText(std::move(rows), files.marks, files.mark_paths);
}

// Paths are the source's choice and may hold what is no text of the canonical form.
Bytes EncodeFiles(const ModuleFiles& files) {
  CanonicalList rows;
  for (const ModuleFile& file : files.files) {
    rows.List(CanonicalList()
                  .Raw(AsBytes(file.path))
                  .Content(file.digest)
                  .U32(file.first)
                  .U32(file.included.begin)
                  .U32(file.included.end));
  }
  CanonicalList marks;
  for (const LineMark& mark : files.marks) {
    marks.List(CanonicalList().U32(mark.begin).U32(mark.line).U32(mark.path));
  }
  CanonicalList paths;
  for (const std::string& path : files.mark_paths) {
    paths.Raw(AsBytes(path));
  }
  CanonicalWriter writer(kDomain);
  writer.List(1, rows).List(2, marks).List(3, paths);
  return std::move(writer).bytes();
}

// Nothing of a damaged list is kept.
Result<ModuleFiles> DecodeFiles(ByteView bytes) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kDomain));
  KILN_TRY(const std::vector<ByteView> rows, reader.List(1));
  KILN_TRY(const std::vector<ByteView> marks, reader.List(2));
  KILN_TRY(const std::vector<ByteView> paths, reader.List(3));
  KILN_TRY_VOID(reader.Finish());
  ModuleFiles files;
  for (const ByteView row : rows) {
    KILN_TRY(ModuleFile file, DecodeFile(row));
    files.files.push_back(std::move(file));
  }
  for (const ByteView row : marks) {
    KILN_TRY(const LineMark mark, DecodeMark(row));
    files.marks.push_back(mark);
  }
  for (const ByteView path : paths) {
    files.mark_paths.emplace_back(AsText(path));
  }
  return IsSound(files) ? Result<ModuleFiles>(std::move(files)) : Corrupt();
}

}  // namespace kiln::ir
