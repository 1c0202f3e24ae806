// SPDX-License-Identifier: MIT
// kiln: the command line of people and build scripts.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "client/cli/completion.h"
#include "client/cli/manual.h"
#include "client/cli/operator_app.h"
#include "client/cli/store.h"
#include "client/cli/verbs.h"
#include "client/project/manifest.h"
#include "compiler/base/file.h"

namespace kiln::cli {
namespace {

constexpr char kVersion[] = "kiln 0.1.0";
constexpr char kVerbs[] =
    "kiln turns shader sources into everything an engine draws with\n\n"
    "start here    kiln init      write kiln.toml from the sources found\n"
    "look at one   kiln compile   one variant, artifacts to files\n"
    "              kiln explain   why a hit, why a miss\n"
    "              kiln inspect   a variant or a file of one as text\n"
    "              kiln options   the option space of a program, with counts\n"
    "              kiln preview   a variant, or a grid of them, as a picture\n"
    "              kiln graph     the plan of a frame, and a picture of it\n"
    "              kiln watch     rebuild on save, show what is wrong\n"
    "build         kiln build     every variant of kiln.toml\n"
    "              kiln batch     list, attach, items, pause, resume, cancel\n"
    "              kiln fetch     download results, as an engine would\n"
    "              kiln pack      build, show, verify, diff, flatten, extract packs\n"
    "operate       kiln status    daemon, queue, batches, cache, health\n"
    "              kiln doctor    check the installation, with what to do\n"
    "              kiln cache     stats, gc, verify, repair, export, import, pins, why\n"
    "              kiln serve     the daemon in the foreground\n"
    "              kiln start     the daemon in the background\n"
    "              kiln stop      finish running work, then end\n"
    "              kiln config    the configuration in force; check a file\n"
    "              kiln token     create, list, revoke tokens of TCP clients\n"
    "              kiln version   of this program\n"
    "              kiln completion  a script for bash, zsh or fish\n\n"
    "kiln VERB --help shows flags and examples\n";

void AddGlobal(CLI::App& app, Global& global) {
  app.add_option("--manifest", global.manifest, "Manifest; default: the nearest kiln.toml")
      ->envname("KILN_MANIFEST");
  app.add_option("-C", global.folder, "Look for the manifest from this folder upwards");
  app.add_option("--daemon", global.daemon,
                 "unix:PATH or https://HOST:PORT; default: the user's socket (KILN_DAEMON)");
  app.add_option("--token-file", global.token_file, "https: file of the token")
      ->envname("KILN_TOKEN_FILE");
  app.add_option("--tls-ca", global.tls_ca, "https: who signs the daemon's certificate, PEM")
      ->envname("KILN_TLS_CA");
  app.add_option("--tls-cert", global.tls_cert, "https: certificate of this client, PEM")
      ->envname("KILN_TLS_CERT");
  app.add_option("--tls-key", global.tls_key, "https: private key of this client, PEM")
      ->envname("KILN_TLS_KEY");
  app.add_flag("--no-daemon", global.no_daemon, "A private daemon for this command alone");
  app.add_option("--autostart", global.autostart,
                 "Start the daemon when it is absent; auto: yes, but private where CI is set")
      ->check(CLI::IsMember({"yes", "no", "auto"}))
      ->envname("KILN_AUTOSTART");
  app.add_option("--color", global.color, "Colours")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->envname("KILN_COLOR");
  app.add_option("--progress", global.progress, "Progress on stderr")
      ->check(CLI::IsMember({"auto", "bar", "lines", "none"}))
      ->envname("KILN_PROGRESS");
  app.add_option("--deadline", global.deadline, "How long the command may take: 500ms, 90s, 5m")
      ->envname("KILN_DEADLINE");
  app.add_option("-j", global.jobs, "Parallel jobs of a private daemon")
      ->check(CLI::Range(1, 1024))
      ->envname("KILN_JOBS");
  app.add_flag("--json", global.json, "Machine output on stdout, one object per line")
      ->envname("KILN_JSON");
  app.add_flag("-q,--quiet", global.quiet, "Errors only");
}

struct Arguments {
  Global global;
  CompileArguments compile;
  BuildArguments build;
  BatchArguments batch;
  FetchArguments fetch;
  WatchArguments watch;
  InspectArguments inspect;
  InitArguments init;
  OptionsArguments options;
  ExplainArguments explain;
  GraphArguments graph;
  PreviewArguments preview;
  OperatorArguments operating;
  CacheArguments cache;
  PackArguments pack;
  std::string shell;               // of the completion script
  std::string manual;              // folder for manual pages
  std::vector<std::string> words;  // to complete
};

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

void AddPreview(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(
      app, "preview", "Draw a variant with a built-in mesh",
      "  kiln preview rock/forward -o fog --out rock.png\n"
      "  kiln preview rock/forward --grid fog_kind,lights=0:4 --size 128x128 --out sheet.png",
      chosen, [&a] { return RunPreview(a.global, a.preview); });
  PreviewArguments& preview = a.preview;
  AddVariant(*verb, preview.variant);
  verb->get_option("what")->required();
  verb->add_option("--mesh", preview.mesh, "sphere, quad, cube or FILE.obj")
      ->check(CLI::IsMember({"sphere", "quad", "cube"}));
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
}

void AddBuild(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(app, "build", "Build every variant of the manifest",
                           "  kiln build\n  kiln build 'rock/*' --out results", chosen,
                           [&a] { return RunBuild(a.global, a.build); });
  verb->add_option("programs", a.build.programs, "Names or globs; default: all");
  BuildArguments& build = a.build;
  verb->add_option("-t,--target", build.targets, "Target of the manifest; repeatable")->take_all();
  verb->add_option("--where", build.where, "Only variants where this expression is true");
  verb->add_flag("--dry-run", build.dry_run, "Count, check the budget, compile nothing");
  verb->add_flag("--retry-failed", build.retry_failed, "Compile again what failed before");
  verb->add_option("--out", build.out, "Folder for the results");
  verb->add_option("--pack", build.pack, "Pack file to write");
  verb->add_option("--report", build.reports, "json, junit, github or md:FILE; repeatable")
      ->take_all();
  verb->add_option("--on-error", build.on_error, "What a failure ends; default: nothing")
      ->check(CLI::IsMember({"continue", "stop-program", "stop"}));
  verb->add_flag("--fail-fast", build.fail_fast, "The same as --on-error stop");
  verb->add_flag("--detach", build.detach, "Return at once; the daemon goes on, over restarts too");
  verb->add_option_function<std::string>(
          "--resume", [&build](const std::string& id) { build.resume = id == "latest" ? "" : id; },
          "Go on with a batch; default: the latest of the project")
      ->expected(0, 1)
      ->default_str("latest");
  verb->add_option("--explore", build.explore, "Results to discover beyond the budget");
  verb->add_option("--priority", build.priority, "0 to 9")->check(CLI::Range(0, 9));
  verb->add_option("--pin", build.pin, "Keep the results from removal under this name");
  verb->add_option("--durability", build.durability, "local or quorum")
      ->check(CLI::IsMember({"local", "quorum"}));
  verb->add_option("--deps", build.deps, "Dependency file for Make and Ninja");
  verb->add_option("--depfile-target", build.depfile_target, "What that file is about");
  CLI::App* fetch = AddVerb(app, "fetch", "Download results, as an engine would",
                            "  kiln fetch --all --out run/shaders", chosen,
                            [&a] { return RunFetch(a.global, a.fetch); });
  fetch->add_option("programs", a.fetch.programs, "Names or globs");
  fetch->add_flag("--all", a.fetch.all, "Every program");
  fetch->add_option("--out", a.fetch.out, "Folder for the results")->required();
}

void AddBatch(CLI::App& app, Arguments& a, Action& chosen) {
  struct Row {
    const char* name;
    const char* what;
  };
  CLI::App* batch = app.add_subcommand("batch", "Batches of the daemon");
  batch->fallthrough()->require_subcommand(1);
  for (const Row& row :
       {Row{"list", "All that the daemon remembers, latest first"}, Row{"show", "State and counts"},
        Row{"attach", "Follow it to its end"}, Row{"items", "Its distinct results"},
        Row{"pause", "Let running variants end, start no others"}, Row{"resume", "Go on"},
        Row{"cancel", "End it; results stay cached"}}) {
    const std::string name = row.name;
    const std::string example =
        "  kiln batch " + name + (name == "list" ? "" : " 7c1e") +
        (name == "items" ? "\n  kiln batch items 7c1e --kinds failed,slow" : "");
    CLI::App* verb = AddVerb(*batch, row.name, row.what, example.c_str(), chosen, [&a, name] {
      a.batch.what = name;
      return RunBatchVerb(a.global, a.batch);
    });
    if (name != "list") {
      verb->add_option("id", a.batch.id, "Id, or how it begins")->required();
    }
    if (name == "items") {
      verb->add_option("--kinds", a.batch.kinds, "failed, poison, slow, deduped; default: all")
          ->delimiter(',')
          ->check(CLI::IsMember({"failed", "poison", "slow", "deduped"}));
    }
  }
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
}

void AddOptions(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb =
      AddVerb(app, "options", "The option space of a program, with counts",
              "  kiln options rock/forward\n"
              "  kiln options rock/forward --where 'fog && light_count == 4u' --list 20",
              chosen, [&a] { return RunOptions(a.global, a.options); });
  verb->add_option("program", a.options.program, "A program of the manifest")->required();
  verb->add_option("--where", a.options.where, "Only variants where this expression is true");
  verb->add_flag("--values", a.options.values, "One line for each value of an axis");
  verb->add_option("--list", a.options.list, "Show so many variants")
      ->expected(0, 1)
      ->default_str("20")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
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
  verb->add_flag("--no-alias", a.graph.no_alias, "Bytes of its own for every resource");
  verb->add_flag("--unify-reads", a.graph.unify_reads, "One layout for all readers of a version");
}

void AddCache(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* cache = app.add_subcommand("cache", "The cache of this user");
  cache->fallthrough()->require_subcommand(1);
  cache->add_option("--dir", a.cache.dir,
                    "Folder of the cache; default: KILN_CACHE_DIR, "
                    "else ~/.cache/kiln");
  AddVerb(*cache, "stats", "Sizes, counts, ratios", "  kiln cache stats --json", chosen,
          [&a] { return RunCacheStats(a.global, a.cache); });
  CLI::App* gc = AddVerb(*cache, "gc", "Remove what nobody holds",
                         "  kiln cache gc --to 5GiB\n  kiln cache gc --older-than 30d --dry-run",
                         chosen, [&a] { return RunCacheGc(a.global, a.cache); });
  gc->add_option("--to", a.cache.to, "Size that is left, such as 5GiB");
  gc->add_option("--older-than", a.cache.older_than, "Not used for so long, such as 30d");
  gc->add_flag("--failed", a.cache.failed, "Records of failures");
  gc->add_flag("--vacuum", a.cache.vacuum, "Give free pages back to the file system");
  gc->add_flag("--dry-run", a.cache.dry_run, "Say what would go");
  CLI::App* verify = AddVerb(*cache, "verify", "Hash everything again; changes nothing",
                             "  kiln cache verify\n  kiln cache verify --sample 5", chosen,
                             [&a] { return RunCacheVerify(a.global, a.cache); });
  verify->add_flag("--fast", a.cache.fast, "Structure only");
  verify->add_option("--sample", a.cache.sample_percent, "Percent of the content")
      ->check(CLI::Range(1, 100));
  AddVerb(*cache, "repair", "Verify, mend what can be, drop what cannot", "  kiln cache repair",
          chosen, [&a] { return RunCacheRepair(a.global, a.cache); });
  CLI::App* out = AddVerb(*cache, "export", "Write rows and content into a file",
                          "  kiln cache export cache.kpack --since 7d", chosen,
                          [&a] { return RunCacheExport(a.global, a.cache); });
  out->add_option("file", a.cache.file, "File to write")->required();
  out->add_option("--pin", a.cache.pin, "Only what this pin holds");
  out->add_option("--since", a.cache.since, "Only what was used since, such as 7d");
  CLI::App* in = AddVerb(*cache, "import", "Merge an exported file; overwrites nothing",
                         "  kiln cache import cache.kpack", chosen,
                         [&a] { return RunCacheImport(a.global, a.cache); });
  in->add_option("file", a.cache.file, "File to read")->required();
  CLI::App* pin = AddVerb(*cache, "pin", "Keep results from removal under a name",
                          "  kiln cache pin release-12 0aef25955e0c3a1b0aef25955e0c3a1b", chosen,
                          [&a] { return RunCachePin(a.global, a.cache); });
  pin->add_option("name", a.cache.name, "Name of the pin")->required();
  pin->add_option("keys", a.cache.keys, "Signature, variant or live keys")->required();
  pin->add_option("--for", a.cache.until, "How long, such as 30d; default: for ever");
  pin->add_option("--note", a.cache.note, "Why");
  CLI::App* unpin = AddVerb(*cache, "unpin", "Remove a pin", "  kiln cache unpin release-12",
                            chosen, [&a] { return RunCacheUnpin(a.global, a.cache); });
  unpin->add_option("name", a.cache.name, "Name of the pin")->required();
  CLI::App* why = AddVerb(*cache, "why", "Why the result of a key was made or found",
                          "  kiln cache why 0aef25953033d800bca6c36a9de0ca3d", chosen,
                          [&a] { return RunCacheWhy(a.global, a.cache); });
  why->add_option("key", a.cache.name, "Signature, variant or live key")->required();
  AddVerb(*cache, "pins", "List the pins", "  kiln cache pins", chosen,
          [&a] { return RunCachePins(a.global, a.cache); });
}

// The files that a verb of packs reads: one, two, or several.
void AddPackFiles(CLI::App& verb, PackArguments& pack, int count) {
  if (count == 1) {
    verb.add_option("file", pack.file, "Pack file")->required();
  } else {
    CLI::Option* files = verb.add_option("files", pack.files, "Pack files")->required();
    count == 0 ? files->expected(1, 16) : files->expected(count);
  }
  verb.add_option("--base", pack.bases, "Packs below a delta, beside those in its folder")
      ->take_all();
}

void AddPack(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* pack = app.add_subcommand("pack", "Pack files");
  pack->fallthrough()->require_subcommand(1);
  CLI::App* build = AddVerb(*pack, "build", "One file with every result of the manifest",
                            "  kiln pack build --out demo.kpack\n"
                            "  kiln pack build 'rock/*' --out new.kpack --base old.kpack",
                            chosen, [&a] { return RunPackBuild(a.global, a.pack); });
  build->add_option("programs", a.pack.files, "Names or globs; default: all");
  build->add_option("--out", a.pack.out, "File to write")->required();
  CLI::Option* fast = build->add_flag("--fast", a.pack.fast, "Quick to read; the default");
  build->add_flag("--small", a.pack.small, "Small to download")->excludes(fast);
  build->add_option("--base", a.pack.base, "Write only what this pack lacks");
  build->add_option("--sign", a.pack.sign, "File of a private key");
  build->add_option("--warm", a.pack.warm, "File with what to build first, one JSON row per line");
  build->add_option("--pin", a.pack.pin, "Keep the results from removal under this name");
  CLI::App* show = AddVerb(*pack, "show", "What is in a pack", "  kiln pack show demo.kpack",
                           chosen, [&a] { return RunPackShow(a.global, a.pack); });
  AddPackFiles(*show, a.pack, 1);
  CLI::App* verify = AddVerb(*pack, "verify", "Read and check everything",
                             "  kiln pack verify demo.kpack --require-signature kiln.pub", chosen,
                             [&a] { return RunPackVerify(a.global, a.pack); });
  AddPackFiles(*verify, a.pack, 1);
  verify->add_option("--require-signature", a.pack.require_signature, "File of a public key");
  CLI::App* diff =
      AddVerb(*pack, "diff", "What two packs differ in", "  kiln pack diff old.kpack new.kpack",
              chosen, [&a] { return RunPackDiff(a.global, a.pack); });
  AddPackFiles(*diff, a.pack, 2);
  CLI::App* flatten = AddVerb(*pack, "flatten", "Merge a delta and its bases into one file",
                              "  kiln pack flatten base.kpack delta.kpack --out all.kpack", chosen,
                              [&a] { return RunPackFlatten(a.global, a.pack); });
  AddPackFiles(*flatten, a.pack, 0);
  flatten->add_option("--out", a.pack.out, "File to write")->required();
  flatten->add_option("--sign", a.pack.sign, "File of a private key");
  flatten->add_flag("--small", a.pack.small, "Small to download instead of quick to read");
  CLI::App* extract = AddVerb(*pack, "extract", "Files of one variant",
                              "  kiln pack extract demo.kpack rock/forward -o fog --out out",
                              chosen, [&a] { return RunPackExtract(a.global, a.pack); });
  AddPackFiles(*extract, a.pack, 1);
  extract->add_option("program", a.pack.program, "Program of the pack")->required();
  extract->add_option("-o,--option", a.pack.options, "NAME=VALUE; repeatable")->take_all();
  extract->add_option("-t,--target", a.pack.target, "Target; default: all");
  extract->add_option("--out", a.pack.out, "Folder for the files")->required();
  CLI::App* keygen = AddVerb(*pack, "keygen", "Make a key pair for signing packs",
                             "  kiln pack keygen --out release", chosen,
                             [&a] { return RunPackKeygen(a.global, a.pack); });
  keygen->add_option("--out", a.pack.out, "NAME.key and NAME.pub are written")->required();
}

void AddVersion(CLI::App& app, Arguments& a, Action& chosen) {
  AddVerb(app, "version", "The version of this program", "  kiln version\n  kiln version --json",
          chosen, [&a] {
            if (a.global.json) {
              fmt::print("{{\"v\":1,\"type\":\"version\",\"version\":\"{}\"}}\n",
                         std::string_view(kVersion).substr(sizeof("kiln ") - 1));
            } else {
              fmt::print("{}\n", kVersion);
            }
            return int{kSuccess};
          });
}

void AddCompletion(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* script = AddVerb(app, "completion", "Print a completion script for a shell",
                             "  kiln completion bash >> ~/.bashrc\n"
                             "  kiln completion fish > ~/.config/fish/completions/kiln.fish",
                             chosen, [&a] {
                               fmt::print("{}", CompletionScript(a.shell));
                               return int{kSuccess};
                             });
  script->add_option("shell", a.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  CLI::App* complete =
      AddVerb(app, "complete", "What the last of the words may become", "", chosen, [&app, &a] {
        for (const std::string& candidate : Candidates(app, a.global, a.words)) {
          fmt::print("{}\n", candidate);
        }
        return int{kSuccess};
      });
  complete->group("")->add_option("words", a.words, "Words so far, after --");
}

// Hidden: for packagers.
void AddManual(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(
      app, "manual", "Write the manual pages", "  kiln manual --out man", chosen, [&app, &a] {
        for (const auto& [name, text] : ManualPages(app, kVersion)) {
          const Result<void> written = WriteFile(a.manual + "/" + name, AsBytes(text));
          if (!written.ok()) {
            return Fail(a.global, written.error());
          }
        }
        return int{kSuccess};
      });
  verb->group("")->add_option("--out", a.manual, "Folder")->required();
}

// "unknown verb 'buld'; did you mean 'build'?", or empty if the first word is no verb.
std::string UnknownVerb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    return {};
  }
  std::vector<std::string_view> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == argv[1]) {
      return {};
    }
    verbs.push_back(verb->get_name());
  }
  const std::string_view closest = project::Closest(argv[1], verbs);
  return fmt::format("unknown verb '{}'{}", argv[1],
                     closest.empty() ? std::string("; kiln alone lists the verbs")
                                     : fmt::format("; did you mean '{}'?", closest));
}

