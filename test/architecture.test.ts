/** Reads the imports of `src` and names every edge that goes against `src/README.md`. */
import {readdirSync, readFileSync} from 'node:fs'
import {basename, dirname, join, relative, sep} from 'node:path'
import {fileURLToPath} from 'node:url'
import {parse} from '@babel/parser'
import {describe, expect, it} from 'vitest'
import {kinds} from '../src/backends/kinds.ts'

const src = fileURLToPath(new URL('../src', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))

const map = readFileSync(join(src, 'README.md'), 'utf8')
/** Rooms and the rooms they import from, as `src/README.md` has them, from top to bottom. */
const ROOMS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...(/```rooms\n([\s\S]*?)```/.exec(map)?.[1] ?? '').matchAll(/^([a-z/-]+) ->(.*)$/gm)].map(([, room = '', imports = '']) => [
    room,
    new Set(imports.trim().split(' ').filter(Boolean)),
  ]),
)
const LARGEST_LINES = 400
const LONGEST_FUNCTION = 80

interface SourceFile {
  /** Below `src`, with `/`. */
  readonly path: string
  readonly room: string
  readonly text: string
  readonly imports: readonly string[]
}

function roomOf(path: string): string {
  const [first = '', second = ''] = path.split('/')
  if (!path.includes('/')) return 'library'
  const inner = `${first}/${second}`
  return ROOMS.has(inner) ? inner : first
}

/** Where kinds may be known by name, and why. Everywhere else what differs between kinds is data of the kind. */
const ABOUT_KINDS: readonly (readonly [place: string, why: string])[] = [
  ['backends/cloud/', 'the kinds of the cloud API, and its requests'],
  ['backends/cluster/', 'the kinds of the cluster API, and its requests'],
  ['backends/api/list-path.ts', 'what answers put in front of names: aclUsers; lists that are only shown'],
  ['simulator/', 'plays the servers'],
  ['declaration/constructs/', 'a class for each kind'],
  ['declaration/read/stack-reader.ts', 'an example in an error'],
  ['bin/command-list.ts', 'the list of commands, by their words'],
  ['commands/', 'commands that list or change what one kind of object has'],
  ['takeover/', 'the resources of the vendor’s provider'],
  ['export/rediscloud.ts', 'the same, to be written'],
  ['export/terraform.ts', 'the same, to be written'],
  ['export/model.ts', 'the option --split subscription'],
  ['run/export/takeover-code.ts', 'the option --split subscription'],
  ['run/export/export-what.ts', 'the argument subscription:NAME'],
  ['passthrough/named-parent.ts', 'the options --subscription and --database'],
  ['cli/parse/id-args.ts', 'arguments of single commands'],
  ['support-package/', 'packages of a node or a database'],
]

/** What kinds are called, in full or in part: names, nouns, steps of paths, fields of ids, words of tasks. */
function wordsOfKinds(): ReadonlySet<string> {
  const words = [...kinds.values()].flatMap(({name, noun, remote, identity, taskWords = []}) => [
    name,
    ...name.split('.').slice(1),
    noun,
    ...remote.split('/').slice(1),
    ...identity.ids,
    ...taskWords,
  ])
  // Words of many other things: a policy of a declaration, a user of a code host, modules of Node, the id of anything.
  const common = ['*', 'id', 'uid', 'policy', 'user', 'rule', 'node']
  return new Set(words.filter(it => !common.includes(it)))
}

