/** Every example, and the stacks of the demo: planned, applied, and planned again, as somebody in that folder would. */
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import type {JsonObject} from '../../src/base/json.ts'
import {diffFields} from '../../src/engine/model/diff.ts'
import type {Plan} from '../../src/engine/model/plan.ts'
import {planSchemaWith} from '../../src/engine/model/plan-schema.ts'
import {ledgerLocation} from '../../src/ledger/backends/registry.ts'
import {documentOf, type Site, site} from '../support/site.ts'
import {synthesizeApps} from './run-apps.ts'

const planSchema = planSchemaWith(ledgerLocation)

interface ExportDocument {
  readonly objects: readonly {readonly kind: string; readonly spec: JsonObject}[]
}

const repository = fileURLToPath(new URL('../..', import.meta.url))
const examples = readdirSync(join(repository, 'examples'), {withFileTypes: true})
  .filter(it => it.isDirectory())
  .map(it => join('examples', it.name))

/** For every secret that a stack asks for. */
const passwords = {
  TF_VAR_app_password: 'password-of-app',
  TF_VAR_storefront_password: 'password-of-storefront',
  TF_VAR_operator_password: 'password-of-operator',
}

/** Another folder with the same files, so that ledgers and journals stay out of the repository. */
function copyInto(here: Site, folder: string, names: readonly string[]): void {
  for (const name of names) symlinkSync(join(repository, folder, name), join(here.folder, name))
  if (!names.includes('node_modules')) symlinkSync(join(repository, 'node_modules'), join(here.folder, 'node_modules'))
}

/** What the app writes is kept: it is run once, and read again as if it were run again. */
function keepSynthesized(here: Site): readonly string[] {
  const file = join(here.folder, 'cdktf.json')
  const project = JSON.parse(readFileSync(file, 'utf8'))
  rmSync(file)
  writeFileSync(file, JSON.stringify({...project, app: `${project.app} && cp -R "$CDKTF_OUTDIR" synthesized`}))
  return ['--synth-dir', 'synthesized']
}

/** @returns what the example was found to hold, by kind */
async function wholeLife(here: Site, args: readonly string[]): Promise<Record<string, number>> {
  const same = args.length > 0 ? args : keepSynthesized(here)
  const options = {env: passwords}
  const first = await here.fast(['plan', '--out', 'first.plan', '--detailed-exitcode', '-o', 'json', ...args], options)
  expect(first).toMatchObject({code: 2})
  const plan = planSchema.parse(documentOf(first))
  expect(here.writes).toEqual([])
  expect(JSON.stringify(plan)).not.toMatch(/password-of-/)

  // From the file alone, as a pipeline would once somebody approved it: stacks are not read again.
  const apply = await here.fast(['apply', 'first.plan', '--approve', plan.hash, '--auto-approve', '-o', 'json'], options)
  expect(documentOf(apply)).toMatchObject({converged: true, residual: []})
  expect(apply.code).toBe(0)

  const again = await here.fast(['plan', '--detailed-exitcode', '-o', 'json', ...same], options)
  const left = planSchema.parse(documentOf(again)).operations.filter(it => it.action !== 'no-op')
  expect(left).toEqual([])
  expect(again.code).toBe(0)
  await exportsTheSame(here, plan)
  const counts: Record<string, number> = {}
  for (const {kind} of plan.operations) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** What was declared, applied and exported is declared the same: but for secrets, and for what another object decides. */
async function exportsTheSame(here: Site, plan: Plan): Promise<void> {
  const {objects} = documentOf(await here.fast(['export', '--kinds', '*', '--no-prove', '-o', 'json'])) as unknown as ExportDocument
  const differing: string[] = []
  for (const {address, kind: name, declared} of plan.operations) {
    const kind = kinds.get(name)
    if (kind === undefined || declared === undefined) continue
    const spec = Object.fromEntries(
      Object.entries(declared.spec).filter(([, value]) => !/"(secret|unknown)":true/.test(JSON.stringify(value))),
    )
    const key = kind.identity.key(spec)
    const same = objects.filter(it => it.kind === name && (kind.singleton || key === undefined || kind.identity.key(it.spec) === key))
    const changes = same.map(({spec: live}) => diffFields({kind, declared: spec, live, ignore: [], secretState: () => 'same'}).changes)
    if (!changes.some(it => it.length === 0)) differing.push(`${address}: ${JSON.stringify(changes)}`)
  }
  expect(differing).toEqual([])
}

let here: Site | undefined
afterEach(() => here?.close())

describe('an example', () => {
  let out = ''
  let synthesized: Readonly<Record<string, string>> = {}
  beforeAll(async () => {
    out = mkdtempSync(join(tmpdir(), 'examples-'))
    const programs = examples.map(it => join(repository, it)).filter(it => existsSync(join(it, 'cdktf.json')))
    synthesized = await synthesizeApps(programs, out)
  })
  afterAll(() => rmSync(out, {recursive: true}))

  it.each(examples)('in %s is applied, and then there is nothing left to do', async folder => {
    here = await site()
    copyInto(
      here,
      folder,
      readdirSync(join(repository, folder)).filter(it => /\.(ts|json)$/.test(it)),
    )
    const counts = await wholeLife(here, ['--synth-dir', synthesized[join(repository, folder)] ?? '.'])
    expect(Object.keys(counts)).not.toEqual([])
  })
})

describe('the stacks of the demo', () => {
  const everything = {
    'cloud.subscription': 1,
    'cloud.database': 3,
    'cloud.peering': 1,
    'cloud.acl_rule': 2,
    'cloud.acl_user': 1,
    'cluster.settings': 1,
    'cluster.policy': 1,
    'cluster.database': 1,
    'cluster.node': 3,
    'cluster.user': 1,
  }

  it.each(['contract', 'wire'] as const)('use every kind and are applied in the spelling "%s", over TLS', async spelling => {
    here = await site({spelling, cloud: {taskMs: 1, readyMs: 0}, cluster: {changeMs: 1}}, {tls: true})
    copyInto(here, '.', ['cdktf.json', 'stacks', 'src', 'package.json', 'node_modules'])
    expect(await wholeLife(here, [])).toEqual(everything)
  })
})