// "pack show"
std::string VerbOf(const CLI::App& app) {
  std::string verb;
  for (const CLI::App* used = &app; !used->get_subcommands().empty();) {
    used = used->get_subcommands().front();
    verb += (verb.empty() ? "" : " ") + used->get_name();
  }
  return verb;
}

// Its output is a script or words: no line of JSON belongs behind them.
bool IsForShells(const CLI::App& app) {
  const std::string verb = VerbOf(app);
  return verb == "completion" || verb == "complete" || verb == "manual";
}

int Run(int argc, char** argv) {
  CLI::App app{"kiln"};
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(0, 1);
  Arguments arguments;
  Action chosen;
  AddGlobal(app, arguments.global);
  AddInit(app, arguments, chosen);
  AddCompile(app, arguments, chosen);
  AddBuild(app, arguments, chosen);
  AddBatch(app, arguments, chosen);
  AddInspect(app, arguments, chosen);
  AddOptions(app, arguments, chosen);
  AddExplain(app, arguments, chosen);
  AddWatch(app, arguments, chosen);
  AddPreview(app, arguments, chosen);
  AddOperator(app, arguments.global, arguments.operating, chosen);
  AddGraph(app, arguments, chosen);
  AddCache(app, arguments, chosen);
  AddPack(app, arguments, chosen);
  AddVersion(app, arguments, chosen);
  AddCompletion(app, arguments, chosen);
  AddManual(app, arguments, chosen);
  if (const std::string unknown = UnknownVerb(app, argc, argv); !unknown.empty()) {
    fmt::print(stderr, "error: {}\n", unknown);
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? int{kSuccess} : int{kUsage};
  }
  if (!chosen) {
    fmt::print("{}", kVerbs);
    return kSuccess;
  }
  const Result<void> limited = SetDeadline(arguments.global);
  const int code = limited.ok() ? chosen() : Fail(arguments.global, limited.error());
  if (!ResultWasPrinted() && !IsForShells(app)) {
    PrintResult(arguments.global, VerbOf(app), code, 0, {});
  }
  return code;
}

}  // namespace
}  // namespace kiln::cli

namespace {

// A reader that stops is no error; a disk that is full is one.
int CannotWrite(int error, int code) {
  if (error == EPIPE) {
    return code;
  }
  (void)std::fprintf(stderr, "error: cannot write to stdout: %s\n", std::strerror(error));
  return code == kiln::cli::kSuccess ? int{kiln::cli::kNotFound} : code;
}

}  // namespace

int main(int argc, char** argv) {
  int code = kiln::cli::kInternal;
  try {
    code = kiln::cli::Run(argc, argv);
  } catch (const std::system_error& error) {  // of fmt::print: files have results
    code = CannotWrite(error.code().value(), kiln::cli::kSuccess);
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "error: internal error: %s\n", error.what());
  }
  if (std::fflush(stdout) != 0) {
    code = CannotWrite(errno, code);
  }
  (void)std::fflush(stderr);
  std::_Exit(code);  // gRPC's own shutdown may take seconds (docs: dependencies)
}