/** As a text of its own, as a step of a path or a name with dots in it, or in a regular expression. */
function namesOneOf(text: string, words: ReadonlySet<string>): boolean {
  const code = withoutComments(text).replace(/^import .*$/gm, '')
  const literals = [...code.matchAll(/(['"`])([^'"`\n]*)\1/g)].map(([, , literal = '']) => literal)
  const patterns = [...code.matchAll(/(?<=[(=,:?&|!]\s*)\/(?![*/])((?:[^/\\\n]|\\.)+)\/[a-z]*(?=[.,;)\s])/g)].map(([, it = '']) => it)
  return (
    literals.some(it => words.has(it) || (/^[\w/*.${}:-]+$/.test(it) && it.split(/[./:]/).some(part => words.has(part)))) ||
    patterns.some(it => [...words].some(word => new RegExp(`(?<![a-z:_])${word}(?![a-z_])`, 'i').test(it)))
  )
}

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')

const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*['"]([^'"]+)['"]/g)].flatMap(it => (it[1] === undefined ? [] : [it[1]]))

const files: readonly SourceFile[] = readdirSync(src, {recursive: true, encoding: 'utf8'})
  .filter(it => it.endsWith('.ts'))
  .map(it => it.split(sep).join('/'))
  .sort()
  .map(path => {
    const text = readFileSync(join(src, path), 'utf8')
    return {path, room: roomOf(path), text, imports: importsOf(withoutComments(text))}
  })

const isEngine = (room: string): boolean => room.startsWith('engine/')

/** Where an import inside `src` leads; `undefined` for packages. */
function targetOf(file: SourceFile, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return relative(src, join(src, dirname(file.path), specifier))
    .split(sep)
    .join('/')
}

function* edges(): Iterable<{readonly from: SourceFile; readonly to: string}> {
  for (const from of files) {
    for (const specifier of from.imports) {
      const to = targetOf(from, specifier)
      if (to !== undefined) yield {from, to}
    }
  }
}

const places = (pattern: RegExp, but: (file: SourceFile) => boolean): string[] =>
  files.filter(it => !but(it) && pattern.test(withoutComments(it.text))).map(it => it.path)

describe('the source', () => {
  it('has no room that src/README.md does not name, and no other is named there', () => {
    expect(files.filter(it => !ROOMS.has(it.room)).map(it => it.path)).toEqual([])
    const there = new Set(files.map(it => it.room))
    expect([...ROOMS.keys()].filter(it => !there.has(it))).toEqual([])
    expect([...ROOMS.keys()].filter(it => !map.includes(`| \`${it}\` `))).toEqual([])
  })

  it('imports along the arrows of src/README.md', () => {
    const offending = [...edges()].filter(({from, to}) => from.room !== roomOf(to) && !ROOMS.get(from.room)?.has(roomOf(to)))
    expect(offending.map(({from, to}) => `${from.path} -> ${to}`)).toEqual([])
  })

  it('needs every arrow of src/README.md', () => {
    const drawn = new Set([...edges()].map(({from, to}) => `${from.room} -> ${roomOf(to)}`))
    const unused = [...ROOMS].flatMap(([from, all]) => [...all].map(to => `${from} -> ${to}`).filter(it => !drawn.has(it)))
    expect(unused).toEqual([])
  })

  it('has no arrow that leads back to a room, and at most ten inside the engine', () => {
    const graph = new Map([...ROOMS].map(([from, all]) => [from, [...all]]))
    expect(circleIn(graph)).toEqual([])
    const inside = [...ROOMS].flatMap(([from, all]) => (isEngine(from) ? [...all].filter(isEngine) : []))
    expect(inside.length).toBeLessThanOrEqual(10)
  })

  it('has no circle between its folders, however deep they stand, not of types either', () => {
    const graph = new Map<string, string[]>(files.map(it => [dirname(it.path), []]))
    for (const {from, to} of edges()) if (dirname(from.path) !== dirname(to)) graph.get(dirname(from.path))?.push(dirname(to))
    expect(circleIn(graph)).toEqual([])
  })

  it('has no circle of imports, not of types either', () => {
    const graph = new Map(files.map(it => [it.path, [] as string[]]))
    for (const {from, to} of edges()) graph.get(from.path)?.push(to)
    expect(circleIn(graph)).toEqual([])
  })

  it('reads the environment in config only', () => {
    expect(places(/\bprocess\.env\b/, it => it.room === 'config')).toEqual([])
  })

  it('writes output and ends the process in cli, commands and bin only', () => {
    const pattern = /\bconsole\.\w+\(|\bprocess\.(stdout|stderr|exit\b|exitCode)/
    expect(places(pattern, it => /^(cli|commands|bin)\b/.test(it.room))).toEqual([])
    expect(places(/\bconsole\.\w+\(/, () => false)).toEqual([])
  })

  it('has an engine without HTTP, terminal or files', () => {
    const outside =
      /^(node:(fs|http|https|net|tls|tty|readline|child_process|os|process)(\/.*)?|undici|ansis|@oclif\/.*|string-width|yaml)$/
    const offending = files
      .filter(it => isEngine(it.room))
      .flatMap(it => it.imports.filter(name => outside.test(name)).map(name => `${it.path} -> ${name}`))
    expect(offending).toEqual([])
  })

  it('knows kinds by name, or by part of one, only where it is about those kinds', () => {
    const words = wordsOfKinds()
    const found = files.filter(it => !ABOUT_KINDS.some(([place]) => it.path.startsWith(place)) && namesOneOf(it.text, words))
    expect(found.map(it => it.path)).toEqual([])
    // What is allowed and not needed is a rule that nobody looks at any more.
    const idle = ABOUT_KINDS.filter(([place]) => !files.some(it => it.path.startsWith(place) && namesOneOf(it.text, words)))
    expect(idle.map(([place]) => place)).toEqual([])
  })

  it('asks of no ledger which backend it is kept in: the backend says what follows from that', () => {
    expect(places(/[.{ ]type [!=]== '(local|http)'|type: '(local|http)'/, it => it.path.startsWith('ledger/backends/'))).toEqual([
      'ledger/http-backend.ts',
    ])
  })

  it('makes folders, and puts files in the place of others, in one way', () => {
    expect(places(/\bmkdir(Sync)?\(/, it => it.path === 'base/make-folder.ts')).toEqual([])
    // Backups, damaged journals, the parts of an archive, the shared budget and compiled code have ways of their own, each in one file.
    const own = [
      'base/atomic-file.ts',
      'base/write-folder.ts',
      'bin/code-cache.ts',
      'run/journal/run-files.ts',
      'ledger/local-store.ts',
      'support-package/part-file.ts',
      'transport/shared-bucket-file.ts',
    ]
    expect(places(/\brename(Sync)?\((?!out,)/, it => own.includes(it.path) || isEngine(it.room) || it.room === 'simulator')).toEqual([])
  })

  it('reads whole files with a bound, and of what it keeps regular files alone (base/whole-file)', () => {
    const own = [
      // What the system or the program itself has written.
      'bin/code-cache.ts',
      'bin/program-files.ts',
      'cli/shell/manifest.ts',
      'config/forget-variables.ts',
      'base/process-lock.ts',
      // In the process of the app.
      'declaration/constructs/cloud.ts',
    ]
    expect(places(/\breadFileSync\(/, it => own.includes(it.path) || it.room === 'simulator')).toEqual([])
  })

  it('parses JSON in one way, whose errors quote nothing of the text (parseAnyJson, parseJson of base/bounded-json)', () => {
    const callers = files.filter(it => it.room !== 'simulator' && /JSON\.parse\((?!marked, )/.test(it.text))
    expect(callers.map(it => it.path)).toEqual(['base/bounded-json.ts'])
  })

  it('takes time and chance as parameters', () => {
    const pattern = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(/
    // The real clock and the real dice stand in base and are handed on. Real sockets are given up in real time.
    const real = ['base/clock.ts', 'base/random.ts', 'transport/undici-transport.ts', 'config/session-bus.ts']
    expect(places(pattern, it => real.includes(it.path))).toEqual([])
  })

  it('spreads into the arguments of a call nothing that may be long: the stack has room for so many', () => {
    const pattern = /\.push\((?:[^()[\]{}\n]*, )?\.\.\.|\bMath\.(?:max|min)\((?:[^()\n]*, )?\.\.\./
    expect(places(pattern, it => it.path === 'base/many.ts')).toEqual([])
  })

  it('has commands below commands, and nothing but commands', () => {
    const below = files.filter(it => it.room === 'commands')
    expect(below.filter(it => !/^export default class \w+Command extends /m.test(it.text)).map(it => it.path)).toEqual([])
  })

  it('needs cdktf in constructs only: the program never loads it', () => {
    const offending = files.filter(it => it.imports.some(name => /^(cdktf|cdktn|constructs|@cdktf)(\/|$)/.test(name))).map(it => it.path)
    expect(offending.filter(it => !it.startsWith('declaration/constructs/'))).toEqual([])
  })

  it.each([
    ['whether a file is absent', /'ENOENT'/, 'base/system-code.ts'],
    ['quoting for a shell', /"'\\\\''"/, 'base/shell-word.ts'],
    ['what a reference to an output names', /replace\(\/\^out/, 'engine/model/attribute.ts'],
    ['a loop of tries', /for \(let (attempt|tries) = 1;.*; \1\+\+\)/, 'base/try-again.ts'],
    ['how long a task may be unknown', /NEW_TASK_READS|TOLERATED_MISSES/, 'engine/model/task-follower.ts'],
    ['what is wrong when a known name has no kind', /TypeError\(`no kind/, 'engine/model/kind.ts'],
    ['what lifts a guard', /allow\.startsWith/, 'engine/plan/guards.ts'],
    ['the key of what stands in a stack', /keyOf\((\w+)\.stack, \1\.address\)/, 'engine/model/value.ts'],
  ])('says in one place: %s', (_, mechanism, place) => {
    expect(files.filter(it => mechanism.test(it.text)).map(it => it.path)).toEqual([place])
  })

  it('exports each name from one file: one word, one thing', () => {
    const declared = new Map<string, string[]>()
    for (const {path, text} of files)
      for (const [, name = ''] of text.matchAll(/^export (?:async |abstract )*(?:const|function\*?|class|interface|type) (\w+)/gm))
        declared.set(name, [...new Set([...(declared.get(name) ?? []), path])])
    // An operation of an API is called the same where it is asked for and where it is answered.
    const isOperation = (paths: readonly string[]) =>
      paths.length === 2 && /^backends\/\w+\/\w+-api\.ts$/.test(paths[0] ?? '') && /^simulator\//.test(paths[1] ?? '')
    expect([...declared].filter(([, paths]) => paths.length > 1 && !isOperation(paths))).toEqual([])
  })

  it('exports nothing that tests alone use', () => {
    const root = join(src, '..')
    const tools = ['scripts', 'bench'].flatMap(folder =>
      readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
        .filter(it => /\.(ts|mjs)$/.test(it))
        .map(it => ({path: join('..', folder, it), text: readFileSync(join(root, folder, it), 'utf8')})),
    )
    /** `run/plan.ts planWorkspace`, as somebody imports it; `run/plan.ts *` where a file is imported as a whole. */
    const imported = new Set<string>()
    for (const {path, text} of [...files, ...tools]) {
      const note = (from: string, names: string) => {
        const file = relative(src, join(src, dirname(path), from))
        for (const name of names.split(',')) imported.add(`${file} ${/^\s*(?:type\s+)?([\w$*]+)/.exec(name)?.[1] ?? ''}`)
      }
      const code = withoutComments(text)
      for (const [, names = '', from = ''] of code.matchAll(/\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'(\.[^']+)'/g))
        note(from, names)
      for (const [, from = ''] of code.matchAll(/(?:\bimport\(|\bexport \* from )'(\.[^']+)'/g)) note(from, '*')
    }
    const unused = files.flatMap(({path, text}) => {
      if (imported.has(`${path} *`) || path.startsWith('commands/')) return []
      const own = withoutComments(text)
      const names = [...own.matchAll(/^export (?:async |abstract )*(?:const|function\*?|class|interface|type) (\w+)/gm)]
      return names.flatMap(([, name = '']) => {
        const isUsed = imported.has(`${path} ${name}`) || (own.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length > 1
        return isUsed ? [] : [`${path}: ${name}`]
      })
    })
    expect(unused).toEqual([])
  })

  it(`has no function of more than ${LONGEST_FUNCTION} lines`, () => {
    expect(files.flatMap(({path, text}) => longFunctionsIn(text).map(it => `${path}: ${it}`))).toEqual([])
  })

  it(`has no file of more than ${LARGEST_LINES} lines, and none that is named after nothing`, () => {
    expect(files.filter(it => it.text.split('\n').length - 1 > LARGEST_LINES).map(it => it.path)).toEqual([])
    expect(files.filter(it => /(^|\/)(utils?|helpers?|common|misc)\.ts$/.test(it.path)).map(it => it.path)).toEqual([])
    expect(files.filter(it => !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(it.path)).map(it => it.path)).toEqual([])
  })
})

describe('the tests', () => {
  const tests = readdirSync(here, {recursive: true, encoding: 'utf8'})
    .map(it => it.split(sep).join('/'))
    .filter(it => it.endsWith('.test.ts'))
  const folders = new Set(files.flatMap(({path}) => path.split('/').map((_, at, steps) => steps.slice(0, at).join('/'))))
  /** Of the repository, which has such folders too; worlds made by chance; and stories of several commands, by what they are about. */
  const others = /^(\.|bench|docs|examples|properties|scripts|stories\/[a-z-]+)$/
  const isCommand = (path: string): boolean => folders.has(path) || files.some(it => it.path === `${path}.ts`)

  it('stand in the folder of their source, or of what else they are about', () => {
    expect(tests.map(it => dirname(it)).filter(it => !folders.has(it) && !others.test(it) && !isCommand(it))).toEqual([])
  })

  it('of a command have its name, or stand in a folder of its name; what several commands do is told in test/stories', () => {
    const ofCommands = tests.filter(it => it.startsWith('commands/'))
    const nameOf = (test: string) => test.replace(/\.test\.ts$/, '')
    expect(ofCommands.filter(it => !isCommand(nameOf(it)) && (dirname(it) === 'commands' || !isCommand(dirname(it))))).toEqual([])
  })

  it('of engine, ledger and transport are one step away at most: of each file, or of one that calls it', () => {
    const importedBy = new Map<string, string[]>()
    for (const {from, to} of edges()) importedBy.set(to, [...(importedBy.get(to) ?? []), from.path])
    const direct = new Set(
      tests.flatMap(it => importsOf(readFileSync(join(here, it), 'utf8')).map(name => relative(src, join(here, dirname(it), name)))),
    )
    const isNamed = (path: string) => [path.replace(/\.ts$/, ''), dirname(path)].some(it => tests.includes(`${it}.test.ts`))
    const far = files
      .filter(({room}) => isEngine(room) || room === 'ledger' || room === 'transport')
      .filter(({path}) => !isNamed(path) && !direct.has(path) && !importedBy.get(path)?.some(isNamed))
    expect(far.map(it => it.path)).toEqual([])
  })

  it('that are named after a file they import stand where it stands', () => {
    const elsewhere = tests.flatMap(test => {
      if (others.test(dirname(test)) || files.some(it => it.path === test.replace(/\.test\.ts$/, '.ts'))) return []
      const imported = importsOf(readFileSync(join(here, test), 'utf8')).map(it => relative(src, join(here, dirname(test), it)))
      const namesake = imported.find(it => !it.startsWith('..') && basename(it, '.ts') === basename(test, '.test.ts'))
      return namesake !== undefined && dirname(namesake) !== dirname(test) ? [`${test}: ${namesake}`] : []
    })
    expect(elsewhere).toEqual([])
  })
})

/** The first circle found, as a path that ends where it began. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const path: string[] = []
  const visit = (at: string): string[] => {
    const seen = path.indexOf(at)
    if (seen >= 0) return [...path.slice(seen), at]
    if (done.has(at)) return []
    path.push(at)
    for (const next of graph.get(at) ?? []) {
      const circle = visit(next)
      if (circle.length > 0) return circle
    }
    path.pop()
    done.add(at)
    return []
  }
  for (const file of graph.keys()) {
    const circle = visit(file)
    if (circle.length > 0) return circle
  }
  return []
}

/** By what begins on their first line. A function in a function counts for both. */
function longFunctionsIn(text: string): string[] {
  if (text.split('\n').length <= LONGEST_FUNCTION) return []
  const found: string[] = []
  const visit = (it: unknown): void => {
    if (Array.isArray(it)) for (const item of it) visit(item)
    if (typeof it !== 'object' || it === null || !('type' in it)) return
    const {type, loc} = it as {type: unknown; loc?: {start: {line: number}; end: {line: number}}}
    // Nothing in it can be longer than it is.
    if (loc && loc.end.line - loc.start.line < LONGEST_FUNCTION) return
    if (loc && /Function|^Class(Private)?Method$|^ObjectMethod$/.test(String(type)))
      found.push(text.split('\n')[loc.start.line - 1]?.trim() ?? '')
    for (const [field, value] of Object.entries(it)) if (!/Comments$|^loc$/.test(field)) visit(value)
  }
  visit(parse(text, {sourceType: 'module', plugins: ['typescript']}).program)
  return found
}
