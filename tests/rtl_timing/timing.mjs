// Levels of gates between registers: node timing.mjs ROOT YOSYS SIZE OUT [BLOCK…] writes the longest paths of the blocks (if
// none is named all of them) at their small or default size to OUT, as JSON. Exits 1 if a block has more levels than timing.json
// allows. Netlists stay in the folder WORK, if it is set. With --quick after OUT a block is mapped by a short script first, which
// takes a fifth of the time; whatever mapping is within the limit shows that the block is, and only one above it is mapped again.
// Without it both scripts map each block, and the shallower mapping counts.
//
// yosys synthesizes a block to simple gates and keeps its memories. What is between flip-flops, memories and ports is mapped by
// ABC for depth to the cells of cells.genlib, with memory outputs arriving as late as `memoryLevels` says; each cell counts one
// level. Both tools are those of the pinned package, so that the numbers do not depend on the system.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { tmpdir } from 'node:os';

const [root, yosys, size, out, ...options] = process.argv.slice(2);
const quick = options[0] === '--quick';
const wanted = quick ? options.slice(1) : options;
const here = join(root, 'tests/rtl_timing');
const setup = JSON.parse(readFileSync(join(here, 'timing.json'), 'utf8'));
const area = JSON.parse(readFileSync(join(root, 'tests/formal/area.json'), 'utf8'));
const pathsShown = 6;
const thoroughMap = 'strash;if,-g;dch,-f;map';
const quickMap = 'strash;balance,-x;map';

const sources = (folder) => readdirSync(join(root, 'rtl', folder)).filter((f) => f.endsWith('.sv')).map((f) => join(root, 'rtl', folder, f));
const common = sources('common').sort((a, b) => (basename(b) === 'mrc_pkg.sv') - (basename(a) === 'mrc_pkg.sv'));

// A read counts as the levels of `memory` up to its bits, and one more for each doubling.
const memoryLevels = (bits) => setup.memory.levels + Math.max(0, Math.ceil(Math.log2(bits / setup.memory.bits)));

const portNames = { RD_ADDR: 'read address', RD_EN: 'read enable', WR_ADDR: 'write address', WR_DATA: 'write data', WR_EN: 'write enable' };

// The lines of a BLIF file as words, continued lines joined.
function* blifLines(text) {
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    if (line !== '' && !line.startsWith('#')) yield line.trim().split(/\s+/);
  }
}

