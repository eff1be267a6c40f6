import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {createServer, type RequestListener} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Outcome, type Sandbox, sandbox} from '../../support/program.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

const MOST_KB = 300 * 1024

let here: Sandbox
beforeEach(() => {
  here = sandbox()
  // The most memory that the whole process ever had.
  writeFileSync(
    join(here.folder, 'peak.mjs'),
    `import {writeFileSync} from 'node:fs'
process.on('exit', () => writeFileSync(${JSON.stringify(join(here.folder, 'peak'))}, String(process.resourceUsage().maxRSS)))`,
  )
})
afterEach(() => here.remove())

/** The least of three where the first is more: what waits to be collected hangs on who else wants the processor. */
async function measured(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  most = MOST_KB,
): Promise<Outcome & {peakKb: number}> {
  const once = async () => {
    const outcome = await here.child(words, {env: {...env, NODE_OPTIONS: `--import ${join(here.folder, 'peak.mjs')}`}})
    return {...outcome, peakKb: Number(readFileSync(join(here.folder, 'peak'), 'utf8'))}
  }
  let least = await once()
  for (let again = 0; again < 2 && least.peakKb >= most; again++) {
    const next = await once()
    if (next.peakKb < least.peakKb) least = next
  }
  return least
}

/** A cluster that answers everything so. */
async function withAnswers(answer: RequestListener, work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const saying =
  (body: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, {'content-type': 'application/json'}).end(body)

const cluster = (url: string) => ({SVC_ENTERPRISE_URL: url, SVC_ENTERPRISE_USER: 'u', SVC_ENTERPRISE_PASSWORD: 'password-1'})

const raw = (name: string, text: string): string => {
  mkdirSync(join(here.folder, name))
  writeFileSync(join(here.folder, name, 'cdk.tf.json'), text)
  return name
}
const counted = (count: number, expressions: Record<string, string>) =>
  saveStack(
    here.folder,
    jsonStack('counted').block('resource', {
      null_resource: {a: {count, triggers: {kind: 'cluster.database', spec: '{"name":"x","memory_size":104857600}', ...expressions}}},
    }),
  )

describe('the memory of the whole process stays below 300 MiB', () => {
  it.each([
    ['4 MB of brackets in each other', 64, () => raw('deep', `{"locals": {"a": ${'['.repeat(2e6)}${']'.repeat(2e6)}}}`)],
    ['9 MB of lists', 64, () => raw('lists', `{"locals": {"a": [${'[],'.repeat(3e6)}0]}}`)],
    ['as many values as there may be', 0, () => raw('most', `{"locals": {"a": [${'[],'.repeat(1_374_000)}0]}}`)],
    ['70 MB of text', 0, () => raw('text', JSON.stringify({locals: {a: `${'x'.repeat(70e6)}é`}}))],
    ['84 MB and more', 64, () => raw('more', JSON.stringify({locals: {a: 'x'.repeat(84e6)}}))],
    ['as many objects as there may be', 0, () => counted(50_000, {'spec/name': 'db-${count.index}'})],
    ['a billion objects', 64, () => counted(1e9, {})],
    ['a problem in each of them', 64, () => counted(50_000, {'spec/name': '${nothing(count.index)}'})],
    [
      'a text that is replaced by itself',
      64,
      () => counted(1, {'spec/name': `\${replace("${'a'.repeat(50_000)}", "a", "${'b'.repeat(50_000)}")}`}),
    ],
  ])(
    'while a stack is read: %s',
    async (_, code, make) => {
      const outcome = await measured(['validate', '--synth-dir', make()])
      expect([outcome.code, outcome.stderr.slice(0, 300)]).toEqual([code, expect.not.stringContaining('E_INTERNAL')])
      expect(outcome.peakKb).toBeLessThan(MOST_KB)
    },
    60_000,
  )

  it.each([
    ['an answer that never ends', '{"a": "', 'x'.repeat(65_536), 'E_RESPONSE_TOO_LARGE'],
    ['60 MB of lists', '[', `${'[],'.repeat(20_000)}`, 'E_JSON_DEPTH'],
  ])(
    'while a server sends %s',
    async (_, begin, part, error) => {
      const flood: RequestListener = (_request, response) => {
        response.writeHead(200, {'content-type': 'application/json'}).write(begin)
        let left = error === 'E_RESPONSE_TOO_LARGE' ? Number.POSITIVE_INFINITY : 1000
        const more = () => {
          while (left-- > 0) if (!response.write(part)) return void response.once('drain', more)
          response.end('0]')
        }
        more()
      }
      await withAnswers(flood, async url => {
        const outcome = await measured(['api', 'enterprise', 'get', '/v1/bdbs'], cluster(url))
        expect([outcome.code, outcome.stderr.slice(0, 500)]).toEqual([1, expect.stringContaining(error)])
        expect(outcome.peakKb).toBeLessThan(MOST_KB)
      })
    },
    60_000,
  )
})

it.each([
  ['an object that says nothing', '{},', 700_000],
  ['a number', '1,', 2_000_000],
])(
  'a ledger whose every resource is %s takes no more than that either',
  async (_, item, count) => {
    const folder = saveStack(here.folder, jsonStack('one').bdb('a'))
    const resources = `[${item.repeat(count)}${item.slice(0, -1)}]`
    const ledger = `{"version":4,"terraform_version":"1.5.0","serial":1,"lineage":"x","outputs":{},"resources":${resources}}`
    writeFileSync(join(here.folder, 'terraform.one.tfstate'), ledger)
    const outcome = await measured(['state', 'list', '--synth-dir', folder])
    expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining('not all of it is ours: resources.0')])
    expect(outcome.peakKb).toBeLessThan(MOST_KB)
  },
  60_000,
)

