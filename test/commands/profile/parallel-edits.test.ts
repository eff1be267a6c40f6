/** Several processes edit the configuration file at once, and some of them are killed. */
import {spawn} from 'node:child_process'
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname} from 'node:path'
import {parse} from 'smol-toml'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {PROGRAM, type Sandbox, sandbox} from '../../support/program.ts'

let here: Sandbox
beforeEach(() => {
  here = sandbox()
  mkdirSync(dirname(here.configFile), {recursive: true, mode: 0o700})
})
afterEach(() => here.remove())

const COMMENTED = '# ours\ncolor = "never" # not svcctl\'s\n\n[profiles.old] # first\ndeployment_type = "cloud"\n# the end\n'

describe('eight edits at once', () => {
  it('all survive, and so does every line that was there', async () => {
    writeFileSync(here.configFile, COMMENTED, {mode: 0o600})
    const outcomes = await Promise.all([
      ...[1, 2, 3, 4].map(n =>
        here.child(['profile', 'set', `p${n}`, '--deployment', 'cloud', '--api-key', `key-${n}`, '--api-secret', 's']),
      ),
      here.child(['profile', 'set', 'old', '--api-url', 'https://api.example.com/v1']),
      here.child(['profile', 'set', 'old', '--rate', '60']),
      here.child(['profile', 'default', 'old']),
      here.child(['files-key', 'set', 'upload-key-1']),
    ])
    expect(outcomes.map(it => [it.code, it.stderr])).toEqual(outcomes.map(() => [0, '']))
    const text = readFileSync(here.configFile, 'utf8')
    expect(parse(text)).toEqual({
      color: 'never',
      default_cloud: 'old',
      files_api_key: 'upload-key-1',
      profiles: {
        old: {deployment_type: 'cloud', api_url: 'https://api.example.com/v1', rate: 60},
        ...Object.fromEntries([1, 2, 3, 4].map(n => [`p${n}`, {deployment_type: 'cloud', api_key: `key-${n}`, api_secret: 's'}])),
      },
    })
    expect(text.split('\n')).toEqual(expect.arrayContaining(COMMENTED.trimEnd().split('\n')))
    expect(readdirSync(dirname(here.configFile))).toEqual(['config.toml'])
  }, 60_000)
})

describe('an editor that is killed', () => {
  it('leaves the old file or the new one, and no lock that is in the way', async () => {
    writeFileSync(here.configFile, COMMENTED, {mode: 0o600})
    const editors = [1, 2, 3, 4, 5, 6].map(n => {
      const args = ['profile', 'set', `p${n}`, '--deployment', 'cloud', '--api-key', 'k', '--api-secret', 's']
      const child = spawn(process.execPath, [PROGRAM, ...args], {env: here.env, stdio: 'ignore'})
      const ended = new Promise<string>(resolve => child.on('exit', (code, signal) => resolve(signal ?? `${code}`)))
      return {name: `p${n}`, child, ended}
    })
    const [first] = editors
    // The moment in which the first of them is through is a moment in which others are in the middle.
    await first?.ended
    for (const {child} of editors) child.kill('SIGKILL')
    const ends = await Promise.all(editors.map(it => it.ended))
    const names = Object.keys((parse(readFileSync(here.configFile, 'utf8')) as {profiles: object}).profiles)
    expect(names).toEqual(expect.arrayContaining(['old', ...editors.filter((_, index) => ends[index] === '0').map(it => it.name)]))
    expect(readFileSync(here.configFile, 'utf8').split('\n')).toEqual(expect.arrayContaining(COMMENTED.trimEnd().split('\n')))

    const after = await here.child(['profile', 'set', 'last', '--deployment', 'cloud', '--api-key', 'k', '--api-secret', 's'])
    expect([after.code, after.stderr]).toEqual([0, ''])
  }, 60_000)
})
