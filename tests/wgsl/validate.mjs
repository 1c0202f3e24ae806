// SPDX-License-Identifier: MIT
// Judges modules of WGSL with two validators: naga, and Tint inside of Dawn.
//   node validate.mjs jobs.json verdicts.json
// jobs: [{"path", "code"}]; verdicts: {path: {"naga", "dawn"}}, "ok" or what they say; a warning is
// something to say, too, but for unreachable code. The packages are beside this file, or beside the
// package.json that KILN_WGSL_VALIDATORS names the folder of. Exit code 3: they are not installed.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dirname, join } from 'node:path';

const [jobsFile, verdictsFile] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const packages = join(process.env.KILN_WGSL_VALIDATORS || here, 'node_modules');

async function load(path) {
  try {
    return await import(pathToFileURL(join(packages, path)).href);
  } catch (error) {
    console.error(`the validators are not installed: ${error.message}`);
    process.exit(3);
  }
}

const naga = await load('naga-wasm/dist/node.js');
const { create, globals } = await load('webgpu/index.js');
Object.assign(globalThis, globals);

// Objects of naga live in memory that nothing collects.
function judgeWithNaga(code) {
  let module, info;
  try {
    module = naga.parseWgsl(code);
    info = naga.validate(module);
    return 'ok';
  } catch (error) {
    return String(error.message ?? error);
  } finally {
    info?.free?.();
    module?.free?.();
  }
}

async function judgeWithDawn(device, code) {
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code });
  const error = await device.popErrorScope();
  const { messages } = await module.getCompilationInfo();
  const said = messages.filter((m) => !/code is unreachable/.test(m.message))
    .map((m) => `${m.type} ${m.lineNum}:${m.linePos} ${m.message}`);
  return error === null && said.length === 0 ? 'ok' : said.join('\n') || error.message;
}

// The object must stay alive as long as the device.
const gpu = create(['backend=null']);
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice({ requiredFeatures: [...adapter.features] });
const verdicts = {};
for (const { path, code } of JSON.parse(readFileSync(jobsFile, 'utf8'))) {
  verdicts[path] = { naga: judgeWithNaga(code), dawn: await judgeWithDawn(device, code) };
}
writeFileSync(verdictsFile, JSON.stringify(verdicts, null, 1));
process.exit(gpu === undefined ? 1 : 0);
