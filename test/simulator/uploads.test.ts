import {createHash} from 'node:crypto'
import {describe, expect, it} from 'vitest'
import type {Simulator} from '../../src/simulator/index.ts'
import {inVirtualTime, type Loose} from './client.ts'

const MIB = 1024 * 1024
const PATH = '/uploads/package.tar.gz'

const put = async (simulator: Simulator, uri: string, body: Uint8Array, headers: Record<string, string> = {}) => {
  const answer = await simulator.transport({method: 'PUT', url: uri, headers: {'content-length': String(body.length), ...headers}, body})
  return {status: answer.status, etag: answer.headers.etag ?? ''}
}

describe('the upload service', () => {
  const content = Buffer.alloc(6 * MIB, 'content ')
  const parts = [content.subarray(0, 5 * MIB), content.subarray(5 * MIB)]

  it('puts a file together from its parts', () =>
    inVirtualTime({}, async ({uploads, simulator}) => {
      const begun = await uploads('POST', `/file_actions/begin_upload${PATH}`, {size: content.length, mkdir_parents: true})
      const first = begun.json[0]
      expect(first).toMatchObject({part_number: 1, partsize: 5 * MIB, http_method: 'PUT', parallel_parts: true, retry_parts: true})
      expect(new URL(first.upload_uri).origin).not.toBe(new URL(simulator.bases.uploads).origin)
      const one = await put(simulator, first.upload_uri, parts[0] ?? content)
      const second = (await uploads('POST', `/file_actions/begin_upload${PATH}`, {ref: first.ref, part: 2})).json[0]
      const two = await put(simulator, second.upload_uri, parts[1] ?? content)
      const etags = [
        {etag: one.etag, part: 1},
        {etag: two.etag, part: 2},
      ]
      const ended = await uploads('POST', `/files${PATH}`, {action: 'end', ref: first.ref, etags})
      expect([ended.status, ended.json.size]).toEqual([201, content.length])
      expect(simulator.world.uploads.files[PATH.slice(1)]).toMatchObject({
        size: content.length,
        etags: parts.map(part => createHash('md5').update(part).digest('hex')),
        sha256: createHash('sha256').update(content).digest('hex'),
      })
      expect((await uploads('GET', `/files${PATH}`)).json.size).toBe(content.length)
    }))

  const begin = async (uploads: Loose, more: object = {}) =>
    (await uploads('POST', `/file_actions/begin_upload${PATH}`, {size: content.length, ...more})).json[0]

  it('checks the key on its API, and must never see it at the address of a part', () =>
    inVirtualTime({}, async ({uploads, control, simulator}) => {
      expect((await uploads('POST', `/files${PATH}`, {}, {'x-filesapi-key': 'wrong'})).status).toBe(401)
      const {upload_uri} = await begin(uploads)
      expect((await put(simulator, upload_uri, content, {'x-filesapi-key': 'simulator-files-key'})).status).toBe(400)
      expect((await control('GET', '/uploads')).json.keyLeaks).toHaveLength(1)
    }))

  it('lets an address expire, and gives a fresh one for the same part', () =>
    inVirtualTime({}, async ({uploads, clock, simulator}) => {
      const {upload_uri, ref} = await begin(uploads)
      await clock.sleep(16 * 60_000)
      expect((await put(simulator, upload_uri, content)).status).toBe(403)
      const again = await begin(uploads, {ref, part: 1})
      expect((await put(simulator, again.upload_uri, content)).status).toBe(200)
    }))

  it('forgets an unfinished upload after three days', () =>
    inVirtualTime({}, async ({uploads, clock}) => {
      const {ref} = await begin(uploads)
      await clock.sleep(3 * 24 * 3_600_000 + 1)
      expect((await uploads('POST', `/file_actions/begin_upload${PATH}`, {ref, part: 2})).status).toBe(404)
    }))

  it('refuses an end with a wrong etag, a missing part, a small part or another size', () =>
    inVirtualTime({}, async ({uploads, simulator}) => {
      const {upload_uri, ref} = await begin(uploads)
      const one = await put(simulator, upload_uri, content.subarray(0, 10))
      const end = (etags: unknown) => uploads('POST', `/files${PATH}`, {action: 'end', ref, etags})
      expect((await end([{etag: 'wrong', part: 1}])).json.type).toBe('wrong-etag')
      expect((await end([{etag: one.etag, part: 1}])).json.type).toBe('wrong-size')
      const third = await begin(uploads, {ref, part: 3})
      const three = await put(simulator, third.upload_uri, content)
      const etags = [
        {etag: one.etag, part: 1},
        {etag: three.etag, part: 3},
      ]
      expect((await end(etags)).json.type).toBe('missing-part')
      const second = await begin(uploads, {ref, part: 2})
      const two = await put(simulator, second.upload_uri, content)
      expect((await end([...etags, {etag: two.etag, part: 2}])).json.type).toBe('part-too-small')
    }))

  it('keeps the size and the hash of each part, and no hash of the whole, of what is too large to hold', () =>
    inVirtualTime({uploads: {keepBytes: MIB}}, async ({uploads, simulator}) => {
      const {upload_uri, ref} = await begin(uploads)
      const {etag} = await put(simulator, upload_uri, content)
      await uploads('POST', `/files${PATH}`, {action: 'end', ref, etags: [{etag, part: 1}]})
      expect(simulator.world.uploads.files[PATH.slice(1)]).toMatchObject({
        size: content.length,
        etags: [etag.replaceAll('"', '')],
        sha256: null,
      })
    }))

  it('lets a part fail', () =>
    inVirtualTime({faults: [{match: {api: 'parts'}, times: 1, action: {type: 'status', status: 500}}]}, async ({uploads, simulator}) => {
      const {upload_uri} = await begin(uploads)
      expect((await put(simulator, upload_uri, content)).status).toBe(500)
      expect((await put(simulator, upload_uri, content)).status).toBe(200)
    }))
})
