import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Script} from 'node:vm'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {digestOf, folderFor, readCompiled, writeCompiled} from '../../src/bin/code-cache.ts'
import {isOwnFolder} from '../../src/bin/own-folder.ts'
import {programFiles} from '../../src/bin/program-files.ts'
import {codeCacheFolder} from '../../src/config/code-cache-folder.ts'
import {type Sandbox, sandbox} from '../support/program.ts'

let folder: string
let program: string
let cache: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-code-'))
  program = join(folder, 'bin')
  cache = join(folder, '.cache', 'svcctl', 'code')
  mkdirSync(program)
  file(
    'program.js',
    "const {word} = require('./word.js'); exports.say = () => word() + require('node:path').sep; exports.more = () => require('./more.js')",
  )
  file('word.js', "const it = 'one'; exports.word = () => it")
  file('more.js', "exports.file = __filename; exports.twice = require('./word.js').word() + module.exports.file.length")
})
afterEach(() => {
  chmodSync(folder, 0o700)
  rmSync(folder, {recursive: true, force: true})
})

const file = (name: string, text: string): void => writeFileSync(join(program, name), text)

/** One call of the program: what it says, and what was written when it ended. */
function call(): {said: string; written: readonly string[]} {
  const {load, keep} = programFiles(program, cache)
  const {say} = load('program.js') as {say: () => string}
  return {said: say(), written: keep()}
}

const kept = (): string => folderFor(cache, program)

describe('files of the program', () => {
  it('are loaded by each other and run once, as Node does', () => {
    file('count.js', 'globalThis.svcctlRuns = (globalThis.svcctlRuns ?? 0) + 1; exports.runs = globalThis.svcctlRuns')
    file('both.js', "exports.runs = require('./count.js').runs + require('./count.js').runs")
    const {load} = programFiles(program, undefined)
    expect(load('both.js')).toEqual({runs: 2})
    expect(load('count.js')).toEqual({runs: 1})
  })

  it('see themselves half made where they need each other', () => {
    file('a.js', "exports.early = 1; exports.b = require('./b.js').seen")
    file('b.js', "exports.seen = Object.keys(require('./a.js'))")
    expect(programFiles(program, undefined).load('a.js')).toEqual({early: 1, b: ['early']})
  })

  it('name themselves and their line in what they throw', () => {
    file('throws.js', "\nexports.now = () => { throw new TypeError('no') }")
    const {now} = programFiles(program, undefined).load('throws.js') as {now: () => void}
    try {
      now()
      expect.unreachable()
    } catch (error) {
      expect((error as Error).stack).toContain(`${join(program, 'throws.js')}:2:29`)
    }
  })
})

describe('compiled code', () => {
  it('is kept by the first call, for this user alone, and the second writes nothing', () => {
    expect(call()).toEqual({said: 'one/', written: ['program.js']})
    expect(statSync(kept()).mode & 0o777).toBe(0o700)
    expect(statSync(join(kept(), 'program.js')).mode & 0o777).toBe(0o600)
    expect(call()).toEqual({said: 'one/', written: []})
  })

  it('is kept apart for what is loaded later, under its first file', () => {
    const {load, keep} = programFiles(program, cache)
    const {more} = load('program.js') as {more: () => {twice: string}}
    expect(more().twice).toMatch(/^one\d+$/)
    expect(keep()).toEqual(['program.js', 'more.js'])
    expect([...readCompiled(kept(), 'more.js').keys()]).toEqual(['more.js'])
  })

  it('of an older file of the same length is refused', () => {
    call()
    file('word.js', "const it = 'two'; exports.word = () => it")
    expect(call()).toEqual({said: 'two/', written: ['program.js']})
    expect(call()).toEqual({said: 'two/', written: []})
  })

  it.each([
    ['altered', (bytes: Buffer) => bytes.fill(bytes.readUInt8(bytes.length - 40) ^ 1, bytes.length - 40, bytes.length - 39)],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
    ['of another layout', (bytes: Buffer) => Buffer.concat([Buffer.from('svcctl code 0'), bytes.subarray(13)])],
    ['empty', () => Buffer.of()],
    ['noise', () => Buffer.alloc(5000, 'svcctl code 2\n')],
  ])('that is %s is refused and written anew', (_, change) => {
    call()
    const path = join(kept(), 'program.js')
    writeFileSync(path, change(readFileSync(path)))
    expect(call()).toEqual({said: 'one/', written: ['program.js']})
    expect(call()).toEqual({said: 'one/', written: []})
  })

  it('that was copied here, as an archive or a backup does, is refused and written anew', () => {
    call()
    const path = join(kept(), 'program.js')
    cpSync(path, join(folder, 'brought'))
    renameSync(join(folder, 'brought'), path)
    expect(readCompiled(kept(), 'program.js').size).toBe(0)
    expect(call()).toEqual({said: 'one/', written: ['program.js']})
    expect(call()).toEqual({said: 'one/', written: []})
  })

  it('that V8 refuses, because another version made it, is written anew', () => {
    call()
    const source = readFileSync(join(program, 'word.js'))
    const bytes = Buffer.from(readCompiled(kept(), 'program.js').get('word.js')?.bytes ?? [])
    // The second word of V8's own header is the hash of its version.
    bytes.fill(7, 4, 8)
    writeCompiled(kept(), 'program.js', new Map([['word.js', {bytes, digest: digestOf('word.js', source, bytes)}]]))
    expect(call()).toEqual({said: 'one/', written: ['program.js']})
  })

  it('of files that a newer build no longer has goes with the next that is written', () => {
    call()
    writeFileSync(join(kept(), 'former.js'), '')
    writeFileSync(join(kept(), 'program.js.17.new'), '')
    file('word.js', "exports.word = () => 'new'")
    call()
    expect(readdirSync(kept())).toEqual(['program.js'])
  })

  it('is kept for the six installations that were used last', () => {
    const programs = Array.from({length: 8}, (_, i) => join(folder, `bin-${i}`))
    for (const it of programs) {
      mkdirSync(it)
      writeFileSync(join(it, 'program.js'), '')
      const {load, keep} = programFiles(it, cache)
      load('program.js')
      expect(keep()).toEqual(['program.js'])
    }
    expect(readdirSync(cache)).toHaveLength(6)
    expect(existsSync(folderFor(cache, programs[7] ?? ''))).toBe(true)
  })

  it.each([
    ['in a home that cannot be written', () => join(program, 'program.js', 'cache')],
    ['where no home is', () => join(folder, 'nobody', 'here', 'svcctl', 'code')],
    ['nowhere', () => undefined],
  ])('%s is not kept, and the program runs', (_, where) => {
    const {load, keep} = programFiles(program, where())
    expect((load('program.js') as {say: () => string}).say()).toBe('one/')
    expect(keep()).toEqual([])
    expect(existsSync(join(folder, 'nobody'))).toBe(false)
  })
})

