import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {steadyClock, systemClock} from '../../src/base/clock.ts'
import {uploadArchive} from '../../src/support-package/upload-archive.ts'
import {createTransport} from '../../src/transport/undici-transport.ts'

const network = createTransport()
let folder: string
let storage: Server | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-upload-'))
})
afterEach(async () => {
  storage?.closeAllConnections()
  await new Promise(resolve => (storage === undefined ? resolve(undefined) : storage.close(resolve)))
  await network.close()
  rmSync(folder, {recursive: true, force: true})
})

describe('a part of an upload', () => {
  it('has arrived when the storage says so, and what it says afterwards is not read for ever', async () => {
    storage = createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, {etag: '"one"'})
        const go = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        }
        response.on('drain', go)
        go()
      })
    })
    await new Promise<void>(resolve => storage?.listen(0, '127.0.0.1', resolve))
    const uri = `http://127.0.0.1:${(storage.address() as AddressInfo).port}/part`
    const target = {ref: 'r', partSize: 1024, uri, method: 'PUT', headers: {}, parallel: true, availableParts: 10}
    const ended: unknown[] = []
    const file = join(folder, 'a.tar.gz')
    writeFileSync(file, Buffer.alloc(2048, 1))
    const uploaded = await uploadArchive(file, {
      api: {
        begin: async () => target,
        part: async () => target,
        end: async (_path, _ref, etags) => {
          ended.push(etags)
          return 2048
        },
        size: async () => 2048,
      },
      address: uri,
      openStream: network.openStream,
      clock: steadyClock(systemClock),
      stateDir: folder,
      uploadDir: '/uploads',
      idleTimeoutMs: 60_000,
    })
    expect(uploaded).toMatchObject({path: '/uploads/a.tar.gz', size: 2048})
    expect(ended).toEqual([
      [
        {etag: '"one"', part: 1},
        {etag: '"one"', part: 2},
      ],
    ])
  })
})
