// SPDX-License-Identifier: MIT
// What an editor waits for: from a change to its diagnostics, for completion, and the memory of the
// language server with 200 files. The server runs in this process, so frames and JSON count, and
// pipes do not. Times are those that the thread worked: the server has one thread and waits for
// nothing, and what else the machine does is not its figure.
//
// usage: lsp_bench [--json]
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "client/lsp/documents/uri.h"
#include "client/lsp/server/test_editor.h"

namespace kiln::bench {
namespace {

using lsp::Json;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr double kDiagnosticsGate = 30;  // ms, p99
constexpr double kCompletionGate = 20;   // ms, p99
constexpr double kMemoryGate = 100;      // MiB
constexpr int kFiles = 200;
constexpr int kEdits = 300;

// About a thousand lines: functions with conditions over four options, and a block.
std::string LongSource() {
  std::string text =
      "instance fog: flag false;\ninstance wet: flag false;\n"
      "instance shade: enum \"off\" \"hard\" \"soft\";\ninstance steps: uint 4;\n"
      "color_output_container target { f4 color; };\n"
      "state_container surface { f3 normal; f2 uv; };\n"
      "set_material uniform_buffer material { f4 tint; f4 layers; };\n";
  for (int i = 0; i < 70; ++i) {
    text += fmt::format(
        "// Part {0} of the light.\n"
        "f3 light_{0} (in f3 color, in f1 amount)\n{{\n"
        "    f3 seen = color * amount;\n"
        "    conditional (fog)\n    {{\n"
        "        seen = mix_f3 (seen, material.tint.xyz, f3 {{0.5}});\n    }}\n"
        "    if (amount > 0.{0})\n    {{\n"
        "        seen = seen + material.layers.xyz * surface.uv.x;\n    }}\n"
        "    return seen;\n}}\n",
        i);
  }
  text +=
      "void main_vertex (void)\n{\n    vertex_stage_output_position (f4 {0.0});\n"
      "    surface.normal = f3 {0.0};\n    surface.uv = f2 {0.0};\n}\n"
      "void main_fragment (void)\n{\n    f3 sum = surface.normal;\n";
  for (int i = 0; i < 70; ++i) {
    text += fmt::format("    sum = light_{0} (sum, 0.5);\n", i);
  }
  return text + "    target.color = f4 {sum, 1.0};\n}\n";
}

double Percentile99(std::vector<double>& times) {
  std::ranges::sort(times);
  return times[times.size() * 99 / 100];
}

double MemoryMiB() {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  size_t resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class Editing {
 public:
  Editing(lsp::TestEditor& editor, Clock& clock) : editor_(editor), clock_(clock) {}

  // Types a digit at a place of the source, and takes it away again: ms until the diagnostics of
  // that version are out.
  double Change(const std::string& uri, uint32_t line, bool insert) {
    const uint32_t end = insert ? 0 : 1;
    editor_.QueueNotification("textDocument/didChange",
                              {{"textDocument", {{"uri", uri}, {"version", ++version_}}},
                               {"contentChanges",
                                {{{"range",
                                   {{"start", {{"line", line}, {"character", 0}}},
                                    {"end", {{"line", line}, {"character", end}}}}},
                                  {"text", insert ? " " : ""}}}}});
    const Duration start = clock_.ThreadCpu();
    while (editor_.server().Step()) {
      const std::string out = editor_.server().TakeOutput();
      if (out.find("publishDiagnostics") != std::string::npos &&
          out.find(fmt::format("\"version\":{}", version_)) != std::string::npos) {
        break;
      }
    }
    return Milliseconds(clock_.ThreadCpu() - start).count();
  }

  double Complete(const std::string& uri, uint32_t line, uint32_t character) {
    editor_.QueueRequest("textDocument/completion", lsp::TestEditor::At(uri, line, character));
    const Duration start = clock_.ThreadCpu();
    while (editor_.server().Step()) {
      if (editor_.server().TakeOutput().find("\"items\"") != std::string::npos) {
        break;
      }
    }
    return Milliseconds(clock_.ThreadCpu() - start).count();
  }

 private:
  lsp::TestEditor& editor_;
  Clock& clock_;
  int64_t version_ = 1;
};

struct Figures {
  double diagnostics_ms = 0;
  double completion_ms = 0;
  double memory_mib = 0;
  size_t lines = 0;

  bool ok() const {
    return diagnostics_ms <= kDiagnosticsGate && completion_ms <= kCompletionGate &&
           memory_mib <= kMemoryGate;
  }
};

Figures Measure() {
  SystemClock clock;
  lsp::TestEditor editor(clock);
  editor.Initialize();
  Figures figures;
  const std::string source = LongSource();
  figures.lines = static_cast<size_t>(std::ranges::count(source, '\n'));
  const std::string uri = "file:///nowhere/long.rpl";
  editor.Open(uri, source);
  Editing editing(editor, clock);
  std::vector<double> changes;
  std::vector<double> completions;
  for (int i = 0; i < kEdits; ++i) {
    const auto line = static_cast<uint32_t>(10 + i * 3 % 900);
    changes.push_back(editing.Change(uri, line, i % 2 == 0));
    completions.push_back(editing.Complete(uri, line, 4));
  }
  figures.diagnostics_ms = Percentile99(changes);
  figures.completion_ms = Percentile99(completions);
  editor.Settle();
  // 200 files of a project, each looked at, a tenth of them open.
  for (int i = 0; i < kFiles; ++i) {
    const std::string one = fmt::format("file:///nowhere/file_{}.rpl", i);
    editor.Open(one, source.substr(0, source.find("f3 light_20")) + fmt::format("// file {}\n", i));
    (void)editor.Ask("textDocument/hover", lsp::TestEditor::At(one, 6, 30));
    editor.Forget();
  }
  figures.memory_mib = MemoryMiB();
  return figures;
}

void PrintJson(const Figures& f) {
  const auto gate = [](const char* name, double value, double most) {
    return fmt::format("\"{}\": {{\"value\": {:.2f}, \"gate\": {}, \"ok\": {}}}", name, value, most,
                       value <= most);
  };
  fmt::print(
      "{{\"lsp\": {{\"lines\": {}, \"edits\": {}, \"files\": {}}}, \"gates\": {{{}, {}, {}}}}}\n",
      f.lines, kEdits, kFiles, gate("lsp_diagnostics_p99_ms", f.diagnostics_ms, kDiagnosticsGate),
      gate("lsp_completion_p99_ms", f.completion_ms, kCompletionGate),
      gate("lsp_memory_mib", f.memory_mib, kMemoryGate));
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  const kiln::bench::Figures figures = kiln::bench::Measure();
  if (argc > 1 && std::string_view(argv[1]) == "--json") {
    kiln::bench::PrintJson(figures);
  } else {
    fmt::print(
        "{} lines: change to diagnostics {:.2f} ms (p99, limit {}), completion {:.2f} ms "
        "(p99, limit {}); {} files: {:.1f} MiB (limit {})\n",
        figures.lines, figures.diagnostics_ms, kiln::bench::kDiagnosticsGate, figures.completion_ms,
        kiln::bench::kCompletionGate, kiln::bench::kFiles, figures.memory_mib,
        kiln::bench::kMemoryGate);
  }
  return figures.ok() ? 0 : 1;
}
