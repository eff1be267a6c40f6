/**
 * The keyring for real: gnome-keyring on a session bus of its own, in a home of its own, unlocked with an empty password
 * (`--unlock` reads it from standard input up to the newline).
 */
import {type ChildProcess, execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, mkdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {PROMPT, type Site, site} from '../../support/site.ts'
import {lacks} from '../../support/tools.ts'

const KEY = 'upload-key-abcd'

interface Session {
  readonly env: Readonly<Record<string, string>>
  /** What somebody who goes away from the machine does. */
  lock(): void
  end(): Promise<void>
}

/** What the keyring holds under this name, asked without svcctl; `none` for nothing. */
const systemEntry = (env: Readonly<Record<string, string>>, name: string): string => {
  const script = `const {AsyncEntry} = require('@napi-rs/keyring')
new AsyncEntry('svcctl', '${name}', {linux: {store: 'secret-service'}}).getPassword().then(it => console.log(it ?? 'none'))`
  return execFileSync(process.execPath, ['-e', script], {env, encoding: 'utf8', timeout: 10_000}).trim()
}

const UNLOCKED = "echo '' | gnome-keyring-daemon --unlock --components=secrets --daemonize >&2"

/** @param keyring - the shell line that starts a keyring on the bus; absent for a bus that has none and can start none */
async function session(here: Site, keyring?: string): Promise<Session> {
  const runtime = join(here.home, 'run')
  mkdirSync(runtime, {recursive: true, mode: 0o700})
  const base = {
    PATH: process.env.PATH ?? '',
    HOME: here.home,
    XDG_DATA_HOME: join(here.home, '.local', 'share'),
    XDG_RUNTIME_DIR: runtime,
    ...(keyring === undefined ? {XDG_DATA_DIRS: here.folder} : {}),
  }
  // The session lasts as long as the standard input of its shell.
  const line = `${keyring ?? ':'}; printf '%s\\n' "$DBUS_SESSION_BUS_ADDRESS"; cat >/dev/null`
  const holder: ChildProcess = spawn('dbus-run-session', ['--', 'sh', '-c', line], {env: base, stdio: ['pipe', 'pipe', 'ignore']})
  if (holder.stdout === null) throw new Error('the session has no output')
  const [address] = (await once(createInterface({input: holder.stdout}), 'line')) as [string]
  // The site's own upload key would be found too.
  const env = {...base, DBUS_SESSION_BUS_ADDRESS: address, SVC_FILES_API_KEY: ''}
  const service = '/org/freedesktop/secrets'
  return {
    env,
    lock: () =>
      void execFileSync(
        'dbus-send',
        [
          '--session',
          '--print-reply',
          '--dest=org.freedesktop.secrets',
          service,
          'org.freedesktop.Secret.Service.Lock',
          `array:objpath:${service}/collection/login`,
        ],
        {env, stdio: 'ignore'},
      ),
    end: async () => {
      const ended = once(holder, 'close')
      holder.stdin?.end()
      await ended
    },
  }
}

describe.skipIf(lacks('a real keyring', 'dbus-run-session', 'dbus-send', 'gnome-keyring-daemon'))('a real keyring', () => {
  let here: Site
  let open: Session
  beforeEach(async () => {
    here = await site(PROMPT)
    open = await session(here, UNLOCKED)
  })
  afterEach(async () => {
    await open.end()
    await here.close()
  })

  const run = (args: readonly string[], {input, env = open.env}: {input?: string; env?: Readonly<Record<string, string>>} = {}) =>
    here.child(args, {env, ...(input === undefined ? {} : {input})})
  const config = () => (existsSync(here.configFile) ? readFileSync(here.configFile, 'utf8') : '')

  it('keeps the upload key: the file holds a reference, get shows it masked, remove takes both away', async () => {
    const set = await run(['files-key', 'set', '-', '--use-keyring', '-o', 'json'], {input: `${KEY}\n`})
    expect({...set, stdout: JSON.parse(set.stdout)}).toEqual({code: 0, stdout: {stored: 'keyring', key: '********abcd'}, stderr: ''})
    expect(config()).toBe('files_api_key = "keyring:files-api-key"\n')

    expect(await run(['files-key', 'get'])).toEqual({code: 0, stdout: '********abcd (keyring)\n', stderr: ''})
    expect(JSON.parse((await run(['files-key', 'get', '-o', 'json'])).stdout)).toEqual({
      found: true,
      source: 'keyring',
      key: '********abcd',
    })

    expect(await run(['files-key', 'remove', '--keyring'])).toEqual({code: 0, stdout: 'removed the upload key\n', stderr: ''})
    expect(config().trim()).toBe('')
    expect(JSON.parse((await run(['files-key', 'get', '-o', 'json'])).stdout)).toEqual({found: false, source: null, key: null})
    expect((await run(['files-key', 'remove', '--use-keyring'])).stdout).toBe('there was no upload key there\n')
  })

  it('keeps a profile’s password: commands log in with it, and the profile takes it along when it goes', async () => {
    const {SVC_ENTERPRISE_URL = '', SVC_ENTERPRISE_USER = '', SVC_ENTERPRISE_PASSWORD = '', SVC_ENTERPRISE_INSECURE = ''} = here.env
    // In the contract's order the environment wins over a profile, so it must say nothing.
    const env = {...open.env, SVC_ENTERPRISE_URL: '', SVC_ENTERPRISE_USER: '', SVC_ENTERPRISE_PASSWORD: ''}
    const words = ['profile', 'set', 'lab', '--deployment', 'enterprise', '--url', SVC_ENTERPRISE_URL, '--username', SVC_ENTERPRISE_USER]
    const insecure = SVC_ENTERPRISE_INSECURE === 'true' ? ['--insecure'] : []
    const set = await run([...words, '--password', '-', '--use-keyring', ...insecure], {input: SVC_ENTERPRISE_PASSWORD, env})
    expect(set.code).toBe(0)
    expect(config()).toContain('password = "keyring:lab.password"')
    expect(config() + set.stdout + set.stderr).not.toContain(`"${SVC_ENTERPRISE_PASSWORD}"`)

    const list = await run(['node', 'list', '--profile', 'lab', '-o', 'json'], {env})
    expect({code: list.code, stderr: list.stderr}).toEqual({code: 0, stderr: ''})
    expect(JSON.parse(list.stdout).length).toBeGreaterThan(0)

    expect((await run(['profile', 'remove', 'lab', '--yes'], {env})).code).toBe(0)
    expect((await run([...words, '--password', 'keyring:lab.password'], {env})).code).toBe(0)
    const gone = await run(['node', 'list', '--profile', 'lab', '-o', 'json'], {env})
    expect(JSON.parse(gone.stdout).error.code).toBe('E_KEYRING_MISSING')
    expect(gone.stderr).toContain('--use-keyring')
  })

  it('is as it was before when the configuration file refuses the change, and that is said', async () => {
    const url = ['--url', 'https://127.0.0.1:9443']
    await run(['profile', 'set', 'lab', '--deployment', 'enterprise', ...url, '--password', 'first-password-1', '--use-keyring'])
    const before = config()
    const words = ['profile', 'set', 'lab', '--password', 'second-password-2', '--api-key', 'of-the-cloud-3', '--use-keyring']
    const {code, stderr} = await run(words)
    expect(code).toBe(64)
    expect(stderr).toContain('warning: The keyring is as it was before: nothing of this change was kept there.\n')
    expect(stderr).toContain('error: api_key belongs to cloud profiles, and this one is enterprise (E_PROFILE_FIELD)')
    expect(config()).toBe(before)
    const held = (name: string) => systemEntry(open.env, name)
    expect([held('lab.password'), held('lab.api_key')]).toEqual(['first-password-1', 'none'])

    const nowhere = {...open.env, SVC_CONFIG_FILE: join(here.configFile, 'config.toml')}
    const set = await run(['files-key', 'set', KEY, '--use-keyring'], {env: nowhere})
    expect([set.code, held('files-api-key')]).toEqual([64, 'none'])
    expect(set.stderr).toContain('The keyring is as it was before')
  })

  it('that is locked is said, on storing, reading and removing, and nothing is written in clear', async () => {
    await run(['files-key', 'set', KEY, '--use-keyring'])
    const before = config()
    open.lock()
    const other = 'other-upload-key-9999'
    for (const words of [
      ['files-key', 'set', other, '--use-keyring'],
      ['files-key', 'get'],
      ['files-key', 'remove', '--keyring'],
      ['profile', 'set', 'lab', '--deployment', 'enterprise', '--url', 'https://127.0.0.1:9443', '--password', other, '--use-keyring'],
    ]) {
      const {code, stdout, stderr} = await run([...words, '-o', 'json'])
      expect({words, code, error: JSON.parse(stdout).error.code}).toEqual({words, code: 1, error: 'E_KEYRING_UNAVAILABLE'})
      expect(stderr).toContain('Unlock the keyring')
      expect(stdout + stderr).not.toContain(other)
      expect(config()).toBe(before)
    }
  })

  it('that is absent is said, and nothing is written in clear', async () => {
    const empty = await session(here)
    try {
      const {code, stdout, stderr} = await run(['files-key', 'set', KEY, '--use-keyring', '-o', 'json'], {env: empty.env})
      expect(code).toBe(1)
      expect(JSON.parse(stdout).error.code).toBe('E_KEYRING_UNAVAILABLE')
      expect(stdout + stderr).not.toContain(KEY)
      expect(config()).toBe('')
    } finally {
      await empty.end()
    }
  })
})
