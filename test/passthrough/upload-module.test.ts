import {mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {rawVoice} from '../../src/passthrough/raw-voice.ts'
import {checkModuleFile, uploadModule} from '../../src/passthrough/upload-module.ts'
import type {ConnectedClient, StreamCall} from '../../src/transport/api-client.ts'
import {ConnectionError} from '../../src/transport/connection-error.ts'
import {answering} from '../backends/scripted-client.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-module-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

const archive = (content = 'PK and what is packed') => {
  const path = join(folder, 'search".zip')
  writeFileSync(path, content)
  return path
}

type Said = {readonly status: number; readonly text?: string} | Error

/** A cluster that answers each path as it is told, and remembers what arrived. */
function cluster(answers: Readonly<Record<string, Said>>) {
  const sent: {path: string; headers: StreamCall['headers']; body: string}[] = []
  const openStream: ConnectedClient['openStream'] = async ({path, headers, body}) => {
    const parts: Uint8Array[] = []
    if (typeof body === 'function') for await (const part of body()) parts.push(part)
    sent.push({path, headers, body: Buffer.concat(parts).toString('latin1')})
    const said = answers[path] ?? {status: 404}
    if (said instanceof Error) throw said
    return {
      status: said.status,
      headers: {},
      body: (async function* () {
        yield Buffer.from(said.text ?? '')
      })(),
    }
  }
  return {sent, client: {...answering({}), openStream}}
}

async function uploaded(answers: Readonly<Record<string, Said>>, path = archive()) {
  const {sent, client} = cluster(answers)
  const voice = rawVoice({deployment: 'enterprise', path: '/v2/modules', method: 'POST'})
  const look = 'svcctl enterprise module list'
  const tried: string[] = []
  const onPath = (it: string) => void tried.push(it)
  const ended = await uploadModule({client, voice, file: await checkModuleFile(path), boundary: 'b0undary', onPath, look}).then(
    value => ({value, error: undefined}),
    (error: unknown) => ({value: undefined, error}),
  )
  return {...ended, sent, tried}
}

describe('the archive of a module', () => {
  it.each([
    ['that is not there', () => join(folder, 'none.zip'), 'does not exist'],
    ['that is a folder', () => folder, 'is no file'],
    ['that is something else', () => archive('hello'), 'is no zip archive'],
    ['that is empty', () => archive(''), 'is no zip archive'],
  ])('%s is refused before anything is sent', async (_, path, reason) => {
    await expect(checkModuleFile(path())).rejects.toMatchObject({code: 'E_MODULE_FILE', exit: 64, message: expect.stringContaining(reason)})
  })

  it('is read where a link leads', async () => {
    const link = join(folder, 'link.zip')
    symlinkSync(archive(), link)
    expect(await checkModuleFile(link)).toEqual({path: link, sizeBytes: 21})
  })
})

describe('a module that is uploaded', () => {
  it('is the one part of a form of exactly the announced length, whose name cannot break out of it', async () => {
    const {value, sent} = await uploaded({'/v2/modules': {status: 200, text: '{"uid":"m1","action_uid":"a1"}'}})
    expect(value).toEqual({uid: 'm1', action_uid: 'a1'})
    const [form] = sent
    expect(form?.headers?.['content-type']).toBe('multipart/form-data; boundary=b0undary')
    expect(Number(form?.headers?.['content-length'])).toBe(form?.body.length)
    expect(form?.body.split('\r\n')).toEqual([
      '--b0undary',
      'Content-Disposition: form-data; name="module"; filename="search_.zip"',
      'Content-Type: application/zip',
      '',
      'PK and what is packed',
      '--b0undary--',
      '',
    ])
  })

  it('goes to the older path where the server line has no newer one', async () => {
    const {value, tried} = await uploaded({'/v1/modules': {status: 200}})
    expect([value, tried]).toEqual([{}, ['/v2/modules', '/v1/modules']])
  })

  it('is taken by no server that says 405, and not there where neither path is', async () => {
    expect((await uploaded({'/v1/modules': {status: 405}})).error).toMatchObject({code: 'E_MODULE_UPLOAD_UNSUPPORTED'})
    expect((await uploaded({})).error).toMatchObject({exit: 11})
  })

  it.each([
    ['a server that failed', {status: 500, text: 'oops'}],
    ['an answer that cannot be read', {status: 200, text: '{"uid":'}],
    ['an answer that got lost', new ConnectionError('lost', {method: 'POST', url: 'https://c:9443/v2/modules'})],
  ])('may be there after %s: it is not sent again, and whoever asked is to look', async (_, said) => {
    const {error, tried} = await uploaded({'/v2/modules': said})
    expect(error).toMatchObject({suggestions: expect.arrayContaining([expect.stringMatching(/module list|[Ll]ook/)])})
    expect(tried).toEqual(['/v2/modules'])
  })

  it('was not sent where no connection came about', async () => {
    const refused = new ConnectionError('refused', {method: 'POST', url: 'https://c:9443/v2/modules'})
    expect((await uploaded({'/v2/modules': refused})).error).toBe(refused)
  })

  it('that grows meanwhile goes out as long as it was announced', async () => {
    const path = archive()
    const file = await checkModuleFile(path)
    truncateSync(path, 1_000)
    const {client, sent} = cluster({'/v2/modules': {status: 200}})
    const voice = rawVoice({deployment: 'enterprise', path: '/v2/modules'})
    await uploadModule({client, voice, file, boundary: 'b', onPath: () => {}, look: ''})
    expect(sent[0]?.body.length).toBe(Number(sent[0]?.headers?.['content-length']))
  })
})
