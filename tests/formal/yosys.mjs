// Runs yosys (with its SystemVerilog front end slang) from npm: node yosys.mjs SCRIPT INPUT… . Files are given to yosys
// under their base names; whatever the script writes lands in the current folder. Exit code is that of yosys.
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { runYosys, Exit } from '@yowasp/yosys';

function write(tree, folder) {
  for (const [name, content] of Object.entries(tree)) {
    const path = join(folder, name);
    if (content instanceof Uint8Array || typeof content === 'string') {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    } else {
      write(content, path);
    }
  }
}

const [script, ...inputs] = process.argv.slice(2);
const files = Object.fromEntries(inputs.map((path) => [basename(path), readFileSync(path)]));
const given = new Set(Object.keys(files));
try {
  const out = await runYosys(['-p', readFileSync(script, 'utf8')], files);
  write(Object.fromEntries(Object.entries(out ?? {}).filter(([name]) => !given.has(name))), '.');
} catch (error) {
  if (!(error instanceof Exit)) throw error;
  process.exit(error.code || 1);
}
