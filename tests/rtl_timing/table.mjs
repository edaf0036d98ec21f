// Prints docs/rtl_timing.md: node table.mjs ROOT FOLDER, where FOLDER has small.json and default.json of timing.mjs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [root, folder] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const setup = read(join(root, 'tests/rtl_timing/timing.json'));
const [small, full] = ['small', 'default'].map((size) => read(join(folder, `${size}.json`)));
const grouped = (text) => text.replace(/\d+/g, (n) => Number(n).toLocaleString('en-US'));
const parameters = (block) => grouped(Object.entries(Object.values(read(join(root, 'tests/formal/area.json'))[block].sizes).at(-1))
  .map(([name, value]) => `${name} ${value}`).join(', '));
const start = (path) => (path.read ? `read of \`${path.from}\`` : `\`${path.from}\``);
const end = (path) => `\`${path.to}\``.replace(/ \((.*)\)`/, '`, $1');

const rows = Object.keys(small).map((block) => {
  const levels = full[block][0].levels;
  const within = Math.max(levels, small[block][0].levels) <= setup.limit;
  return `| ${block} | ${parameters(block)} | ${small[block][0].levels} | ${levels} | ${within ? 'yes' : 'no'} |`;
});
const details = Object.entries(full).map(([block, paths]) => `## ${block}

| from | to | levels | gates among them |
|---|---|---|---|
${paths.map((path) => `| ${start(path)} | ${end(path)} | ${path.levels} | ${path.gates} |`).join('\n')}
`);

console.log(`# Timing of the RTL blocks

Written by \`tests/rtl_timing/timing.sh\`. Levels of gates on the longest path of each block, between registers, memories and ports. The
limit is ${setup.limit} levels. Blocks that exceed it are listed in \`tests/rtl_timing/timing.json\` with their present levels: the tests
fail when a listed block gets worse, or when another one exceeds the limit (small sizes in the default tests, default sizes with
\`tests/run.sh --long formal\`). Such a block would not close timing as it is, and its cycles, although measured, are those of RTL that
must still be changed.${Object.values(setup.above).some((above) => Object.keys(above).length > 0) ? '' : ' At present there is none.'}

- Cells: inverter, \`NAND\` and \`NOR\` of up to 3 inputs, \`AOI21\`, \`OAI21\`, 2-input XOR and multiplexer, one level each. yosys synthesizes,
  ABC maps for depth by two scripts (sum-of-products balancing with structural choices; balancing alone), of which the shallower counts.
  Wires, fan-out, set-up and clock skew are not included.
- A memory read counts as ${setup.memory.levels} levels up to ${grouped(String(setup.memory.bits))} bits, and one more for each doubling. Where the read has a register at its address or
  output, as it has unless named otherwise, its levels begin a path, and addresses, write data and enables end one without further
  levels.
- No memory is larger than what its read latency allows: a read of a bank takes at most ${setup.limit} levels for each cycle of its latency, which is
  \`ReadLatency\` of the \`ram_1r1w_banked\` (\`rtl/common\`) that it is in, and 1 where there is none. The test \`rtl_memories\` looks at
  all memories of the default sizes.
- Paths from input ports begin at 0 levels and paths to output ports end without further levels, as if the ports were registered outside.
- An enable of a flip-flop counts as a multiplexer. Asynchronous resets are not on a path.

| block | default size | levels, small size | levels, default size | within ${setup.limit} |
|---|---|---|---|---|
${rows.join('\n')}

${details.join('\n').trim()}`);