// Reads with a register start at the memory. Those without one start at what drives their address: `address` has those ends.
function addMemory(name, memory, pins, from, to) {
  const levels = memoryLevels(memory.bits);
  const addresses = memory.clocked.map(() => []);
  const port = (pin, width) => Math.floor(Number(pin.match(/\[(\d+)\]/)?.[1] ?? 0) / width);
  const kind = (pin) => pin.replace(/\[.*/, '');
  for (const [pin, net] of pins) {
    if (!(kind(pin) in portNames)) continue;
    if (kind(pin) === 'RD_ADDR') addresses[port(pin, memory.addressBits)].push(to.length);
    to.push({ net, name: `${name} (${portNames[kind(pin)]})` });
  }
  for (const [pin, net] of pins) {
    if (kind(pin) !== 'RD_DATA') continue;
    const p = port(pin, memory.width);
    from.set(net, memory.clocked[p] ? { name, levels } : { name, levels, address: addresses[p] });
  }
}

// The netlist of yosys taken apart: gates as they are, and where paths start and end. `from` and `to` map a net to names.
function takeApart(text, memories) {
  const from = new Map();  // net → {name, levels}
  const to = [];           // {net, name}
  const gates = [];
  let gate = null;
  let pins = [];
  for (const words of blifLines(text)) {
    const [command, ...rest] = words;
    if (!command.startsWith('.')) {
      gate.push(words.join(' '));
      continue;
    }
    gate = null;
    if (command === '.inputs') {
      for (const net of rest) from.set(net, { name: net, levels: 0 });
    } else if (command === '.outputs') {
      for (const net of rest) to.push({ net, name: net });
    } else if (command === '.latch') {
      from.set(rest[1], { name: rest[1], levels: 0 });
      to.push({ net: rest[0], name: rest[1] });
    } else if (command === '.names') {
      gate = [words.join(' ')];
      gates.push(gate);
    } else if (command === '.subckt') {
      pins = rest.slice(1).map((pin) => pin.split('='));
    } else if (command === '.cname') {
      addMemory(rest[0], memories.get(rest[0]), pins, from, to);
    }
  }
  return { from, to, gates };
}

function combinational({ from, to, gates }) {
  const lines = ['.model paths', `.inputs ${[...from.keys()].join(' ')}`, `.outputs ${to.map((_, i) => `end_${i}`).join(' ')}`];
  for (const [net, { levels }] of from) if (levels > 0) lines.push(`.input_arrival ${net} ${levels} ${levels}`);
  for (const gate of gates) lines.push(...gate);
  to.forEach(({ net }, i) => lines.push(`.names ${net} end_${i}`, '1 1'));
  return `${lines.join('\n')}\n.end\n`;
}

// The latest start of each end in the mapped netlist.
function analyse(text, { from, to }) {
  const driver = new Map();
  const node = (inputs, levels, gates) => ({ inputs, levels, gates });
  for (const [command, ...rest] of blifLines(text)) {
    if (command !== '.gate') continue;
    const nets = rest.slice(1).map((pin) => pin.split('=')[1]);
    const level = nets.length > 1 ? 1 : 0;
    driver.set(nets.at(-1), node(nets.slice(0, -1), level, level));
  }
  const arrivals = new Map();
  for (const [net, { name, levels, address }] of from) {
    if (address) driver.set(net, node(address.map((i) => `end_${i}`), levels, 0));
    else arrivals.set(net, { levels, gates: 0, start: name, read: levels > 0 });
  }
  // ABC leaves out an end that no gate drives.
  to.forEach(({ net }, i) => {
    const end = `end_${i}`;
    if (!driver.has(end)) driver.set(end, node(driver.has(net) || arrivals.has(net) ? [net] : [], 0, 0));
  });
  const arrival = (end) => {
    const open = [end];
    while (open.length > 0) {
      const net = open.at(-1);
      if (arrivals.has(net)) { open.pop(); continue; }
      const { inputs, levels, gates } = driver.get(net);
      const missing = inputs.filter((n) => !arrivals.has(n));
      if (missing.length > 0) { open.push(...missing); continue; }
      let latest = { levels: 0, gates: 0, start: 'a constant', read: false };
      for (const input of inputs) if (arrivals.get(input).levels >= latest.levels) latest = arrivals.get(input);
      arrivals.set(net, { ...latest, levels: latest.levels + levels, gates: latest.gates + gates });
      open.pop();
    }
    return arrivals.get(end);
  };
  const group = (name) => name.replace(/\[\d+\]/g, '').replace(/(\.u_ram)?\.mem(?= |$)/, '');
  const paths = new Map();
  to.forEach(({ name }, i) => {
    const { levels, gates, start, read } = arrival(`end_${i}`);
    const path = { from: group(start), read, to: group(name), levels, gates };
    const key = `${path.from} ${path.to}`;
    if (!paths.has(key) || paths.get(key).levels < levels) paths.set(key, path);
  });
  const name = (path) => `${path.from} ${path.to}`;
  return [...paths.values()].sort((a, b) => b.levels - a.levels || (name(a) < name(b) ? -1 : 1)).slice(0, pathsShown);
}

function run(script, files, folder) {
  writeFileSync(join(folder, 'script.ys'), script);
  execFileSync(yosys, ['script.ys', ...files], { cwd: folder, maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] });
}

