/** A list of 17 MB through `api`, beside a bare Node that parses and prints the same text, and jq where it is there. */
import {spawnSync} from 'node:child_process'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {type Measured, measureChild} from './child.ts'
import {PROGRAM} from './start-up.ts'

export interface LargeAnswer extends Measured {
  readonly what: string
  readonly bytes: number
  /** Processor time, of that of the bare Node. */
  readonly ratio: number
  /** The same of wall time, the least of each. */
  readonly wallRatio: number
}

const PATH = '/subscriptions/1/databases'

/** What a bare Node does about it; the address stands behind. */
const BARE = `require('node:http').get(process.argv[1], answer => {
  const parts = []
  answer.on('data', part => parts.push(part)).on('end', () =>
    process.stdout.write(JSON.stringify(JSON.parse(Buffer.concat(parts).toString()), null, 2) + '\\n'))
})`

/** @param rows - 26 900 are 17.4 MB @param rounds - of which the least counts */
export async function measureLargeAnswers(rows: number, rounds: number): Promise<LargeAnswer[]> {
  const body = Buffer.from(listOf(rows))
  const server = createServer((_, response) => response.writeHead(200, {'content-type': 'application/json'}).end(body))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
  const file = join(folder, 'list.json')
  writeFileSync(file, body)
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    SVC_CLOUD_API_URL: address,
    SVC_CLOUD_API_KEY: 'bench-key-of-forty-characters-0123456789',
    SVC_CLOUD_SECRET_KEY: 'bench-secret-of-forty-characters-0123456',
  }
  const api = [process.execPath, PROGRAM, 'api', 'cloud', 'get', PATH]
  const commands: [string, readonly string[]][] = [
    ['bare Node', [process.execPath, '-e', BARE, address + PATH]],
    ...(spawnSync('jq', ['--version']).status === 0 ? [['jq . of a file', ['jq', '.', file]] as [string, string[]]] : []),
    ['svcctl api -o json', [...api, '-o', 'json']],
    ['svcctl api -q @', [...api, '-q', '@']],
    ['svcctl api -q …[].name', [...api, '-q', 'subscription[0].databases[].name']],
    ['svcctl api -o table', [...api, '-o', 'table']],
    ['svcctl api -o yaml', [...api, '-o', 'yaml']],
  ]
  try {
    const least = new Map<string, Measured>()
    const walls = new Map<string, number>()
    for (let round = 0; round < rounds; round++) {
      for (const [what, command] of commands) {
        const measured = await measureChild(command, {cwd: folder, env})
        const before = least.get(what)
        if (measured === undefined) continue
        if (before === undefined || measured.cpuMs < before.cpuMs) least.set(what, measured)
        walls.set(what, Math.min(measured.wallMs, walls.get(what) ?? Number.POSITIVE_INFINITY))
      }
    }
    const bare = least.get('bare Node')?.cpuMs ?? Number.NaN
    const wallOf = (what: string): number => walls.get(what) ?? Number.NaN
    return [...least].map(([what, it]) => ({
      ...{what, bytes: body.length, ...it, wallMs: wallOf(what)},
      ratio: it.cpuMs / bare,
      wallRatio: wallOf(what) / wallOf('bare Node'),
    }))
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(folder, {recursive: true, force: true})
  }
}

/** Databases as the API shows them. */
const listOf = (count: number): string =>
  JSON.stringify({
    accountId: 1001,
    subscription: [{subscriptionId: 1, numberOfDatabases: count, databases: Array.from({length: count}, (_, at) => database(at))}],
  })

const database = (at: number) => ({
  databaseId: 51_000_000 + at,
  name: `cache-${at}-eu`,
  protocol: 'redis',
  provider: 'AWS',
  region: 'eu-west-1',
  status: 'active',
  memoryLimitInGb: (at % 100) / 10 + 0.5,
  memoryUsedInMb: ((at * 7919) % 100_000) / 100,
  replication: at % 2 === 0,
  dataPersistence: 'none',
  throughputMeasurement: {by: 'operations-per-second', value: (at * 7919) % 100_000},
  publicEndpoint: `redis-${10_000 + at}.c${at % 500}.eu-west-1.example.com:${10_000 + (at % 9999)}`,
  privateEndpoint: null,
  modules: [
    {name: 'search', version: '2.8.4'},
    {name: 'json', version: '2.6.6'},
  ],
  security: {sslClientAuthentication: false, enableDefaultUser: true, password: `s3cr3t-${at}`, sourceIps: ['0.0.0.0/0']},
  tags: [
    {key: 'team', value: 'shop'},
    {key: 'stage', value: at % 2 === 0 ? 'prod' : 'test'},
  ],
})
