/**
 * Whatever a person or a server hands in is taken or refused by name, and never the reason for `E_INTERNAL`: texts are
 * valid ones with parts torn out, doubled, or replaced by what programs stumble over.
 */
import {mkdtempSync, readFileSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setFlagsFromString} from 'node:v8'
import {runInNewContext} from 'node:vm'
import fc from 'fast-check'
import {beforeAll, describe, expect, it} from 'vitest'
import {answerBody} from '../../src/backends/api/answer-body.ts'
import {kinds} from '../../src/backends/kinds.ts'
import {canonicalJson} from '../../src/base/json.ts'
import {maskedText} from '../../src/base/secret-fields.ts'
import {asAppError} from '../../src/cli/show/render-error.ts'
import {parseConfigText} from '../../src/config/config-file.ts'
import {Profiles} from '../../src/config/profiles.ts'
import {applyTomlEdit} from '../../src/config/toml-edit.ts'
import {stackDocument} from '../../src/declaration/files/stack-document.ts'
import {readStacks} from '../../src/declaration/read/read-stacks.ts'
import {givenValues} from '../../src/declaration/read/variables.ts'
import {hashOf} from '../../src/engine/plan/document.ts'
import {createJournal, readJournal} from '../../src/ledger/journal-file.ts'
import {decodeLedger, encodeLedger} from '../../src/ledger/tfstate.ts'
import {readPlan} from '../../src/run/plan/saved-plan.ts'
import {optimizeArchive} from '../../src/support-package/optimize-archive.ts'
import {readState} from '../../src/takeover/read-state.ts'
import {stateObjects} from '../../src/takeover/state-objects.ts'
import {terraformId} from '../../src/takeover/terraform-id.ts'
import {fullLedger} from '../ledger/sample-ledger.ts'
import {Lab, stackOf} from '../support/lab.ts'
import {seedOr} from '../support/seed.ts'
import {archive, file, folder, pieces, symlink} from '../support-package/archive-fixtures.ts'

const SEED = seedOr(20_261_122)
/** CI says 2, and gets 10 000 inputs; every day it is a few hundred. */
const RUNS = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1) >= 2 ? 1250 : 40
const MOST_BYTES = 300 * 1024 * 1024

const work = mkdtempSync(join(tmpdir(), 'svcctl-hostile-'))
const place = {stack: 'shop', place: 'the ledger', setAside: 'mv it away'}

/** What programs stumble over. */
const STRANGE = [
  'null', '[]', '{}', '-1', '1e999', '1e-400', '""', '"${"', '"%{"', '"__proto__"', '"constructor"', '"\\u0000"', '"\\ud800"', '${', '}', '"', '[', ']', ',',
  '{"__proto__":1}', '9007199254740993', '"../../etc/passwd"', '"-8.88e+298"', '"TfToken[TOKEN.1]"', '['.repeat(3000), '{"a":'.repeat(2000), 'true', '\u0000',
  '\ufeff', '"toString"', '"\\u202e"', '\n', '"null_resource.a[\\"\\"]"', '1'.repeat(400), '(', ')', '.', '*', '?', ':', '=>', '...', 'for', 'in', 'if',
] // biome-ignore format: a table

type Edit = {readonly at: number; readonly cut: number; readonly put: string}
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({min: 0, max: 1, noNaN: true}),
  cut: fc.oneof(fc.constant(0), fc.integer({min: 0, max: 12}), fc.integer({min: 0, max: 400})),
  put: fc.oneof(fc.constantFrom('', ...STRANGE), fc.string({maxLength: 6})),
})
const edits = fc.array(edit, {minLength: 1, maxLength: 4})
const edited = (text: string, changes: readonly Edit[]): string =>
  changes.reduce((before, {at, cut, put}) => {
    const from = Math.floor(at * before.length)
    return before.slice(0, from) + put + before.slice(from + cut)
  }, text)

/** Values anywhere in a document replaced, so that it stays JSON. */
const replaced = (text: string, at: number, value: unknown): string => {
  const places = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d+(?:\.\d+)?|true|false|null/g)]
  const chosen = places[Math.floor(at * places.length)]
  if (chosen === undefined) return text
  return text.slice(0, chosen.index) + JSON.stringify(value) + text.slice(chosen.index + chosen[0].length)
}
const hostileValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    [],
    {},
    '',
    -1,
    1e308,
    0.1,
    true,
    '${null_resource.a.id}',
    '${',
    'constructor',
    '__proto__',
    '*',
    'a'.repeat(5000),
    [[[]]],
    {a: {b: []}},
    {toString: 1, valueOf: 1},
  ),
  fc.jsonValue({maxDepth: 3}),
)

