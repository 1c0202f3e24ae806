// SPDX-License-Identifier: MIT
// The verbs about all variants of a manifest: build, batch, fetch, pack.
#include <fmt/format.h>

#include "client/cli/app.h"

namespace kiln::cli {
namespace {

void AddBuild(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(app, "build", "Build every variant of the manifest",
                           "  kiln build\n  kiln build 'rock/*' --out results", chosen,
                           [&a] { return RunBuild(a.global, a.build); });
  verb->add_option("programs", a.build.programs, "Names or globs; default: all");
  BuildArguments& build = a.build;
  verb->add_option("-t,--target", build.targets, "Target of the manifest; repeatable")->take_all();
  verb->add_option("--where", build.where, "Only variants where this expression is true")
      ->check(SaysSomething);
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
}

void AddFetch(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* fetch = AddVerb(app, "fetch", "Download results, as an engine would",
                            "  kiln fetch --all --out run/shaders\n"
                            "  kiln fetch 'rock/*' --warm --have run/root --out run/shaders",
                            chosen, [&a] { return RunFetch(a.global, a.fetch); });
  fetch->add_option("programs", a.fetch.programs, "Names or globs");
  fetch->add_flag("--all", a.fetch.all, "Every program");
  fetch->add_flag("--warm", a.fetch.warm, "Only variants that the manifest marks with warm = true");
  fetch->add_option("--have", a.fetch.have,
                    "File with the root of the last fetch, of which nothing is sent again; "
                    "rewritten");
  fetch->add_option("--on-miss", a.fetch.on_miss, "What is not in the cache; default: compile it")
      ->check(CLI::IsMember({"skip", "compile", "fail"}));
  fetch->add_option("--out", a.fetch.out, "Folder for the results, or a file *.kpack")->required();
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
    const std::string example = fmt::format("  kiln batch {}{}\n  kiln batch {}{}", name,
                                            name == "list" ? "" : " 7c1e", name,
                                            name == "list"    ? " --json"
                                            : name == "items" ? " 7c1e --kinds failed,slow"
                                                              : " 7c1e --json");
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
  CLI::App* show = AddVerb(*pack, "show", "What is in a pack",
                           "  kiln pack show demo.kpack\n  kiln pack show demo.kpack --json",
                           chosen, [&a] { return RunPackShow(a.global, a.pack); });
  AddPackFiles(*show, a.pack, 1);
  CLI::App* stats = AddVerb(*pack, "stats", "What costs what in a pack",
                            "  kiln pack stats demo.kpack\n  kiln pack stats demo.kpack --json",
                            chosen, [&a] { return RunPackStats(a.global, a.pack); });
  AddPackFiles(*stats, a.pack, 1);
  CLI::App* verify = AddVerb(
      *pack, "verify", "Read and check everything",
      "  kiln pack verify demo.kpack\n  kiln pack verify demo.kpack --require-signature kiln.pub",
      chosen, [&a] { return RunPackVerify(a.global, a.pack); });
  AddPackFiles(*verify, a.pack, 1);
  verify->add_option("--require-signature", a.pack.require_signature, "File of a public key");
  CLI::App* diff =
      AddVerb(*pack, "diff", "What two packs differ in",
              "  kiln pack diff old.kpack new.kpack\n  kiln pack diff old.kpack new.kpack --json",
              chosen, [&a] { return RunPackDiff(a.global, a.pack); });
  AddPackFiles(*diff, a.pack, 2);
  CLI::App* flatten = AddVerb(*pack, "flatten", "Merge a delta and its bases into one file",
                              "  kiln pack flatten base.kpack delta.kpack --out all.kpack\n  kiln "
                              "pack flatten base.kpack --out small.kpack --small",
                              chosen, [&a] { return RunPackFlatten(a.global, a.pack); });
  AddPackFiles(*flatten, a.pack, 0);
  flatten->add_option("--out", a.pack.out, "File to write")->required();
  flatten->add_option("--sign", a.pack.sign, "File of a private key");
  flatten->add_flag("--small", a.pack.small, "Small to download instead of quick to read");
  CLI::App* extract = AddVerb(*pack, "extract", "Files of one variant",
                              "  kiln pack extract demo.kpack rock/forward -o fog --out out\n  "
                              "kiln pack extract demo.kpack rock/forward --out out",
                              chosen, [&a] { return RunPackExtract(a.global, a.pack); });
  AddPackFiles(*extract, a.pack, 1);
  extract->add_option("program", a.pack.program, "Program of the pack")->required();
  extract->add_option("-o,--option", a.pack.options, "NAME=VALUE; repeatable")->take_all();
  extract->add_option("-t,--target", a.pack.target, "Target; default: all");
  extract->add_option("--out", a.pack.out, "Folder for the files")->required();
  CLI::App* keygen =
      AddVerb(*pack, "keygen", "Make a key pair for signing packs",
              "  kiln pack keygen --out release\n  kiln pack keygen --out keys/nightly", chosen,
              [&a] { return RunPackKeygen(a.global, a.pack); });
  keygen->add_option("--out", a.pack.out, "NAME.key and NAME.pub are written")->required();
}

}  // namespace

void AddBuildVerbs(CLI::App& app, Arguments& arguments, Action& chosen) {
  AddBuild(app, arguments, chosen);
  AddBatch(app, arguments, chosen);
  AddFetch(app, arguments, chosen);
  AddPack(app, arguments, chosen);
}

}  // namespace kiln::cli
