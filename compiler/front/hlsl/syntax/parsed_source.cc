// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/syntax/parsed_source.h"

#include <array>

#include "compiler/front/hlsl/syntax/dump.h"
#include "compiler/source/line_index.h"

namespace kiln::hlsl::syntax {
namespace {

// What expressions of tests may mention: s is a type, f a function; a to e are no types.
constexpr std::string_view kPrelude =
    "struct s { float m; static float g(); };\nnamespace n { struct t { float m; }; float v; }\n";

// Lines of `dump` behind the first one that is `marker`, less `indent` columns.
// What a test is about, out of a dump with more in it.
std::string Behind(const std::string& dump, std::string_view marker, size_t indent) {
  size_t at = dump.find(marker);
  if (at == std::string::npos) {
    return dump;
  }
  std::string out;
  for (at = dump.find('\n', at) + 1; at < dump.size();) {
    const size_t end = dump.find('\n', at);
    out += dump.substr(at + indent, end + 1 - at - indent);
    at = end + 1;
  }
  return out;
}

}  // namespace

std::vector<Diagnostic> ParsedSource::Found() const {
  std::vector<Diagnostic> found = read.diagnostics;
  found.insert(found.end(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  SortAndMerge(found);
  return found;
}

// The whole front end up to the tree, with the settings of a test.
ParsedSource ParseSource(std::string_view text, Version version, const LanguageLimits& limits) {
  const SourceFile file("test.hlsl", std::string(text));
  Settings settings;
  settings.version = version;
  ParsedSource out{.read = Preprocess(file, {}, settings, 0, limits), .parsed = {}};
  const std::array<std::string_view, 1> texts{file.text};
  out.parsed = Parse(out.read.stream, texts, version, limits, out.read.diagnostics);
  return out;
}

std::string FoundText(std::string_view text, const std::vector<Diagnostic>& found) {
  const LineIndex lines(text);
  std::string out;
  for (const Diagnostic& d : found) {
    const LineColumn at = lines.At(d.primary.bytes.begin);
    out += std::to_string(at.line) + ':' + std::to_string(at.column) + ' ';
    out += std::string(CodeText(d.code)) + ' ' + Message(d) + '\n';
  }
  return out;
}

std::string DumpOf(std::string_view text, Version version) {
  const ParsedSource source = ParseSource(text, version);
  return source.ok() ? DumpAst(source.read.stream, source.parsed.ast)
                     : FoundText(text, source.Found());
}

// An expression stands in the initialiser of a variable; what surrounds it in the dump is cut
// off.
std::string DumpOfExpression(std::string_view text) {
  const std::string dump =
      DumpOf(std::string(kPrelude) + "static float x = " + std::string(text) + ";");
  const std::string marker = "  x = ";
  const size_t at = dump.find(marker);
  return at == std::string::npos
             ? dump
             : dump.substr(at + marker.size(), dump.size() - at - marker.size() - 1);
}

std::string DumpOfStatement(std::string_view text, Version version) {
  return Behind(
      DumpOf(std::string(kPrelude) + "void f () {\n" + std::string(text) + "\n}", version),
      "  block\n", 4);
}

}  // namespace kiln::hlsl::syntax