const hostile = (valid: string): fc.Arbitrary<string> =>
  fc.oneof(
    edits.map(changes => edited(valid, changes)),
    fc
      .array(fc.tuple(fc.double({min: 0, max: 1, noNaN: true}), hostileValue), {minLength: 1, maxLength: 3})
      .map(all => all.reduce((text, [at, value]) => replaced(text, at, value), valid)),
  )

/** Taken, or refused with a name. */
async function takenOrRefused(run: () => unknown): Promise<void> {
  try {
    await run()
  } catch (error) {
    const {code, cause} = asAppError(error)
    if (code === 'E_INTERNAL') throw new Error(`E_INTERNAL: ${cause instanceof Error ? cause.stack : String(cause)}`)
    expect(code).not.toBe('E_SYSTEM')
  }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** What is in memory before: other files ran in this process. */
let before = 0
beforeAll(() => {
  collectGarbage()
  before = process.memoryUsage().heapUsed
})

const never = (name: string, input: fc.Arbitrary<string>, run: (text: string) => unknown) =>
  it(`${name}: no input ends as an internal error, hangs or fills the memory`, {timeout: 600_000}, async () => {
    await fc.assert(
      fc.asyncProperty(input, async text => {
        await takenOrRefused(() => run(text))
        expect(process.memoryUsage().heapUsed - before).toBeLessThan(MOST_BYTES)
      }),
      {seed: SEED, numRuns: RUNS, endOnFailure: true},
    )
  })

const STACK = JSON.stringify({
  '//': {svcctl: {cloud: {profile: 'prod'}, secrets: {pw: {version: '1'}}}},
  terraform: {backend: {local: {path: 'a.tfstate'}}, required_providers: {null: {source: 'hashicorp/null'}}},
  variable: {pw: {type: 'string', sensitive: true, default: 'x'}, n: {type: 'number', default: 2}, m: {type: 'map(string)', default: {a: 'b'}}},
  locals: {a: 'x${var.n}', b: ['${local.a}'], c: {d: '${[for x in local.b : upper(x)]}'}},
  resource: {
    null_resource: {
      a: {triggers: {kind: 'cloud.subscription', spec: '{"name":"a","cloudProviders":[{"provider":"AWS"}]}', 'out/name': '', policy: '{"exclusive":["databases"]}'}},
      b: {
        triggers: {kind: 'cloud.database', spec: '{"name":"b","memoryLimitInGb":1,"alerts":[null]}', 'spec/subscription': '${null_resource.a.id}', 'json/alerts/0': '${jsonencode({name = "x", value = var.n})}'},
        depends_on: ['null_resource.a'],
        lifecycle: {prevent_destroy: true, ignore_changes: ['triggers']},
      },
      c: {for_each: '${var.m}', triggers: {kind: 'cluster.user', spec: '{}', 'spec/name': 'u-${each.key}', 'spec/password': '${var.pw}'}},
      d: {count: '${var.n}', triggers: {kind: 'cluster.node', spec: '{}', 'spec/uid': '${count.index + 1}'}},
    },
  },
  output: {o: {value: '${null_resource.b.triggers["out/publicEndpoint"]}', sensitive: true}},
  moved: [{from: 'null_resource.x', to: 'null_resource.a'}],
  removed: [{from: 'null_resource.y', lifecycle: {destroy: false}}],
  import: [{to: 'null_resource.a', id: 'cloud/subscriptions/1'}],
}) // biome-ignore format: as a stack file looks

const readText = (text: string) => {
  const document = stackDocument('shop', undefined, [{name: 'cdk.tf.json', shown: 'cdk.tf.json', text}])
  const given = givenValues({environment: {}, files: [], commandLine: []})
  return readStacks({documents: [document], kinds, given, mode: 'plan', selected: new Set(['shop'])})
}

const WORDS = [...STRANGE.filter(it => it.length < 30), 'var.n', 'local.a', 'null_resource.a.id', 'each.key', '1', '"a"', '+', '-', '!', '&&', '==', '[', ']', '{', '}', '(', ')', ',', 'upper(', 'format(', 'merge(', 'range(', 'regex(', 'try(', 'jsondecode(', 'for x in', ': x', '"${', '}"', '[*]', ' ', ' = '] // biome-ignore format: a table
const expression = fc.array(fc.constantFrom(...WORDS), {minLength: 1, maxLength: 14}).map(it => it.join(''))

describe('hostile input', () => {
  it('begins with what is taken', () => {
    expect(readText(STACK).stacks[0]?.declarations).toHaveLength(5)
    expect(decodeLedger(ledger, place).entries.size).toBeGreaterThan(0)
    expect(answerBody(ANSWER).is).toBe('json')
    expect(readJournal(path).torn).toBe(false)
  })

  never('stacks', hostile(STACK), readText)

  never('expressions', expression, text =>
    readText(
      JSON.stringify({
        variable: {n: {type: 'number', default: 2}},
        locals: {a: 'x', b: `\${${text}}`},
        resource: {
          null_resource: {
            a: {triggers: {kind: 'cloud.subscription', spec: '{"name":"a"}', 'spec/x': `\${${text}}`, 'json/y': `\${jsonencode(${text})}`}},
          },
        },
      }),
    ),
  )

  it('plans: no input ends as an internal error, whether its hash was made anew or not', {timeout: 600_000}, async () => {
    const lab = new Lab()
    const stack = stackOf()
      .subscription('a')
      .database('b', 'a', {replication: true, alerts: [{name: 'dataset-size', value: 80}]})
    const valid = canonicalJson((await lab.plan([stack])).plan)
    const path = join(work, 'hostile.plan')
    writeFileSync(path, valid)
    expect((await readPlan(path)).operations).toHaveLength(2)
    await fc.assert(
      fc.asyncProperty(hostile(valid), fc.boolean(), async (text, resealed) => {
        let written = text
        try {
          if (resealed) written = JSON.stringify({...JSON.parse(text), hash: hashOf(JSON.parse(text))})
        } catch {
          // No JSON any more, or too deep to be sealed.
        }
        writeFileSync(path, written)
        await takenOrRefused(() => readPlan(path))
      }),
      {seed: SEED, numRuns: RUNS, endOnFailure: true},
    )
  })

  const ledger = encodeLedger(fullLedger())
  never('ledgers', hostile(ledger), text => decodeLedger(text, place))

  const path = join(work, 'run.jsonl')
  const journal = createJournal(path, {run: '20261121T101530123-3f9ab2', stack: 'shop'})
  journal.append({type: 'sent', key: 'shop:null_resource.a'})
  journal.close()
  const lines = readFileSync(path, 'utf8')
  never('journals', hostile(lines), text => {
    const other = join(work, 'other.jsonl')
    writeFileSync(other, text)
    return readJournal(other)
  })

  const TOML =
    'default_cloud = "a"\n# a comment\n[profiles.a]\ndeployment_type = "cloud"\napi_key = "k" # here\napi_url = "${URL:-http://x}"\n[profiles."b c"]\nurl = \'x\'\nlist = [1, 2,\n 3]\n'
  never('TOML', hostile(TOML), text => {
    const table = parseConfigText(text, 'config.toml')
    new Profiles('config.toml', table, {})
    // Only a text that is TOML is ever changed.
    applyTomlEdit(text, {edit: 'set', path: ['profiles', 'a', 'api_key'], value: 'x'})
    applyTomlEdit(text, {edit: 'remove', path: ['profiles', 'a']})
  })

  const STATE = JSON.stringify({
    version: 4,
    resources: [
      {
        mode: 'managed',
        type: 'rediscloud_subscription',
        name: 'a',
        module: 'module.m["k"]',
        provider: 'provider["registry.terraform.io/redislabs/rediscloud"]',
        instances: [{index_key: 'k', attributes: {id: '12', name: 'a', cloud_provider: [{provider: 'AWS', region: [{region: 'r'}]}]}}],
      },
      {
        mode: 'managed',
        type: 'rediscloud_acl_role',
        name: 'r',
        provider: 'provider["registry.terraform.io/redislabs/rediscloud"]',
        instances: [{attributes: {name: 'r', rule: [{name: 'x', database: [{subscription: 12, database: 3}]}]}}],
      },
    ],
  })
  never("Terraform's states", hostile(STATE), text => {
    const {objects} = stateObjects(readState(text, 'a.tfstate'), {acl: true, tellSecrets: () => {}})
    for (const it of objects) terraformId(it.from)
  })

  const ANSWER =
    '{"taskId":"1","status":"completed","response":{"resourceId":12345678901234567890,"error":{"type":"X"}},"databases":[{"name":"a","password":"p"}]}'
  never('answers', hostile(ANSWER), text => {
    answerBody(text)
    maskedText(text)
  })

  it('archives: no input ends as an internal error', {timeout: 600_000}, async () => {
    const valid = archive(folder('n/'), file('n/a.log', 'line\n'.repeat(50)), symlink('n/l', 'a.log'), file('n/b.gz', 'x'))
    const change = fc.tuple(fc.double({min: 0, max: 0.9999, noNaN: true}), fc.integer({min: 0, max: 255}))
    await fc.assert(
      fc.asyncProperty(fc.array(change, {minLength: 1, maxLength: 6}), fc.double({min: 0, max: 1, noNaN: true}), async (changes, end) => {
        const bytes = Buffer.from(valid)
        for (const [at, value] of changes) bytes[Math.floor(at * bytes.length)] = value
        const source = pieces(end < 0.2 ? bytes.subarray(0, Math.floor(end * 5 * bytes.length)) : bytes)
        await takenOrRefused(() => optimizeArchive(source, async () => {}, {logLines: 3, folder: work, what: 'the package'}))
      }),
      {seed: SEED, numRuns: RUNS, endOnFailure: true},
    )
  })
})
