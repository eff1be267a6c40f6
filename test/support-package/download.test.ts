/** A download that breaks, and what servers answer when they are asked for the rest. */
import {createHash} from 'node:crypto'

import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs'
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {openClusterBackend} from '../../src/backends/cluster/backend.ts'
import {systemClock} from '../../src/base/clock.ts'
import {makePackage, type PackageEvent} from '../../src/support-package/make-package.ts'
import {createBudget, NO_LIMITS} from '../../src/transport/budget.ts'
import {createApiClient} from '../../src/transport/create-api-client.ts'
import {createTransport} from '../../src/transport/undici-transport.ts'
import {hastyClock} from '../config/edit-place.ts'

let folder: string
let server: Server | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'download-'))
})
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  rmSync(folder, {recursive: true})
})

/** An empty tar and something that does not compress behind it, so that there is a middle to break in. */
const archiveOf = (seed: number): Buffer => {
  const noise = Buffer.concat(Array.from({length: 2048}, (_, at) => createHash('sha256').update(`${seed} ${at}`).digest()))
  const head = Buffer.alloc(512)
  head.write('noise.bin')
  head.write('0000644\0', 100)
  head.write(`${noise.length.toString(8).padStart(11, '0')}\0`, 124)
  head.write('00000000000\0', 136)
  head.write('        ', 148)
  head.write('0', 156)
  head.write('ustar\u000000', 257)
  head.write(
    `${[...head]
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  return gzipSync(Buffer.concat([head, noise, Buffer.alloc(1024)]))
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void
const MORE = {'accept-ranges': 'bytes', 'content-type': 'application/x-gzip'}
const broken =
  (archive: Buffer): Answer =>
  response => {
    response.writeHead(200, {...MORE, 'content-length': archive.length, etag: '"one"'})
    response.write(archive.subarray(0, 20_000), () => response.destroy())
  }
const whole =
  (archive: Buffer): Answer =>
  response =>
    response.writeHead(200, {...MORE, 'content-length': archive.length}).end(archive)

/** One answer for each request, the last for all that follow. */
async function made(...answers: readonly Answer[]) {
  let asked = 0
  server = createServer((request, response) => {
    answers[Math.min(asked, answers.length - 1)]?.(response, request)
    asked += 1
  })
  await new Promise<void>(resolve => server?.listen(0, '127.0.0.1', resolve))
  const network = createTransport()
  const client = createApiClient({
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authentication: {},
    transport: network.send,
    openStream: network.openStream,
    budget: createBudget({limits: NO_LIMITS, clock: systemClock}),
    clock: systemClock,
  })
  const events: string[] = []
  const target = join(folder, 'package.tar.gz')
  try {
    const package_ = await makePackage({
      client,
      cluster: openClusterBackend(client, {clock: systemClock}),
      // Waits between tries are over at once; the watch over silence is not what is tested.
      clock: {...hastyClock(), sleep: (ms, signal) => (ms > 30_000 ? systemClock.sleep(ms, signal) : Promise.resolve())},
      scope: {type: 'cluster'},
      newApi: false,
      target,
      replace: false,
      wait: true,
      waitTimeoutMs: 60_000,
      idleTimeoutMs: 60_000,
      onEvent: (event: PackageEvent) => void events.push(event.type),
    })
    return {package: package_, events: events.filter(it => it !== 'progress'), saved: readFileSync(target), asked}
  } finally {
    await network.close()
  }
}

describe('a download that breaks', () => {
  it('goes on where the server sends the whole archive instead of the rest', async () => {
    const archive = archiveOf(1)
    const {events, saved, asked} = await made(broken(archive), whole(archive))
    expect([saved.equals(archive), asked, events]).toEqual([true, 2, ['requested', 'resumed']])
  })

  it('begins anew when the server has another archive now', async () => {
    const other = archiveOf(2)
    const {events, saved} = await made(broken(archiveOf(1)), whole(other), whole(other))
    expect([saved.equals(other), events]).toEqual([true, ['requested', 'resumed', 'started-over']])
  })

  it('ends when the server has another archive each time, and leaves nothing behind', async () => {
    let seed = 1
    const always: Answer = (response, request) => {
      const archive = archiveOf(seed++)
      if (request.headers.range === undefined) broken(archive)(response, request)
      else whole(archive)(response, request)
    }
    await expect(made(always)).rejects.toMatchObject({code: 'E_ARCHIVE_CHANGED', exit: 13})
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a package that the server could not make', () => {
  const json =
    (body: object): Answer =>
    response =>
      response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(body))

  it('is reported with the reason, which stands beside what it was doing', async () => {
    const begun = json({task_id: 't1', status: 'in_progress'})
    const failed = json({task_id: 't1', status: 'failed', message: 'Collecting node 2', error: 'no space left on node 2'})
    await expect(made(begun, failed)).rejects.toMatchObject({
      code: 'E_PACKAGE_FAILED',
      message: 'the cluster could not make the package (task t1): no space left on node 2 (Collecting node 2)',
    })
  })

  it('is reported with the text of the page that came instead', async () => {
    const page =
      '<html><head><title>502 Bad Gateway</title><style>p {}</style></head><body><p>Upstream &lt;node 3&gt; is down.</p></body></html>'
    const answer: Answer = response => response.writeHead(500, {'content-type': 'text/html'}).end(page)
    await expect(made(answer)).rejects.toMatchObject({message: expect.stringContaining('502 Bad Gateway: Upstream <node 3> is down.')})
  })
})
