// SPDX-License-Identifier: MIT
// The verbs of whoever runs the daemon. See spec/cli 6.11, 6.12
#include "client/cli/app.h"

namespace kiln::cli {
namespace {

using Words = std::vector<std::string>;

void AddLife(CLI::App& app, const Global& global, OperatorArguments& a, Action& chosen) {
  CLI::App* status = AddVerb(app, "status", "Daemon, queue, batches, cache, health",
                             "  kiln status\n  kiln status --jobs --json", chosen,
                             [&] { return RunStatus(global, a.status); });
  status->add_flag("--watch", a.status.watch, "Again every second");
  status->add_flag("--jobs", a.status.jobs, "And what is queued or runs");
  status->add_option("--trace", a.status.trace, "What the calls of this trace id did");
  CLI::App* doctor = AddVerb(app, "doctor", "Check the installation and say what to do",
                             "  kiln doctor\n  kiln doctor --bundle report.json", chosen,
                             [&] { return RunDoctor(global, a.doctor); });
  doctor->add_option("--bundle", a.doctor.bundle, "Write log, configuration and figures to a file");
  CLI::App* serve = AddVerb(app, "serve", "Run the daemon in the foreground",
                            "  kiln serve\n  kiln serve -- --metrics.listen 127.0.0.1:9464", chosen,
                            [&] { return RunServe(global, a.serve); });
  serve->allow_extras()->add_option("flags", a.serve, "Flags of kilnd, after --");
  AddVerb(app, "start", "Start the daemon in the background", "  kiln start\n  kiln start --json",
          chosen, [&] { return RunStart(global); });
  CLI::App* stop =
      AddVerb(app, "stop", "Finish running work, then end the daemon",
              "  kiln stop\n  kiln stop --now", chosen, [&] { return RunStop(global, a.now); });
  stop->add_flag("--now", a.now, "Do not wait; nothing acknowledged is lost");
}

void AddConfig(CLI::App& app, const Global& global, OperatorArguments& a, Action& chosen) {
  CLI::App* config = app.add_subcommand("config", "The configuration of the daemon");
  config->fallthrough()->require_subcommand(1);
  CLI::App* show = AddVerb(*config, "show", "Every key and the value in force",
                           "  kiln config show\n  kiln config show --origin", chosen, [&] {
                             Words words{"config", "show"};
                             if (a.origin) {
                               words.emplace_back("--origin");
                             }
                             return RunKilnd(global, words);
                           });
  show->add_flag("--origin", a.origin, "And where each value comes from");
  CLI::App* check =
      AddVerb(*config, "check", "Read a file and say what is wrong with it",
              "  kiln config check kilnd.toml\n  kiln config check /etc/kiln/kilnd.toml --json",
              chosen, [&] {
                return RunKilnd(global, Words{"config", "check", a.file});
              });
  check->add_option("file", a.file, "Configuration file")->required();
}

void AddToken(CLI::App& app, const Global& global, OperatorArguments& a, Action& chosen) {
  CLI::App* token = app.add_subcommand("token", "Tokens of clients over TCP");
  token->fallthrough()->require_subcommand(1);
  token->add_option("--config", a.config, "Configuration file of the daemon whose tokens they are");
  CLI::App* create =
      AddVerb(*token, "create", "Make a token and print its secret, once",
              "  kiln token create --scope write --config /etc/kiln/kilnd.toml\n"
              "  kiln token create --scope read --expires 90d --note 'CI of branches'",
              chosen, [&] {
                Words words{"token", "create", "--scope=" + a.scope};
                for (const auto& [flag, value] :
                     {std::pair{"--expires=", &a.expires}, std::pair{"--note=", &a.note},
                      std::pair{"--tenant=", &a.tenant}}) {
                  if (!value->empty()) {
                    words.push_back(flag + *value);
                  }
                }
                return RunTokenVerb(global, a.config, words);
              });
  create->add_option("--scope", a.scope, "What it may do")
      ->required()
      ->check(CLI::IsMember({"read", "write", "admin"}));
  create->add_option("--expires", a.expires,
                     "How long it is valid, such as 90d; default: for ever");
  create->add_option("--note", a.note, "Who has it");
  create->add_option("--tenant", a.tenant, "Whose share of the daemon it uses");
  AddVerb(*token, "list", "Ids, scopes, expiry; never secrets",
          "  kiln token list\n  kiln token list --json", chosen, [&] {
            return RunTokenVerb(global, a.config, Words{"token", "list"});
          });
  CLI::App* revoke =
      AddVerb(*token, "revoke", "Make a token invalid at once",
              "  kiln token revoke 0aef25953033d800\n  kiln token revoke 0aef25953033d800 --json",
              chosen, [&] {
                return RunTokenVerb(global, a.config, Words{"token", "revoke", a.id});
              });
  revoke->add_option("id", a.id, "As token list shows it")->required();
}

void AddCache(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* cache = app.add_subcommand("cache", "The cache of this user");
  cache->fallthrough()->require_subcommand(1);
  cache->add_option("--dir", a.cache.dir,
                    "Folder of the cache; default: KILN_CACHE_DIR, "
                    "else ~/.cache/kiln");
  AddVerb(*cache, "stats", "Sizes, counts, ratios", "  kiln cache stats\n  kiln cache stats --json",
          chosen, [&a] { return RunCacheStats(a.global, a.cache); });
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
  AddVerb(*cache, "repair", "Verify, mend what can be, drop what cannot",
          "  kiln cache repair\n  kiln cache repair --dir build/cache", chosen,
          [&a] { return RunCacheRepair(a.global, a.cache); });
  CLI::App* out = AddVerb(*cache, "export", "Write rows and content into a file",
                          "  kiln cache export cache.kpack --since 7d\n  kiln cache export "
                          "release.kpack --pin release-12",
                          chosen, [&a] { return RunCacheExport(a.global, a.cache); });
  out->add_option("file", a.cache.file, "File to write")->required();
  out->add_option("--pin", a.cache.pin, "Only what this pin holds");
  out->add_option("--since", a.cache.since, "Only what was used since, such as 7d");
  CLI::App* in =
      AddVerb(*cache, "import", "Merge an exported file; overwrites nothing",
              "  kiln cache import cache.kpack\n  kiln cache import cache.kpack --dir build/cache",
              chosen, [&a] { return RunCacheImport(a.global, a.cache); });
  in->add_option("file", a.cache.file, "File to read")->required();
  CLI::App* pin = AddVerb(*cache, "pin", "Keep results from removal under a name",
                          "  kiln cache pin release-12 0aef25955e0c3a1b0aef25955e0c3a1b\n  kiln "
                          "cache pin nightly 0aef25955e0c3a1b0aef25955e0c3a1b --for 30d",
                          chosen, [&a] { return RunCachePin(a.global, a.cache); });
  pin->add_option("name", a.cache.name, "Name of the pin")->required();
  pin->add_option("keys", a.cache.keys, "Signature, variant or live keys")->required();
  pin->add_option("--for", a.cache.until, "How long, such as 30d; default: for ever");
  pin->add_option("--note", a.cache.note, "Why");
  CLI::App* unpin = AddVerb(*cache, "unpin", "Remove a pin",
                            "  kiln cache unpin release-12\n  kiln cache unpin nightly --json",
                            chosen, [&a] { return RunCacheUnpin(a.global, a.cache); });
  unpin->add_option("name", a.cache.name, "Name of the pin")->required();
  CLI::App* why = AddVerb(*cache, "why", "Why the result of a key was made or found",
                          "  kiln cache why 0aef25953033d800bca6c36a9de0ca3d\n  kiln cache why "
                          "0aef25953033d800bca6c36a9de0ca3d --json",
                          chosen, [&a] { return RunCacheWhy(a.global, a.cache); });
  why->add_option("key", a.cache.name, "Signature, variant or live key")->required();
  AddVerb(*cache, "pins", "List the pins", "  kiln cache pins\n  kiln cache pins --json", chosen,
          [&a] { return RunCachePins(a.global, a.cache); });
}

}  // namespace

void AddOperatorVerbs(CLI::App& app, Arguments& arguments, Action& chosen) {
  AddLife(app, arguments.global, arguments.operating, chosen);
  AddConfig(app, arguments.global, arguments.operating, chosen);
  AddToken(app, arguments.global, arguments.operating, chosen);
  AddCache(app, arguments, chosen);
}

}  // namespace kiln::cli
