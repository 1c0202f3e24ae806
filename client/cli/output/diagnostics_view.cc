// SPDX-License-Identifier: MIT
#include "client/cli/output/diagnostics_view.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/global.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/report.h"
#include "client/project/manifest.h"
#include "compiler/base/printable.h"
#include "compiler/diag/render.h"
#include "compiler/diag/render_json.h"

namespace kiln::cli {
namespace {

// Both bounds are those of spec/cli 9.2.
constexpr size_t kMostOfAProgram = 20;
// In one go. Up to 300 there is room for what is said of each of 20 programs.
constexpr size_t kMostLines = 210;

// Of the whole process: a command shows diagnostics from several places, and the bound on lines and
// -Werror hold over all of them. They are atomic because watch shows diagnostics on its reading
// thread, and the exit code is made on the main one.
std::atomic<size_t> lines_shown = 0;
std::atomic<bool> warnings_seen = false;

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// 0 unless the text begins with a number.
int NumberIn(const char* text) {
  const std::string_view digits = text == nullptr ? "" : text;
  int number = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// Terminals say that they know OSC 8 by what they leave in the environment.
bool TerminalHasLinks() {
  const char* term = std::getenv("TERM");
  const std::string_view name = term == nullptr ? "" : term;
  const char* vte = std::getenv("VTE_VERSION");
  const char* program = std::getenv("TERM_PROGRAM");
  const std::string_view by = program == nullptr ? "" : program;
  return name == "xterm-kitty" || name == "foot" || name == "alacritty" || IsSet("WT_SESSION") ||
         IsSet("KONSOLE_VERSION") || NumberIn(vte) >= 5000 || by == "iTerm.app" ||
         by == "WezTerm" || by == "vscode" || by == "ghostty";
}

// file:///home/me/a%20b.rpl; sources are below the working directory or the manifest's folder.
std::string UriOf(const std::string& path, const std::filesystem::path& project) {
  std::error_code error;
  // A path is relative to one of two folders, and only the file system knows to which.
  for (const std::filesystem::path& folder : {std::filesystem::path("."), project}) {
    const std::filesystem::path file = std::filesystem::absolute(folder / path, error);
    if (error || !std::filesystem::exists(file, error)) {
      continue;
    }
    std::string uri = "file://";
    for (const char c : file.lexically_normal().string()) {
      const auto byte = static_cast<unsigned char>(c);
      // The unreserved characters of RFC 3986, and the slash. Everything else is escaped byte by
      // byte, so a path in any encoding becomes a valid link.
      const bool plain =
          std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos;
      uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
    }
    return uri;
  }
  return {};
}

TextStyle StyleOf(const Global& global) {
  const bool colour = WantsColour(global, STDERR_FILENO);
  TextStyle style{.colour = colour ? Colour::kOn : Colour::kOff, .width = WidthOf(STDERR_FILENO)};
  if (colour && ::isatty(STDERR_FILENO) != 0 && TerminalHasLinks()) {
    const std::string manifest =
        global.manifest.empty() ? project::FindManifest(global.folder) : global.manifest;
    style.link = [folder = std::filesystem::path(manifest).parent_path()](const std::string& path) {
      return UriOf(path, folder);
    };
  }
  return style;
}

// Sources are named from the manifest's folder; who clicks on a place is in the working directory.
class ShownPaths {
 public:
  explicit ShownPaths(const Global& global) {
    const std::string manifest =
        global.manifest.empty() ? project::FindManifest(global.folder) : global.manifest;
    folder_ = std::filesystem::path(manifest).parent_path();
  }

  // The path itself if that is where the file is, or if it is nowhere.
  std::string Of(const std::string& path) const {
    std::error_code error;
    if (folder_.empty() || path.empty() || std::filesystem::exists(path, error) ||
        !std::filesystem::exists(folder_ / path, error)) {
      return path;
    }
    const std::filesystem::path shown = std::filesystem::proximate(folder_ / path, error);
    return error ? path : shown.string();
  }

  PlacedDiagnostic In(PlacedDiagnostic diagnostic) const {
    diagnostic.primary.path = Of(diagnostic.primary.path);
    for (PlacedLabel& label : diagnostic.labels) {
      label.where.path = Of(label.where.path);
    }
    return diagnostic;
  }

 private:
  std::filesystem::path folder_;
};

std::string OneText(const Global& global, const PlacedDiagnostic& diagnostic,
                    const SourceSet& sources, const TextStyle& style) {
  return global.diagnostics == "short"    ? RenderShort(diagnostic)
         : global.diagnostics == "github" ? PrintableLines(GitHubAnnotation(diagnostic, {}))
                                          : RenderText(diagnostic, sources, style);
}

void ShowText(const Global& global, std::span<const PlacedDiagnostic> diagnostics,
              std::span<const client::Source> sources, std::string_view more) {
  SourceSet set;
  // Sources are entered under the names that are shown, since the renderer finds the lines of a
  // snippet by the path of a place.
  const ShownPaths paths(global);
  for (const client::Source& source : sources) {
    set.Add(SourceFile(paths.Of(source.path), source.text));
  }
  const TextStyle style = StyleOf(global);
  const bool apart = global.diagnostics == "full";
  size_t shown = 0;
  for (; shown < std::min(diagnostics.size(), kMostOfAProgram); ++shown) {
    // The bound counts lines and not messages: a message with its snippet and notes may have many.
    // It holds over all programs of a generation (ResetDiagnosticsShown), so a build that is wrong
    // everywhere stays readable.
    const std::string text = (apart && shown != 0 ? "\n" : "") +
                             OneText(global, paths.In(diagnostics[shown]), set, style);
    const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
    if (lines_shown + lines > kMostLines) {
      break;
    }
    lines_shown += lines;
    Print(stderr, "{}", TrustedText{text});
  }
  if (shown < diagnostics.size()) {
    Print(stderr, "{}and {} more; see {}\n", Lines{apart && shown != 0 ? "\n" : ""},
          diagnostics.size() - shown, more);
  }
}

}  // namespace

size_t ShowDiagnostics(const Global& global, std::span<const PlacedDiagnostic> diagnostics,
                       std::span<const client::Source> sources, const std::string& program,
                       std::string_view more) {
  size_t errors = 0;
  for (const PlacedDiagnostic& diagnostic : diagnostics) {
    errors += diagnostic.severity == Severity::kError ? 1 : 0;
    warnings_seen = warnings_seen || diagnostic.severity == Severity::kWarning;
    // The members of RenderJson come behind "v" and "type", so the order of keys is fixed (spec/cli
    // 7.1).
    if (global.json) {
      nlohmann::ordered_json object{{"v", 1}, {"type", "diagnostic"}};
      object.update(nlohmann::ordered_json::parse(RenderJson(diagnostic, program)));
      PrintLine(object);
    }
  }
  // With --json nothing is rendered on stderr (spec/cli 7.1), and -q leaves out warnings but never
  // an error.
  if (!global.json && !diagnostics.empty() && !(global.quiet && errors == 0)) {
    ShowText(global, diagnostics, sources, more);
  }
  return errors;
}

// Only with --json: for people a mistake of several programs is rendered once, with the list below
// it. "program" is the first of them, for readers that know no "programs".
void ShowMistake(const Global& /*global*/, const PlacedDiagnostic& diagnostic,
                 const std::set<std::string>& programs) {
  warnings_seen = warnings_seen || diagnostic.severity == Severity::kWarning;
  nlohmann::ordered_json object{{"v", 1}, {"type", "diagnostic"}};
  object.update(nlohmann::ordered_json::parse(RenderJson(diagnostic, *programs.begin())));
  object["programs"] = programs;
  PrintLine(object);
}

void ResetDiagnosticsShown() { lines_shown = 0; }

bool HasShownWarnings() { return warnings_seen; }

}  // namespace kiln::cli
