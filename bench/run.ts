/**
 * `npm run bench [-- PART…]`: prints a table for each part and writes `bench/results/<part>.json`, and the same as a table for
 * README.md beside it.
 *
 * Parts: requests, makespan, refusals, growth, start-up, plan, large-answers, audit, secrets, budget, ci, support-package. Without a word all
 * but the last two, which need minutes, and two gigabytes of streaming. `--quick` leaves out the largest sizes.
 */
import {spawnSync} from 'node:child_process'
import {existsSync, mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {parseArgs} from 'node:util'
import {tableOf} from '../src/report/table.ts'
import {measureAudit} from './audit.ts'
import {measureBudgetFile} from './budget-file.ts'
import {measureChecks} from './ci.ts'
import {measureGrowth} from './growth.ts'
import {measureLargeAnswers} from './large-answers.ts'
import {type MakespanCase, measureMakespan, measureReference} from './makespan.ts'
import {measureOverhead, measurePlans} from './plan-process.ts'
import {countRefusals} from './refusals.ts'
import {countRequests} from './requests.ts'
import {measureSecrets} from './secrets.ts'
import {measureStartUp} from './start-up.ts'

const {values, positionals} = parseArgs({options: {quick: {type: 'boolean', default: false}}, allowPositionals: true})
const {quick} = values
const results = fileURLToPath(new URL('./results/', import.meta.url))

type Row = Readonly<Record<string, string | number | null>>
type Part = () => Promise<readonly Row[]>

const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))

const CASES: readonly MakespanCase[] = [
  {size: {subscriptions: 2, databases: 20}, service: 'usual'},
  {size: {subscriptions: 8, databases: 200}, service: 'instant'},
  {size: {subscriptions: 8, databases: 200}, service: 'usual'},
  {size: {subscriptions: 20, databases: 1000}, service: 'usual'},
  {size: {subscriptions: 2, databases: 20}, service: 'slow'},
  {size: {subscriptions: 8, databases: 200}, service: 'exclusive'},
  {size: {subscriptions: 8, databases: 200}, service: 'exclusive', knows: false},
]

async function makespan(): Promise<Row[]> {
  const rows: Row[] = []
  for (const it of quick ? CASES.filter(({size}) => size.databases < 1000) : CASES) {
    const ours = await measureMakespan(it)
    const service = it.knows === false ? `${it.service}, not told` : it.service
    rows.push({
      size: ours.size,
      service,
      engine: 'svcctl',
      ready_s: rounded(ours.readySeconds, 0),
      bound_s: rounded(ours.bounds.ready, 0),
      ratio: rounded(ours.readyRatio),
      proven_s: rounded(ours.provenSeconds, 0),
      proven_bound_s: rounded(ours.bounds.proven, 0),
      proven_ratio: rounded(ours.provenRatio),
      requests: ours.requests,
    })
    if (it.knows === false) continue
    for (const schedule of ['barriers', 'graph'] as const) {
      const theirs = await measureReference(it, schedule)
      rows.push({
        size: ours.size,
        service,
        engine: `10 workers, ${schedule}`,
        ready_s: rounded(theirs.readySeconds, 0),
        bound_s: rounded(ours.bounds.ready, 0),
        ratio: rounded(theirs.readySeconds / ours.bounds.ready),
        proven_s: rounded(theirs.provenSeconds, 0),
        proven_bound_s: rounded(ours.bounds.proven, 0),
        proven_ratio: rounded(theirs.provenSeconds / ours.bounds.proven),
        requests: theirs.requests,
      })
    }
  }
  return rows
}

async function growth(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [shape, sizes] of [
    ['fan', quick ? [1000, 5000] : [1000, 5000, 10_000]],
    ['chain', [500, 1000, 2000]],
    ['alone', quick ? [1000, 4000] : [1000, 4000, 16_000]],
    ['exclusive', quick ? [1000, 4000] : [1000, 4000, 16_000]],
  ] as const) {
    for (const size of sizes) {
      const it = await measureGrowth(shape, size)
      rows.push({
        shape,
        objects: size,
        plan_ms_each: rounded(it.planMsPerObject, 3),
        apply_ms_each: rounded(it.applyMsPerObject, 3),
        again_ms_each: rounded(it.againMsPerObject, 3),
      })
    }
  }
  return rows
}

async function plan(): Promise<Row[]> {
  const sizes = quick ? [1000] : [1000, 10_000]
  const rows: Row[] = []
  for (const objects of sizes) {
    for (const shape of ['fan', 'chain'] as const) {
      const {milliseconds} = await measureOverhead(shape, objects)
      const known = {what: 'planner alone, in process', shape, objects, wall_s: rounded(milliseconds / 1000)}
      rows.push({...known, cpu_s: null, peak_MiB: null, bar_s: null, bar_MiB: null})
    }
  }
  const options = quick ? {sizes, rounds: 1} : {sizes: [...sizes, 100_000], rounds: 3}
  for (const {what, shape, objects, measured, barSeconds, barMiB} of await measurePlans(options)) {
    rows.push({
      what,
      shape,
      objects,
      wall_s: measured ? rounded(measured.wallMs / 1000) : null,
      cpu_s: measured ? rounded(measured.cpuMs / 1000) : null,
      peak_MiB: measured?.peakMiB ?? null,
      bar_s: barSeconds === undefined ? null : rounded(barSeconds, 1),
      bar_MiB: barMiB ?? null,
    })
  }
  return rows
}

