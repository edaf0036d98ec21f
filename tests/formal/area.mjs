// Writes docs/rtl_area.md: node area.mjs ROOT YOSYS FLOORPLAN.csv OUT. Each block of area.json is synthesized at its sizes to
// simple gates; its memories are kept and compared with those of the floorplan, except arrays that are `registers`.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { tmpdir } from 'node:os';

const [root, yosys, floorplan, out] = process.argv.slice(2);
const blocks = JSON.parse(readFileSync(join(root, 'tests/formal/area.json'), 'utf8'));
const sources = (folder) => readdirSync(join(root, 'rtl', folder)).filter((f) => f.endsWith('.sv')).map((f) => join(root, 'rtl', folder, f));
const common = sources('common').sort((a, b) => (basename(b) === 'mrc_pkg.sv') - (basename(a) === 'mrc_pkg.sv'));
const grouped = (n) => n.toLocaleString('en-US');

// `top`: of neighbors that are joined, what is between them; the blocks have rows of their own.
function synthesize(block, top, parameters, registers) {
  const files = [...common, ...sources(block).filter((f) => !top || basename(f) === `${top}.sv`)];
  const folder = mkdtempSync(join(tmpdir(), 'mrcsim-area-'));
  const sizes = Object.entries(parameters).map(([name, value]) => `-G ${name}=${value}`).join(' ');
  writeFileSync(join(folder, 'area.ys'), `
read_slang --threads 1 ${files.map((f) => basename(f)).join(' ')} --top ${top ?? block} ${sizes}
proc; flatten; opt; memory -nomap; opt_clean
${registers.map((name) => `memory_map c:${name}`).join('; ')}
write_json memories.json
wreduce; alumacc; opt_clean; techmap; opt -fast
tee -o stat.json stat -json
`);
  try {
    execFileSync(yosys, ['area.ys', ...files], { cwd: folder, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
    const netlist = JSON.parse(readFileSync(join(folder, 'memories.json'), 'utf8')).modules[top ?? block];
    const memories = Object.values(netlist.cells).filter((c) => c.type.startsWith('$mem')).map((c) => ({
      name: Buffer.from(c.parameters.MEMID).toString().replace(/^\\/, '').replace(/\.mem$/, '').split('.').slice(-2).join('.').replace(/\.u_ram$/, ''),
      words: parseInt(c.parameters.SIZE, 2),
      width: parseInt(c.parameters.WIDTH, 2),
    }));
    const byType = JSON.parse(readFileSync(join(folder, 'stat.json'), 'utf8')).design.num_cells_by_type;
    const flipFlops = Object.entries(byType).filter(([type]) => type.includes('DFF')).reduce((sum, [, n]) => sum + n, 0);
    const cells = Object.entries(byType).filter(([type]) => !type.startsWith('$mem')).reduce((sum, [, n]) => sum + n, 0);
    return { cells, flipFlops, memories, bits: memories.reduce((sum, m) => sum + m.words * m.width, 0) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const sram = Object.fromEntries(readFileSync(floorplan, 'utf8').trim().split('\n').map((line) => line.split(',')).map((row) => [row[0], row]));
const header = readFileSync(floorplan, 'utf8').split('\n')[0].split(',');
const bitsOf = (structures) => structures.split(' + ').reduce((sum, s) => sum + Number(sram[s][header.indexOf('bits')]), 0);

const rows = [];
const details = [];
for (const [block, entry] of Object.entries(blocks)) {
  let last;
  for (const [name, parameters] of Object.entries(entry.sizes)) {
    last = synthesize(block, entry.top, parameters, entry.registers ?? []);
    const shown = Object.entries(parameters).map(([p, v]) => `${p} ${grouped(v)}`).join(', ');
    rows.push(`| ${block}${entry.top ? `: ${entry.top}` : ''} | ${shown} | ${grouped(last.cells)} | ${grouped(last.flipFlops)} | ${grouped(last.bits)} |`);
  }
  details.push(`## ${block}\n`);
  if (last.memories.length > 0) {
    details.push('| memory | words × bits | bits | in the floorplan |', '|---|---|---|---|');
    const structure = (m) => Object.keys(entry.sram).find((s) => entry.sram[s].includes(m.name)) ?? '';
    for (const m of last.memories.sort((a, b) => b.words * b.width - a.words * a.width || a.name.localeCompare(b.name))) {
      details.push(`| \`${m.name}\` | ${grouped(m.words)} × ${m.width} | ${grouped(m.words * m.width)} | ${structure(m)} |`);
    }
    details.push('');
    for (const [s, names] of Object.entries(entry.sram)) {
      const rtl = last.memories.filter((m) => names.includes(m.name)).reduce((sum, m) => sum + m.words * m.width, 0);
      details.push(`\`${s.replaceAll(' + ', '` + `')}\`: ${grouped(bitsOf(s))} bits in the floorplan, ${grouped(rtl)} in the RTL (${(rtl / bitsOf(s)).toFixed(2)} times).`);
    }
    details.push('');
  }
  details.push(`${entry.why}\n`);
}

writeFileSync(out, `# Area of the RTL blocks

Written by \`tests/formal/area.sh\` (\`tests/run.sh --long formal\` checks that it is up to date). yosys synthesizes each block at two
sizes to simple gates: two-input gates, inverters, multiplexers and flip-flops. There is no technology mapping, so the number of cells
compares blocks with each other but does not give an area in mm². Memories are kept and counted in bits, without check bits. Those of
the larger size are compared with the structures of \`mrcsim floorplan tb/scenarios/pair.toml\`, which has the default sizes.

| block | size | cells | flip-flops among them | memory bits |
|---|---|---|---|---|
${rows.join('\n')}

${details.join('\n').trim()}
`);
