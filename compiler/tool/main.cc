// SPDX-License-Identifier: MIT
// kilnc, the compiler developer's tool: the compiler without daemon, cache or network.
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "compiler/base/printable.h"
#include "compiler/base/version.h"
#include "compiler/tool/compile_command.h"
#include "compiler/tool/hlsl_command.h"
#include "compiler/tool/layout_command.h"

namespace {

// `allow_extra_args(false)` keeps an option that may be repeated from taking the file names behind
// it.
void AddCompile(CLI::App& app, kiln::tool::CompileArguments& arguments) {
  CLI::App* compile = app.add_subcommand("compile", "Compile sources, or dump one stage");
  compile->footer(
      "Examples:\n"
      "  kilnc compile rock.rpl --entry vertex=main_vertex --entry fragment=main_fragment --out .\n"
      "  kilnc compile pass.rpl rock.rpl --entry fragment=main_fragment -o fog --stage specialise "
      "--dump\n"
      "\n"
      "Without --entry there is metadata only. Exit codes: 0 success, 1 wrong source or option,\n"
      "2 usage, 3 a file cannot be read or written, 5 no room for what is written or printed,\n"
      "70 internal error.");
  compile->add_option("files", arguments.files, "Sources in link order")->required();
  compile->add_option("--entry", arguments.entries, "STAGE=FUNCTION; repeatable")->take_all();
  compile->add_option("--pipeline", arguments.pipeline,
                      "graphics_classic or compute; that of the entry points if left out");
  compile->add_option("-o,--option", arguments.options, "NAME=VALUE of an option; repeatable")
      ->take_all();
  compile->add_option("-I", arguments.hlsl.include_roots, "Folder for includes of HLSL; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  compile->add_option("--define", arguments.hlsl.defines, "NAME[=VALUE], a macro; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  compile
      ->add_option("--hlsl", arguments.hlsl.settings, "NAME=VALUE, a setting of HLSL; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  compile
      ->add_option("--limit", arguments.limits,
                   "NAME=VALUE, a limit of the language, as `workgroup=1024`; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  compile->add_option("--env", arguments.environment, "vulkan1.0, 1.1, 1.2, 1.3 or 1.4")
      ->capture_default_str();
  compile->add_option("--debug", arguments.debug, "none, names or full")->capture_default_str();
  compile->add_option("--form", arguments.form, "spirv or wgsl")->capture_default_str();
  compile->add_flag("--combined", arguments.combined, "One module for all entry points");
  compile->add_option("--out", arguments.out,
                      "Folder for STAGE.spv or program.spv; .wgsl with --form wgsl");
  compile->add_option("--meta", arguments.meta, "File for the metadata as JSON");
  compile->add_option("--stage", arguments.stage, "Stop after this stage and dump it")
      ->check(CLI::IsMember(kiln::tool::StageNames()))
      ->transform(kiln::tool::StageOf, "");
  compile->add_flag("--dump", arguments.dump,
                    "Dump the stage named by --stage; the default with --stage");
  compile->add_flag("--json", arguments.json, "Diagnostics as one JSON array on stdout");
  compile->add_flag("--all-variants", arguments.all_variants,
                    "Try every combination of flags and enums, write nothing, and say each\n"
                    "message once with the condition under which it comes");
  compile->add_flag("--lints", arguments.lints, "Show lints too");
}

// Case files are how layouts are tested without sources.
void AddLayout(CLI::App& app, kiln::tool::LayoutArguments& arguments) {
  CLI::App* layout = app.add_subcommand("layout", "Lay out the declarations of a case file");
  layout->footer(
      "Examples:\n"
      "  kilnc layout cases.json --json    the file with `expect` filled in\n"
      "  kilnc layout --check cases.json   the differences from `expect`\n"
      "\n"
      "Without either, the text dumps of the programs. Exit codes: 0 success, 1 a difference or "
      "no\n"
      "case file, 2 usage, 3 a file cannot be read, 5 no room for what is printed, 70 internal\n"
      "error.");
  layout->add_option("file", arguments.file, "Case file, see docs/LAYOUT.md")->required();
  auto* json = layout->add_flag("--json", arguments.json, "Fill in `expect` and print the file");
  layout->add_flag("--check", arguments.check, "Compare with `expect` and print differences")
      ->excludes(json);
}

// Words of DXC are none of CLI11: -Fo is one option, not two.
constexpr std::string_view kHlslHelp =
    "Compile one entry point of an HLSL file, in the spelling of DXC\n"
    "\n"
    "Usage: kilnc hlsl -T PROFILE [-E ENTRY] [-D NAME[=VALUE]]... [-I DIR]... [-HV VERSION]\n"
    "                  [-Zpc|-Zpr] [-enable-16bit-types] [-fspv-target-env=ENV] [-Zi]\n"
    "                  [-Fo OUT.spv] FILE\n"
    "\n"
    "PROFILE is vs_6_N, ps_6_N or cs_6_N. Without -Fo the module is printed. An option of DXC "
    "that\n"
    "would change the module and is not obeyed is refused; others are ignored. Exit codes: 0 "
    "success,\n"
    "1 wrong source, 2 usage, 3 a file cannot be read or written, 5 no room for what is written "
    "or\n"
    "printed, 70 internal error.\n";

// DXC's options are read by a reader of our own (dxc_options.h).
int RunHlsl(int argc, char** argv) {
  const std::vector<std::string> words(argv + 2, argv + argc);
  // The three spellings of a request for help that people try.
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-help" || words[0] == "-h")) {
    fmt::print("{}", kHlslHelp);
    return kiln::tool::kSuccess;
  }
  return kiln::tool::RunHlsl(words);
}

// The exit codes are those of compile_command.h for all commands.
int Run(int argc, char** argv) {
  // Before the other commands are read, because the library for options would take DXC's words
  // apart.
  if (argc > 1 && std::string_view(argv[1]) == "hlsl") {
    return RunHlsl(argc, argv);
  }
  CLI::App app{"kilnc: the kiln compiler without daemon or cache"};
  app.set_version_flag("--version", "kilnc " + std::string(kiln::Version()));
  // Without a command there is nothing to do, and the library prints the usage.
  app.require_subcommand(1);
  kiln::tool::CompileArguments compile;
  AddCompile(app, compile);
  kiln::tool::LayoutArguments layout;
  AddLayout(app, layout);
  app.add_subcommand("hlsl", "Compile one entry point of an HLSL file, in the spelling of DXC")
      ->allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream told;  // it repeats words of the caller
    // Help and version are exceptions of the library too, with code 0, and belong on standard
    // output.
    const int code = app.exit(error, told, told);
    fmt::print(code == 0 ? stdout : stderr, "{}", kiln::PrintableLines(told.str()));
    return code == 0 ? kiln::tool::kSuccess : kiln::tool::kUsage;
  }
  return app.got_subcommand("layout") ? kiln::tool::RunLayout(layout)
                                      : kiln::tool::RunCompile(compile);
}

// The last bytes are written here, and a full disk may only show now: an exit code of 0 would claim
// that what was printed is whole.
int EndOutput(int code) {
  // Help is flushed by a stream of C++, which leaves the mark of an error and says nothing.
  const bool whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (whole) {
    return code;
  }
  (void)std::fprintf(stderr, "error: cannot write to stdout\n");
  return code == kiln::tool::kSuccess ? kiln::tool::kNoRoom : code;
}

}  // namespace

// The last place that can catch anything: whatever arrives here is an error of kiln itself, unless
// stdout takes no more, for which fmt::print throws.
int main(int argc, char** argv) {
  try {
    return EndOutput(Run(argc, argv));
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) {
      return EndOutput(kiln::tool::kSuccess);
    }
    (void)std::fprintf(stderr, "error[RPL9001]: internal error: %s\n",
                       kiln::Printable(error.what()).c_str());
    return kiln::tool::kInternalError;
  }
}