describe('compiled code that somebody else may have written', () => {
  /** Right in everything but what it does: it says `bad` where the source says `one`. */
  const forge = (): string => {
    const source = readFileSync(join(program, 'word.js'))
    const opening = '(function(exports,require,module,__filename,__dirname){'
    const bytes = new Script(`${opening}${source.toString().replace('one', 'bad')}\n})`).createCachedData()
    writeCompiled(kept(), 'program.js', new Map([['word.js', {bytes, digest: digestOf('word.js', source, bytes)}]]))
    return join(kept(), 'program.js')
  }

  it('would be run if it were this user’s', () => {
    forge()
    expect(call().said).toBe('bad/')
  })

  it.each<[string, () => void]>([
    ['in a file that others can write', () => chmodSync(forge(), 0o622)],
    ['in a folder that others can write', () => chmodSync(join(forge(), '..'), 0o777)],
    ['below a folder that others can write', () => chmodSync(join(forge(), '../../../..'), 0o777)],
    // HOME=/work in a container: what lies there is what the author of a pull request committed.
    ['below the checkout of a repository', () => mkdirSync(join(forge(), '../../../../../.git'))],
    ['below a folder of a group', () => chmodSync(join(forge(), '../../..'), 0o770)],
    [
      'behind a link',
      () => {
        const path = forge()
        renameSync(path, join(folder, 'elsewhere'))
        symlinkSync(join(folder, 'elsewhere'), path)
      },
    ],
    ['under a second name', () => linkSync(forge(), join(folder, 'elsewhere'))],
  ])('%s is refused', (_, arrange) => {
    arrange()
    expect(call().said).toBe('one/')
  })

  it('is refused in a folder of another user', () => {
    call()
    expect(isOwnFolder(kept())).toBe(true)
    expect(isOwnFolder(kept(), (process.getuid?.() ?? 0) + 1)).toBe(false)
    expect(isOwnFolder(join(kept(), 'missing'))).toBe(false)
  })
})

describe('the folder of compiled code', () => {
  it('is below the cache of the user, whatever a working folder says', () => {
    expect(codeCacheFolder({HOME: '/home/ada'})).toBe('/home/ada/.cache/svcctl/code')
    expect(codeCacheFolder({HOME: '/home/ada', XDG_CACHE_HOME: '/var/cache/ada'})).toBe('/var/cache/ada/svcctl/code')
    expect(codeCacheFolder({HOME: '/home/ada', XDG_CACHE_HOME: '.cache'})).toBe('/home/ada/.cache/svcctl/code')
  })

  it.each(['CI', 'NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE'])('is none where %s is set', name => {
    expect(codeCacheFolder({HOME: '/home/ada', [name]: '1'})).toBeUndefined()
  })
})

describe('the built program', () => {
  let here: Sandbox
  beforeEach(() => {
    here = sandbox()
  })
  afterEach(() => here.remove())

  it('says the same with code of the call before, and keeps nothing in CI', async () => {
    const code = join(here.home, '.cache', 'svcctl', 'code')
    const env = {XDG_CACHE_HOME: ''}
    const plain = await here.child(['plan'], {env: {CI: 'true', ...env}})
    expect(plain.stderr).toContain('E_NO_STACKS')
    expect(existsSync(code)).toBe(false)
    expect(await here.child(['plan'], {env})).toEqual(plain)
    const [installation = ''] = readdirSync(code)
    const before = statSync(join(code, installation, 'program.js')).mtimeMs
    expect(await here.child(['plan'], {env})).toEqual(plain)
    expect(statSync(join(code, installation, 'program.js')).mtimeMs).toBe(before)
  })
})
