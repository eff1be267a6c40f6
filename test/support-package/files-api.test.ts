import {describe, expect, it} from 'vitest'
import {filesApi} from '../../src/support-package/files-api.ts'
import type {ApiClient} from '../../src/transport/api-client.ts'

const PART = {ref: 'r', upload_uri: 'https://storage.example.com/1', http_method: 'PUT', headers: {'x-a': 'b'}, partsize: 5}

/** The upload service's answer to the beginning of an upload. */
const begun = (answer: unknown) => {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  const call: ApiClient['call'] = async () => ({answered: true, answer: {status: 200, text, headers: {}}}) as never
  return filesApi({call} as ApiClient).begin('/uploads/a', 1)
}

describe('the upload service', () => {
  it('is heard when it repeats what signs the address of a part: that is a secret from then on', async () => {
    const learned: string[] = []
    const texts = [
      [{...PART, upload_uri: `${PART.upload_uri}?part=1&signature=abc%2Fdef%3D%3D012345`}],
      {message: 'not abc%2Fdef%3D%3D012345'},
    ]
    const call: ApiClient['call'] = async () => {
      const status = texts.length === 2 ? 200 : 400
      return {answered: true, answer: {status, text: JSON.stringify(texts.shift()), headers: {}}} as never
    }
    const api = filesApi({call} as ApiClient, {learnsSecret: it => learned.push(it)})
    await api.begin('/uploads/a', 1)
    expect(learned).toEqual([])
    await expect(api.part('/uploads/a', 'r', 2)).rejects.toMatchObject({code: 'E_UPLOAD_REFUSED'})
    expect(learned).toEqual(['abc%2Fdef%3D%3D012345', 'abc/def==012345'])
  })

  it('is heard when it repeats what else lets a part in: a password in its address, and its headers', async () => {
    const learned: string[] = []
    const headers = {authorization: 'Bearer t0ken-of-part', 'content-type': 'application/octet-stream', 'x-amz-acl': 'private-acl'}
    const texts = [
      [{...PART, upload_uri: 'https://ann:pass-of-part@storage.example.com/1', headers}],
      {message: 'not pass-of-part with t0ken-of-part, as application/octet-stream'},
    ]
    const call: ApiClient['call'] = async () => {
      const status = texts.length === 2 ? 200 : 400
      return {answered: true, answer: {status, text: JSON.stringify(texts.shift()), headers: {}}} as never
    }
    const api = filesApi({call} as ApiClient, {learnsSecret: it => learned.push(it)})
    await api.begin('/uploads/a', 1)
    await expect(api.part('/uploads/a', 'r', 2)).rejects.toMatchObject({code: 'E_UPLOAD_REFUSED'})
    expect([...new Set(learned)]).toEqual(['pass-of-part', 't0ken-of-part'])
  })

  it('says where the first part goes', async () => {
    const chosen = {
      'x-a': 'b',
      Host: 'evil.example',
      'Transfer-Encoding': 'chunked',
      'keep-alive': '1',
      Upgrade: 'h2c',
      Expect: '100-continue',
    }
    expect((await begun([{...PART, headers: chosen}])).headers).toEqual({'x-a': 'b'})
    expect(await begun([PART])).toMatchObject({ref: 'r', uri: PART.upload_uri, method: 'PUT', headers: {'x-a': 'b'}})
  })

  it.each([
    ['upload_uri is no address of http or https', [{...PART, upload_uri: 'file:///etc/passwd'}]],
    ['upload_uri is no address of http or https', [{...PART, upload_uri: 'nowhere'}]],
    ['http_method is neither PUT nor POST', [{...PART, http_method: 'DELETE'}]],
    ['headers are none that can be sent', [{...PART, headers: {'x-a': 'b\r\nc: d'}}]],
    ['headers are none that can be sent', [{...PART, headers: {'x a': 'b'}}]],
    ['partsize does not fit', [{...PART, partsize: 0}]],
    ['it is no list of parts', []],
    ['it is no list of parts', 'not JSON'],
  ])('is not followed: %s', async (problem, answer) => {
    await expect(begun(answer)).rejects.toMatchObject({code: 'E_UPLOAD_ANSWER', message: expect.stringContaining(problem)})
  })
})