async function budget(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [processes, perMinute] of [
    [1, 100],
    [1, 3000],
    [4, 3000],
  ] as const) {
    const it = await measureBudgetFile(processes, perMinute, quick ? 5 : 20)
    rows.push({
      processes,
      per_minute: perMinute,
      seconds: rounded(it.seconds, 1),
      requests: it.requests,
      allowed: rounded(it.allowed, 0),
      refused: it.refused,
      in_budget_percent: rounded(100 * it.inBudget),
      most: it.shares[0],
      fewest: it.shares[1],
    })
  }
  return rows
}

const PARTS: Readonly<Record<string, Part>> = {
  requests: async () => (await countRequests()).map(it => ({...it})),
  makespan,
  refusals: async () => (await countRefusals()).map(it => ({...it, seconds: rounded(it.seconds, 0)})),
  growth,
  'start-up': async () =>
    measureStartUp().map(it => ({
      what: it.what,
      median_ms: rounded(it.medianMs, 0),
      least_ms: rounded(it.leastMs, 0),
      above_node_ms: rounded(it.aboveNodeMs, 0),
      least_cpu_ms: rounded(it.leastCpuMs, 0),
      cpu_above_node_ms: rounded(it.cpuAboveNodeMs, 0),
    })),
  plan,
  'large-answers': async () =>
    (await measureLargeAnswers(26_900, quick ? 1 : 7)).map(it => ({
      what: it.what,
      MB: rounded(it.bytes / 1e6, 1),
      wall_s: rounded(it.wallMs / 1000),
      cpu_s: rounded(it.cpuMs / 1000),
      of_bare_node: rounded(it.ratio),
      wall_of_bare_node: rounded(it.wallRatio),
      peak_MiB: it.peakMiB,
    })),
  audit: async () =>
    (await measureAudit(quick ? 20_000 : 200_000, quick ? 1 : 3)).map(it => ({
      what: it.what,
      lines: it.lines,
      wall_s: rounded(it.wallMs / 1000),
      cpu_s: rounded(it.cpuMs / 1000),
      peak_MiB: it.peakMiB,
    })),
  secrets: async () =>
    (await measureSecrets({subscriptions: 8, databases: quick ? 16 : 200})).map(it => ({
      what: it.what,
      secrets: it.secrets,
      seconds: rounded(it.seconds, 3),
      cpu_s: it.cpuSeconds === undefined ? null : rounded(it.cpuSeconds),
      bar_s: it.bar ?? null,
    })),
  budget,
  ci: async () =>
    (await measureChecks()).map(it => ({
      what: it.what,
      wall_s: it.measured ? rounded(it.measured.wallMs / 1000, 0) : null,
      cpu_s: it.measured ? rounded(it.measured.cpuMs / 1000, 0) : null,
      peak_MiB: it.measured?.peakMiB ?? null,
      bar_s: it.barSeconds,
    })),
}

/** Only when asked for. */
const LONG: readonly string[] = ['ci']

/** As README.md has tables; what was not measured is left empty. */
function markdownTable(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |\n`
  const rule = names.map(name => (rows.some(row => typeof row[name] === 'number') ? '---:' : '---'))
  return [names, rule, ...rows.map(row => names.map(name => row[name] ?? ''))].map(line).join('')
}

/** A program of its own, with bars of its own. */
const SUPPORT_PACKAGE = fileURLToPath(new URL('./support-package.ts', import.meta.url))

const wanted = positionals.length > 0 ? positionals : Object.keys(PARTS).filter(it => !LONG.includes(it))
mkdirSync(results, {recursive: true})
for (const name of wanted) {
  const part = PARTS[name]
  if (name === 'support-package' && existsSync(SUPPORT_PACKAGE)) {
    const {status} = spawnSync(process.execPath, ['--import', 'tsx', SUPPORT_PACKAGE], {stdio: 'inherit'})
    process.exitCode = status ?? 1
  } else if (part === undefined) {
    process.stderr.write(`no part ${name}; known are ${[...Object.keys(PARTS), 'support-package'].join(', ')}\n`)
    process.exitCode = 64
  } else {
    const rows = await part()
    writeFileSync(join(results, `${name}.json`), `${JSON.stringify({node: process.version, rows}, null, 2)}\n`)
    writeFileSync(join(results, `${name}.md`), markdownTable(rows))
    process.stdout.write(`\n${name}\n${await tableOf(rows)}\n`)
  }
}
