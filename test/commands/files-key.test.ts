import {mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs'
import {dirname} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Sandbox, sandbox} from '../support/program.ts'

let here: Sandbox
beforeEach(() => {
  here = sandbox()
})
afterEach(() => here.remove())

const config = () => readFileSync(here.configFile, 'utf8')
const writeConfig = (text: string) => {
  mkdirSync(dirname(here.configFile), {recursive: true, mode: 0o700})
  writeFileSync(here.configFile, text, {mode: 0o600})
}
const LAB = '# lab\n[profiles.lab]\ndeployment_type = "enterprise" # ours\n'
const KEY = 'upload-key-abcd'

describe('files-key set', () => {
  it('stores the key beside the profiles, above them, and prints it masked', async () => {
    writeConfig(LAB)
    const {code, stdout, stderr} = await here.run(['files-key', 'set', KEY, '-o', 'json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({stored: 'global config', key: '********abcd'})
    expect(stdout + stderr).not.toContain(KEY)
    expect(config().indexOf(`files_api_key = "${KEY}"`)).toBeLessThan(config().indexOf('[profiles.lab]'))
    expect(config().indexOf(`files_api_key = "${KEY}"`)).toBeGreaterThanOrEqual(0)
    expect(config()).toContain('deployment_type = "enterprise" # ours')
    expect(statSync(here.configFile).mode & 0o777).toBe(0o600)
  })

  it('stores it in one profile with --profile, and reads it from standard input', async () => {
    writeConfig(LAB)
    expect((await here.run(['files-key', 'set', '-', '--profile', 'lab'], {input: `${KEY}\n`})).code).toBe(0)
    expect(config()).toBe(`${LAB}files_api_key = "${KEY}"\n`)
  })

  it('that was forgotten before the key does not have the key repeated', async () => {
    const {code, stdout, stderr} = await here.run(['files-key', KEY, '-o', 'json'])
    expect(code).toBe(64)
    expect(stdout + stderr).not.toContain(KEY)
    expect((await here.run(['files-key', 'sett', 'x'])).stderr).toContain('files-key sett')
  })

  it('refuses an unknown profile, and a key that is empty, and writes nothing', async () => {
    writeConfig(LAB)
    expect((await here.run(['files-key', 'set', KEY, '--profile', 'lob'])).code).toBe(64)
    expect(await here.run(['files-key', 'set', ''])).toMatchObject({code: 64, stderr: expect.stringContaining('error: the key is empty')})
    const nothing = await here.run(['files-key', 'set', '-'], {input: ''})
    expect([nothing.code, nothing.stderr]).toEqual([64, expect.stringContaining('printf %s "$SECRET" | svcctl … -\n')])
    expect(config()).toBe(LAB)
  })

  it.each(['--global', '--profile lab', '--use-keyring'])('refuses a key that no header can hold, and stores nothing: %s', async place => {
    writeConfig(LAB)
    const {code, stdout, stderr} = await here.run(['files-key', 'set', '-', ...place.split(' '), '-o', 'json'], {input: `good\n${KEY}\n`})
    expect([code, JSON.parse(stdout).error.code]).toEqual([64, 'E_HEADER_VALUE'])
    expect(stdout + stderr).not.toContain(KEY)
    expect(config()).toBe(LAB)
  })

  it('leaves a reference to be judged where it is used', async () => {
    writeConfig(LAB)
    expect((await here.run(['files-key', 'set', '${UPLOAD_KEY:-a\u2028b}'])).code).toBe(0)
  })

  it('with --use-keyring and no keyring fails, and never falls back to plain text', async () => {
    writeConfig(LAB)
    const {code, stdout, stderr} = await here.child(['files-key', 'set', KEY, '--use-keyring', '-o', 'json'], {
      env: {DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent'},
    })
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error.code).toBe('E_KEYRING_UNAVAILABLE')
    expect(stdout + stderr).not.toContain(KEY)
    expect(config()).toBe(LAB)
  })
})

describe('files-key get', () => {
  const get = async (env: Record<string, string> = {}) => {
    const {code, stdout} = await here.run(['files-key', 'get', '-o', 'json'], {env})
    expect(code).toBe(0)
    return JSON.parse(stdout)
  }

  it('finds the first of the contract’s places', async () => {
    writeConfig(`files_api_key = "global-key-1111"\n${LAB}files_api_key = "profile-key-2222"\n`)
    const env = {SVC_ENTERPRISE_FILES_API_KEY: 'first-key-3333', SVC_FILES_API_KEY: 'last-key-4444'}
    expect(await get(env)).toEqual({found: true, source: 'environment SVC_ENTERPRISE_FILES_API_KEY', key: '********3333'})
    expect(await get({SVC_FILES_API_KEY: 'last-key-4444'})).toEqual({found: true, source: 'profile lab', key: '********2222'})
    writeConfig(`files_api_key = "global-key-1111"\n${LAB}`)
    expect(await get()).toEqual({found: true, source: 'global config', key: '********1111'})
  })

  it('says when there is none, and what stood in the way', async () => {
    expect(await get()).toEqual({found: false, source: null, key: null})
    expect(await get({SVC_FILES_API_KEY: 'last-key-4444'})).toMatchObject({source: 'environment SVC_FILES_API_KEY'})
  })
})

describe('files-key remove', () => {
  it('takes the key out and leaves the rest', async () => {
    writeConfig(`files_api_key = "${KEY}"\n${LAB}`)
    expect(JSON.parse((await here.run(['files-key', 'remove', '--global', '-o', 'json'])).stdout)).toEqual({removed: true})
    expect(config()).toBe(LAB)
    expect(JSON.parse((await here.run(['files-key', 'remove', '--global', '-o', 'json'])).stdout)).toEqual({removed: false})
  })
})
