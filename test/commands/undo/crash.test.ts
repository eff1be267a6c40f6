/**
 * An undo that dies while its plan is carried out. The run goes on to its end once, and at each of its boundaries what was on
 * the disk and what the services had is kept: that is what a kill at that moment leaves.
 */
import {cpSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import type {Snapshot} from '../../../src/simulator/interface.ts'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Inside
let kept: string
beforeEach(async () => {
  at = await inside()
  kept = mkdtempSync(join(tmpdir(), 'svcctl-boundaries-'))
})
afterEach(async () => {
  await at.close()
  rmSync(kept, {recursive: true, force: true})
})

const END = 'at its end'
const PASSWORD = 'undo-Pw-1'
const env = {TF_VAR_pw: PASSWORD}
const base = (): JsonStack =>
  jsonStack('shop')
    .block('variable', {pw: {type: 'string', sensitive: true}})
    .subscription('main')
    .database('cache', 'main')
    .bdb('secret', {}, {expressions: {'/authentication_redis_pass': '${var.pw}'}})
const former = () => base().database('gone', 'main').database('port', 'main', {port: 12_000}).bdb('old')
const latter = () =>
  base()
    .database('cache', 'main', {memoryLimitInGb: 3})
    .database('port', 'main', {port: 12_001})
    .database('fresh', 'main')
    .bdb('secret', {memory_size: 209_715_200}, {expressions: {'/authentication_redis_pass': '${var.pw}'}})
    .bdb('renamed', {name: 'old'})
    .bdb('theirs')
const FROM = () => ['--synth-dir', join(at.folder, 'shop')]

async function apply(stack: JsonStack): Promise<string> {
  saveStack(at.folder, stack)
  const outcome = await at.fast(['apply', ...FROM(), '--auto-approve', '--allow-destroy', '*', '-o', 'json'], {env})
  expect(outcome).toMatchObject({code: 0})
  return documentOf(outcome).run
}

interface Boundary {
  readonly moment: string
  readonly folder: string
  readonly world: Snapshot
}

/** Carries the plan out, and keeps what there is before and after each request that follows a write or is one. */
async function boundaries(plan: string): Promise<Boundary[]> {
  const found: Boundary[] = []
  const {simulator} = at
  const {handle} = simulator
  const keep = (moment: string) => {
    const folder = join(kept, String(found.length))
    cpSync(at.folder, folder, {recursive: true})
    // The process is gone, and with it its lock.
    for (const it of readdirSync(folder).filter(name => name.includes('.lock'))) rmSync(join(folder, it))
    found.push({moment, folder, world: simulator.snapshot()})
  }
  let written = false
  Object.assign(simulator, {
    handle: async (request: Parameters<typeof handle>[0]) => {
      const what = `${request.method} ${new URL(request.url).pathname}`
      const counts = request.method !== 'GET' || written
      written = request.method !== 'GET'
      if (counts) keep(`before ${what}`)
      const answer = await handle(request)
      if (counts) keep(`after ${what}`)
      return answer
    },
  })
  const outcome = await at.fast(['apply', plan, '--auto-approve', '-o', 'json'], {env})
  Object.assign(simulator, {handle})
  expect(outcome).toMatchObject({code: 0})
  keep(END)
  return found
}

function back({folder, world}: Boundary): void {
  for (const it of readdirSync(at.folder)) rmSync(join(at.folder, it), {recursive: true})
  cpSync(folder, at.folder, {recursive: true})
  at.simulator.restore(world)
  at.simulator.clearLog()
}

/** Everything there is, by name: what two of one name would not fit into. */
function world() {
  const {cloud, cluster} = at.simulator.world
  const databases = Object.values(cloud.subscriptions).flatMap(it => Object.values(it.children.databases ?? {}))
  const shown = (entries: readonly {fields: object; secrets: object; gone?: number}[], ...fields: readonly string[]) =>
    entries
      .filter(it => it.gone === undefined)
      .map(it => Object.fromEntries(Object.entries({...it.fields, ...it.secrets}).filter(([field]) => fields.includes(field))))
      .sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1))
  return {
    subscriptions: Object.keys(cloud.subscriptions).length,
    databases: shown(databases, 'name', 'memoryLimitInGb', 'port'),
    bdbs: shown(Object.values(cluster.bdbs), 'name', 'memory_size', 'authentication_redis_pass'),
  }
}

function ledger() {
  const {resources} = JSON.parse(readFileSync(join(at.folder, 'terraform.shop.tfstate'), 'utf8'))
  return resources.map((it: {name: string}) => it.name).sort()
}

describe('an undo that is killed', () => {
  it('at any boundary is finished by the same plan or by --resume, with nothing twice, nothing lost and its audit whole', {
    timeout: 300_000,
  }, async () => {
    await apply(former())
    at.simulator.edit({path: 'cluster/bdbs', create: {name: 'theirs', memory_size: 104_857_600}})
    const run = await apply(latter())
    const plan = join(at.folder, 'undo.plan')
    const undone = await at.fast(['undo', run, '--out', plan, '--recreate', '--allow-destroy', '*', '-o', 'json'], {env})
    expect(undone).toMatchObject({code: 0})
    expect(documentOf(undone).conflicts).toEqual([])
    const all = await boundaries(plan)
    const [wanted, owned] = [world(), ledger()]
    expect(owned).toEqual(['cache', 'gone', 'main', 'old', 'port', 'secret'])
    expect(wanted.bdbs).toMatchObject([{name: 'old'}, {authentication_redis_pass: PASSWORD, memory_size: 104_857_600}, {name: 'theirs'}])
    expect(all.length).toBeGreaterThan(12)
    for (const [nth, it] of all.entries()) {
      back(it)
      const words = nth % 3 === 0 || it.moment === END ? ['apply', plan] : ['apply', '--resume']
      const outcome = await at.fast([...words, '--auto-approve', '-o', 'json'], {env})
      const where = `${it.moment}, then ${words.join(' ')}: ${outcome.stdout}${outcome.stderr}`
      expect(outcome.code, where).toBe(0)
      expect(world(), where).toEqual(wanted)
      expect(ledger(), where).toEqual(owned)
      const audit = await at.run(['audit', 'verify', ...FROM(), '-o', 'json'], {env})
      expect(audit.code, `${where}${audit.stdout}`).toBe(0)
      // The code as it was before has nothing to do: no secret is sent for want of a digest.
      saveStack(at.folder, former())
      const {summary} = documentOf(await at.fast(['plan', ...FROM(), '-o', 'json'], {env}))
      expect(summary, where).toMatchObject({create: 0, update: 0, delete: 0, replace: 0, adopt: 0, 'no-op': owned.length})
    }
  })
})
