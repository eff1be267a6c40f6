import {readdirSync} from 'node:fs'
import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {createGzip} from 'node:zlib'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Sandbox, sandbox} from '../../support/program.ts'
import {member} from '../../support-package/archive-fixtures.ts'

let here: Sandbox
let server: Server
let announced: number | undefined
let sent = 0

/** Sends an archive of one file that has no end, for as long as somebody takes it. */
beforeEach(async () => {
  here = sandbox()
  announced = undefined
  sent = 0
  server = createServer((request, response) => {
    if (request.url?.includes('debuginfo') !== true && request.url?.includes('logs') !== true) return response.writeHead(404).end()
    response.writeHead(200, {
      'content-type': 'application/x-gzip',
      ...(announced === undefined ? {} : {'content-length': String(announced)}),
    })
    const gzip = createGzip({level: 0})
    gzip.write(member({path: 'endless.log', type: 'File', size: 8_000_000_000}))
    let at = 0
    const more = () => {
      if (response.destroyed) return void gzip.destroy()
      const block = Buffer.alloc(65_536)
      for (let i = 0; i < block.length; i += 4) block.writeUInt32LE((at++ * 2_654_435_761) >>> 0, i)
      gzip.write(block, more)
    }
    gzip.on('data', (part: Buffer) => {
      sent += part.length
      if (!response.write(part)) {
        gzip.pause()
        response.once('drain', () => gzip.resume())
      }
    })
    more()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
  here.remove()
})

const run = (line: string) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return here.run(line.split(' '), {env: {SVC_ENTERPRISE_URL: url, SVC_ENTERPRISE_USER: 'u', SVC_ENTERPRISE_PASSWORD: 'password-1'}})
}

describe('--max-size', () => {
  it('ends an archive that goes on and on, and leaves no file of it', async () => {
    const {code, stdout, stderr} = await run('support-package cluster --max-size 2MiB -o json')
    expect([code, JSON.parse(stdout).code]).toEqual([1, 'E_BODY_TOO_LARGE'])
    expect(stderr).toContain('the support package is larger than --max-size 2 MiB allows')
    expect(readdirSync(here.folder)).toEqual([])
    expect(sent).toBeLessThan(64 * 2 ** 20)
  }, 30_000)

  it('refuses what is announced to be larger before any of it is written', async () => {
    announced = 2 ** 40
    const {code, stderr} = await run('support-package cluster --max-size 2MiB')
    expect(code).toBe(1)
    expect(stderr).toContain('has 1 TiB, which is more than --max-size 2 MiB allows (E_BODY_TOO_LARGE)')
    expect(readdirSync(here.folder)).toEqual([])
  }, 30_000)

  it('bounds what api --raw writes, and is about nothing else', async () => {
    const {code, stdout, stderr} = await run('api enterprise get /v1/logs --raw --max-size 100KB')
    expect(code).toBe(1)
    expect(stderr).toContain('the answer to GET /v1/logs is larger than --max-size')
    expect(stdout.length).toBeLessThanOrEqual(100_000)
    expect(await run('api enterprise get /v1/logs --max-size 100KB')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Give --raw too'),
    })
  }, 30_000)
})