// Sizes of each memory by its name, and which of its read ports have a register.
function memorySizes(dump) {
  const memories = new Map();
  for (const cell of dump.split(/^ *cell \$mem_v2 /m).slice(1)) {
    const value = (name) => cell.match(new RegExp(`parameter[^\\n]* \\\\${name} (\\S+)`))[1];
    const name = cell.split('\n')[0].trim().replace(/^\\/, '');
    const [words, width, addressBits] = ['SIZE', 'WIDTH', 'ABITS'].map((field) => Number(value(field)));
    const clocked = [...value('RD_CLK_ENABLE').replace(/.*'/, '')].reverse().map((bit) => bit === '1');
    memories.set(name, { bits: words * width, width, addressBits, clocked });
  }
  return memories;
}

function measure(block) {
  const folder = process.env.WORK ?? mkdtempSync(join(tmpdir(), 'mrcsim-timing-'));
  try {
    const sizes = Object.values(area[block].sizes);
    const parameters = size === 'small' ? sizes[0] : sizes.at(-1);
    const { top } = area[block];
    const files = [...common, ...sources(block).filter((f) => !top || basename(f) === `${top}.sv`)];
    const registers = [...(area[block].registers ?? []), ...(setup.registers[block] ?? [])];
    for (const file of ['cells.genlib', 'plain_flip_flops.v']) copyFileSync(join(here, file), join(folder, file));
    run(`
read_slang --threads 1 ${files.map((f) => basename(f)).join(' ')} --top ${top ?? block} ${Object.entries(parameters).map(([p, v]) => `-G ${p}=${v}`).join(' ')}
proc; flatten; opt; memory -nomap; opt_clean
${registers.map((name) => `memory_map c:${name}`).join('; ')}
setparam -set INIT 1'x t:$mem_v2
tee -o memories.txt dump t:$mem_v2
wreduce; peepopt; opt_clean; alumacc; opt -full; techmap; opt -fast
dfflegalize -cell $_DFF_P_ x -cell $_DFF_PN0_ x -cell $_DFF_PN1_ x; techmap -map plain_flip_flops.v
opt_expr; opt_merge; opt_clean
write_blif -cname gates.blif
`, [...files, 'plain_flip_flops.v'], folder);
    const netlist = takeApart(readFileSync(join(folder, 'gates.blif'), 'utf8'), memorySizes(readFileSync(join(folder, 'memories.txt'), 'utf8')));
    writeFileSync(join(folder, 'paths.blif'), combinational(netlist));
    // The pass abc wants a module of its own, which is put aside while its script maps the netlist that matters.
    writeFileSync(join(folder, 'own.v'), 'module own (input a, b, output y); assign y = a & b; endmodule\n');
    const mapped = (map) => {
      run(`
read_verilog own.v; techmap
abc -g AND -script +strash;write_blif,own.blif;read_genlib,cells.genlib;read_blif,paths.blif;${map};write_blif,mapped.blif;read_blif,own.blif;strash
`, ['own.v', 'paths.blif', 'cells.genlib'], folder);
      return analyse(readFileSync(join(folder, 'mapped.blif'), 'utf8'), netlist);
    };
    const short = mapped(quickMap);
    if (quick && short[0].levels <= setup.limit && !setup.above[size]?.[block]) return short;
    // Either shows how the block can be built: the shallower one counts.
    const thorough = mapped(thoroughMap);
    return short[0].levels < thorough[0].levels ? short : thorough;
  } finally {
    if (!process.env.WORK) rmSync(folder, { recursive: true });
  }
}

const blocks = wanted.length > 0 ? wanted : Object.keys(area);
const results = {};
for (const block of blocks) {
  if (!area[block]) throw new Error(`no block ${block}; there are: ${Object.keys(area).join(', ')}`);
  results[block] = measure(block);
}
writeFileSync(out, JSON.stringify(results, null, 1));

let worse = 0;
for (const [block, paths] of Object.entries(results)) {
  const { levels, from, to } = paths[0];
  const listed = setup.above[size]?.[block];
  console.log(`${block} (${size}): ${quick ? 'at most ' : ''}${levels} levels from ${from} to ${to}`);
  if (levels > (listed ?? setup.limit)) {
    console.log(`timing: ${block}: more than ${listed ? `the ${listed} levels that tests/rtl_timing/timing.json lists` : `${setup.limit} levels`}`);
    worse = 1;
  } else if (listed && levels <= setup.limit) {
    console.log(`timing: ${block}: within ${setup.limit} levels, so tests/rtl_timing/timing.json must not list it any more`);
    worse = 1;
  } else if (listed && levels < listed) {
    console.log(`timing: ${block}: better than the ${listed} levels listed, which can be lowered`);
  }
}
process.exit(worse);
