// SPDX-License-Identifier: MIT
// The verbs that look at one program or variant.
#include "client/cli/app.h"

namespace kiln::cli {
namespace {

// What names one variant.
// `options`: how values are given; `kiln explain` has an --option of its own.
void AddVariant(CLI::App& verb, VariantArguments& variant, const char* options = "-o,--option") {
  verb.add_option("what", variant.what, "A program of the manifest, or files");
  verb.add_option("--entry", variant.entries, "Files: STAGE=FUNCTION; repeatable")->take_all();
  verb.add_option(options, variant.options, "NAME=VALUE; repeatable")->take_all();
  verb.add_option("--pipeline", variant.pipeline, "Files: graphics_classic or compute")
      ->check(CLI::IsMember({"graphics_classic", "compute"}));
  verb.add_option("--env", variant.environment, "Files: vulkan1.0 to vulkan1.4")
      ->check(CLI::IsMember({"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3", "vulkan1.4"}));
  verb.add_flag("--combined", variant.combined, "Files: one module for all entry points");
  verb.add_flag("--retry-failed", variant.retry_failed, "Compile again what failed before");
}

void AddInit(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(app, "init", "Write kiln.toml from the .rpl files found",
                           "  kiln init\n  kiln init --from shaders/rock.rpl shaders/pass.rpl",
                           chosen, [&a] { return RunInit(a.global, a.init); });
  verb->add_option("--from", a.init.from, "These sources instead of all below the folder");
  verb->add_flag("--force", a.init.force, "Replace a kiln.toml that is there");
}

void AddCompile(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(
      app, "compile", "Compile one variant",
      "  kiln compile rock/forward -o fog -o lights=4 --out out\n"
      "  kiln compile rock.rpl --entry vertex=main_vertex --entry fragment=main_fragment --out out",
      chosen, [&a] { return RunCompile(a.global, a.compile); });
  AddVariant(*verb, a.compile.variant);
  verb->get_option("what")->required();
  verb->add_flag("--explain", a.compile.variant.explain, "Say why it was a hit or a miss");
  verb->add_option("-t,--target", a.compile.variant.targets,
                   "Target of the manifest, or spirv, meta, msl, glsl, hlsl; repeatable")
      ->take_all();
  verb->add_option("--out", a.compile.out, "Folder for the artifacts, one file, or -");
  verb->add_option("--meta", a.compile.meta, "File for the metadata as JSON");
  verb->add_option("--deps", a.compile.deps, "Dependency file for Make and Ninja");
  verb->add_option("--depfile-target", a.compile.depfile_target, "What that file is about");
  verb->add_flag("--no-cache", a.compile.no_cache, "Neither read nor write the cache");
}

void AddInspect(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* inspect =
      AddVerb(app, "inspect", "Show a variant, a result by its signature, or a file, as text",
              "  kiln inspect rock/forward -o fog --view disasm\n"
              "  kiln inspect 0aef25953033a1b2c3d4e5f60718293a --view stats,glsl\n"
              "  kiln inspect out/rock.meta --view layout\n"
              "  kiln inspect demo.kpack:rock/forward --diff rock/forward --view disasm",
              chosen, [&a] { return RunInspect(a.global, a.inspect); });
  AddVariant(*inspect, a.inspect.variant);
  inspect->get_option("what")->required();
  inspect->get_option("what")->description(
      "A program of the manifest, sources, a signature or digest, a file, FILE.kpack:PROGRAM");
  inspect->add_option("--view", a.inspect.views, "Default: stats, meta, options")
      ->delimiter(',')
      ->check(CLI::IsMember(
          {"stats", "meta", "options", "layout", "disasm", "ir", "wgsl", "msl", "glsl", "hlsl"}));
  inspect->add_option("--diff", a.inspect.diff, "Compare with this, view by view");
  inspect
      ->add_option("--diff-option", a.inspect.diff_options,
                   "NAME=VALUE for what --diff names; none: as -o says; repeatable")
      ->take_all();
}

void AddOptions(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb =
      AddVerb(app, "options", "The option space of a program, with counts",
              "  kiln options rock/forward\n"
              "  kiln options rock/forward --where 'fog && light_count == 4u' --list 20",
              chosen, [&a] { return RunOptions(a.global, a.options); });
  verb->add_option("program", a.options.program, "A program of the manifest")->required();
  verb->add_option("--where", a.options.where, "Only variants where this expression is true")
      ->check(SaysSomething);
  verb->add_flag("--values", a.options.values, "One line for each value of an axis");
  verb->add_option("--list", a.options.list, "Show so many variants")
      ->expected(0, 1)
      ->default_str("20")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  verb->add_flag("--distinct", a.options.distinct,
                 "Show one variant for each result, with as many as --list says");
}

void AddExplain(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* explain = AddVerb(app, "explain", "Why a hit, why a miss",
                              "  kiln explain rock/forward -o fog\n"
                              "  kiln explain 0aef25953033d800bca6c36a9de0ca3d\n"
                              "  kiln explain --batch 7c1e --misses\n"
                              "  kiln explain --code RPL6022\n"
                              "  kiln explain --option fog rock/forward",
                              chosen, [&a] { return RunExplain(a.global, a.explain); });
  AddVariant(*explain, a.explain.variant, "-o");
  explain->add_option("--code", a.explain.code, "The page of a diagnostic, such as RPL6022");
  explain->add_option("--option", a.explain.option,
                      "Who reads this option of the program, and what it costs");
  explain->add_option("--batch", a.explain.batch, "What a batch missed, by cause");
  explain->add_flag("--misses", a.explain.misses, "With --batch: misses by cause, as without it");
  explain->add_option("--last", a.explain.last, "The latest requests of the daemon")
      ->expected(0, 1)
      ->default_str("1")
      ->check(CLI::Range(1, 1000));
}

void AddWatch(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(app, "watch", "Rebuild on save, show diagnostics, keep outputs current",
                           "  kiln watch rock/forward -o fog -o shadows=high --out run/shaders\n"
                           "  kiln watch --exec 'touch reload'",
                           chosen, [&a] { return RunWatch(a.global, a.watch); });
  verb->add_option("programs", a.watch.programs, "Names or globs; default: all");
  verb->add_option("-o,--option", a.watch.options,
                   "The variant of interest: NAME=VALUE; repeatable")
      ->take_all();
  verb->add_option("--out", a.watch.out, "Folder for the current artifacts");
  verb->add_option("--exec", a.watch.exec,
                   "Command after each generation without errors; KILN_CHANGED has the programs");
  verb->add_flag("--no-source", a.watch.no_source, "Subscribe only; somebody else pushes");
  verb->add_option("--workspace", a.watch.workspace,
                   "Meet those who give the same name; default: this folder on this machine")
      ->type_name("NAME");
}

void AddPreview(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(
      app, "preview", "Draw a variant on a mesh, off-screen",
      "  kiln preview rock/forward -o fog --out rock.png\n"
      "  kiln preview rock/forward --grid fog_kind,lights=0:4 --size 128x128 --out sheet.png",
      chosen, [&a] { return RunPreview(a.global, a.preview); });
  PreviewArguments& preview = a.preview;
  AddVariant(*verb, preview.variant);
  verb->get_option("what")->required();
  verb->add_option("--mesh", preview.mesh, "sphere, quad, cube or FILE.obj");
  verb->add_option("--size", preview.size, "WIDTHxHEIGHT of a picture; default: 512x512");
  verb->add_option("--set", preview.set,
                   "NAME=NUMBER[,NUMBER...] of a tag or parameter; repeatable")
      ->take_all();
  verb->add_option("--image", preview.images, "NAME=FILE.png instead of a checker; repeatable")
      ->take_all();
  verb->add_option("--frames", preview.frames, "Count of frames; the last one is drawn")
      ->check(CLI::Range(1, 1000000));
  verb->add_option("--device", preview.device, "Part of a device's name, or software");
  verb->add_option("--grid", preview.grid, "AXIS[,AXIS]: a sheet with a picture for each value");
  verb->add_option("--out", preview.out, "PNG file to write")->required();
}

void AddGraph(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(app, "graph", "Plan a frame and draw the plan",
                           "  kiln graph frame.json\n  kiln graph frame.json --svg frame.svg",
                           chosen, [&a] { return RunGraph(a.global, a.graph); });
  verb->add_option("file", a.graph.file, "Frame description (docs/RENDER_GRAPH.md)")->required();
  verb->add_option("--svg", a.graph.svg, "File for the picture");
  verb->add_option("--dot", a.graph.dot, "File for Graphviz");
  verb->add_option("--json", a.graph.json, "File for the plan as JSON; - is stdout");
  verb->add_option("--order", a.graph.order, "priority, declared, levels or random")
      ->check(CLI::IsMember({"priority", "declared", "levels", "random"}));
  verb->add_option("--seed", a.graph.seed, "Of the random order")->check(CLI::NonNegativeNumber);
  verb->add_option("--effort", a.graph.effort, "Packing: fast, normal or search")
      ->check(CLI::IsMember({"fast", "normal", "search"}));
  verb->add_flag("--no-cull", a.graph.no_cull, "Keep passes that nothing needs");
  verb->add_option("--alias-commands", a.graph.alias_commands,
                   "Barrier commands that aliasing may add, for each that is needed (default 0.2)")
      ->check(CLI::Range(0.0, 10.0));
  verb->add_flag("--no-alias", a.graph.no_alias, "Bytes of its own for every resource");
  verb->add_flag("--unify-reads", a.graph.unify_reads, "One layout for all readers of a version");
}

}  // namespace

void AddLookVerbs(CLI::App& app, Arguments& arguments, Action& chosen) {
  AddInit(app, arguments, chosen);
  AddCompile(app, arguments, chosen);
  AddExplain(app, arguments, chosen);
  AddInspect(app, arguments, chosen);
  AddOptions(app, arguments, chosen);
  AddPreview(app, arguments, chosen);
  AddGraph(app, arguments, chosen);
  AddWatch(app, arguments, chosen);
}

}  // namespace kiln::cli