describe('the memory of the whole process stays below 300 MiB, and the time below ten seconds', () => {
  const items = (count: number, item: (at: number) => string) => Array.from({length: count}, (_, at) => item(at)).join(',')
  it.each([
    ['5 MB of brackets', '-o json', () => '['.repeat(5e6), 'E_JSON_DEPTH'],
    ['5 MB of objects', '-q @', () => `[${'{},'.repeat(1.6e6)}0]`, 'E_JSON_DEPTH'],
    ['half a million fields', '-o table', () => `{${items(5e5, at => `"field${at}":${at}`)}}`, ''],
    ['rows that have no field in common', '-o table', () => `[${items(20_000, at => `{"k${at}":1}`)}]`, ''],
    ['700 000 texts of two lines', '-o yaml', () => `[${items(7e5, at => `"\\n${at}"`)}]`, ''],
  ])(
    'while an answer of %s is shown with %s',
    async (_, words, body, error) => {
      await withAnswers(saying(body()), async url => {
        const outcome = await measured(['api', 'enterprise', 'get', '/v1/bdbs', ...words.split(' ')], cluster(url))
        expect([outcome.code, outcome.stderr]).toEqual(error === '' ? [0, ''] : [1, expect.stringContaining(error)])
        expect(outcome.peakKb).toBeLessThan(MOST_KB)
      })
    },
    60_000,
  )
})

it.each(
  ['cloud subscriptions', 'api cloud get /subscriptions --paginate', 'plan --synth-dir FOLDER'].flatMap(words => [
    [words, 1_500_000, 'E_JSON_DEPTH'] as const,
    [words, 800_000, 'E_LIST_PAGE'] as const,
  ]),
)(
  'an answer with more rows than any page has takes no more than that either: %s, %d rows',
  async (words, rows, error) => {
    const folder = saveStack(here.folder, jsonStack('one').subscription('a'))
    const body = `{"subscriptions": [${'{"id":1},'.repeat(rows)}{"id":2}]}`
    await withAnswers(saying(body), async url => {
      const outcome = await measured(words.replace('FOLDER', folder).split(' '), {
        SVC_CLOUD_API_URL: url,
        SVC_CLOUD_API_KEY: 'key-1',
        SVC_CLOUD_SECRET_KEY: 'secret-1',
      })
      expect([outcome.code, outcome.stderr.slice(0, 500)]).toEqual([1, expect.stringContaining(error)])
      expect(outcome.peakKb).toBeLessThan(MOST_KB)
    })
  },
  60_000,
)

it.each([
  ['cloud subscriptions', 'a list may have 1 MiB (4 times --max-response)'],
  ['api cloud get /subscriptions --paginate', 'a list may have 1 MiB (4 times --max-response)'],
  ['plan --synth-dir FOLDER', 'a list may have 1 MiB (4 times --max-response)'],
  // Each subscription has such a list.
  ['export cloud', 'may have 1.5 MiB together (6 times --max-response)'],
])(
  'a list with few rows and no end is given up by its bytes: %s',
  async (words, bound) => {
    const folder = saveStack(here.folder, jsonStack('one').subscription('a'))
    let sent = 0
    const endless: RequestListener = ({url = ''}, response) => {
      const offset = Number(new URL(url, 'http://127.0.0.1').searchParams.get('offset'))
      const rows = Array.from({length: 10}, (_, at) => ({id: offset + at + 1, name: `s${offset + at}`, text: 'x'.repeat(24_000)}))
      const body = JSON.stringify(rows)
      sent += body.length
      response.writeHead(200, {'content-type': 'application/json'}).end(body)
    }
    await withAnswers(endless, async url => {
      const outcome = await here.child([...words.replace('FOLDER', folder).split(' '), '--max-response', '256KiB', '--rate', '6000'], {
        env: {SVC_CLOUD_API_URL: url, SVC_CLOUD_API_KEY: 'key-1', SVC_CLOUD_SECRET_KEY: 'secret-1'},
      })
      expect([outcome.code, outcome.stderr.slice(0, 700)]).toEqual([1, expect.stringContaining('E_LIST_ENDLESS')])
      expect(outcome.stderr).toContain(bound)
      expect(outcome.stderr).toContain('allow it: --max-response 1MiB')
      expect(sent).toBeLessThan(6e6)
    })
  },
  60_000,
)

describe('the memory of the whole process stays below 200 MiB', () => {
  it.each([
    ['shown', []],
    ['filtered', ['-q', '@']],
  ])(
    'while a list of 17 MB is %s',
    // Where the machine is busy the collector comes late: it is what it takes at least that counts.
    {timeout: 60_000, retry: 2},
    async (_, words) => {
      const row = JSON.stringify({
        id: 51_000_000,
        used: 1.5,
        name: 'cache',
        security: {password: 'secret-1', from: ['0.0.0.0/0']},
        tags: [{key: 'team'}],
      })
      const body = `{"databases": [${Array.from({length: Math.round(17.4e6 / row.length)}, () => row).join(',')}]}`
      await withAnswers(saying(body), async url => {
        const outcome = await measured(['api', 'enterprise', 'get', '/v1/bdbs', ...words], cluster(url), 200 * 1024)
        expect([outcome.code, outcome.stderr, outcome.stdout.length > 17.4e6]).toEqual([0, '', true])
        expect(outcome.peakKb).toBeLessThan(200 * 1024)
      })
    },
  )
})
