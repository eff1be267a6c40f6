import {spawnSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'

const PROGRAM = fileURLToPath(new URL('../../dist/bin/svcctl.js', import.meta.url))

/** Says at the end what was loaded: modules of Node, and whether schemas were among the files of the program. */
const WITNESS = `
  const vm = require('node:vm')
  const {Script} = vm
  let schemas = false
  vm.Script = class extends Script {
    constructor(code, options) {
      super(code, options)
      schemas ||= code.includes('_zod')
    }
  }
  process.on('exit', () => require('node:fs').writeFileSync(process.env.WITNESS, JSON.stringify({schemas, modules: process.moduleLoadList})))`

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-start-'))
  writeFileSync(join(folder, 'witness.cjs'), WITNESS)
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

function loadedBy(line: readonly string[]): {readonly schemas: boolean; readonly modules: readonly string[]} {
  const seen = join(folder, 'seen.json')
  const env = {PATH: process.env.PATH, HOME: folder, WITNESS: seen, NODE_DISABLE_COMPILE_CACHE: '1'}
  spawnSync(process.execPath, ['-r', join(folder, 'witness.cjs'), PROGRAM, ...line], {cwd: folder, env, stdio: 'ignore'})
  const {schemas, modules} = JSON.parse(readFileSync(seen, 'utf8'))
  return {schemas, modules: modules.map((it: string) => it.replace('NativeModule ', ''))}
}

describe('a call that has nothing to do', () => {
  // Each of them is a millisecond or two of a start that takes fifty.
  it.each([
    [['--help']],
    [['plan', '--nope']],
    [['plan']],
    [['api', '--nope']],
    [['api', 'cloud', 'get', '/subscriptions']],
    [['profile', 'list']],
    [['runs', 'list']],
  ])('loads no schemas, and of Node nothing that it does not need: %j', line => {
    const {schemas, modules} = loadedBy(line)
    expect(schemas).toBe(false)
    expect(modules.filter(it => ['fs/promises', 'perf_hooks', 'tty', 'tls', 'http', 'zlib', 'child_process'].includes(it))).toEqual([])
  })
})
