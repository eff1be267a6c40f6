/** Whatever the configuration file looks like: an edit does what was asked for, and every other line keeps its bytes. */
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import fc from 'fast-check'
import {parse} from 'smol-toml'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import type {ConfigPlace} from '../../src/config/config-lock.ts'
import {removeFilesKey, removeProfile, saveFilesKey, saveProfile, setDefaultProfile} from '../../src/config/profile-store.ts'
import {editPlace} from '../config/edit-place.ts'

const RUNS = 100 * Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1)

let folder: string
let place: ConfigPlace
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-edit-'))
  place = editPlace(join(folder, 'config.toml'))
})
afterAll(() => rmSync(folder, {recursive: true}))

const NAMES = ['a', 'b', 'prod', 'two words', 'x.y', '日本'] as const
const keyText = (name: string) => (/^[\w-]+$/.test(name) && !name.includes('日') ? name : JSON.stringify(name))

/** Comments look like what they stand beside; none of them is TOML. */
const comment = fc.constantFrom('# plain', '# [profiles.a]', '# api_key = "old"', '#', '# it\'s "quoted" = {', '# """')
const gap = fc.array(fc.oneof(comment, fc.constant(''), fc.constant('  ')), {maxLength: 3})
const tail = fc.oneof(
  fc.constant(''),
  comment.map(text => ` ${text}`),
)
const value = fc.constantFrom(
  '"text"',
  "'literal # no comment'",
  '"with \\"quotes\\" and [brackets]"',
  '"""\n[profiles.a]\n# inside\n"""',
  "'''\napi_key = 'x'\n'''",
  '[1, 2, # in a list\n  3]',
  '{x = 1, y = "}"}',
  '1979-05-27 07:32:00',
  '0xdead_beef',
  '1e3',
  'true',
)

/** What belongs to one key: its text may have several lines. */
interface Field {
  readonly key: string
  readonly lines: string
}

const field = (keys: readonly string[]): fc.Arbitrary<Field> =>
  fc.record({key: fc.constantFrom(...keys), value, tail}).map(it => ({key: it.key, lines: `${it.key} = ${it.value}${it.tail}`}))

interface Block {
  readonly head: string
  readonly body: readonly {readonly before: readonly string[]; readonly field: Field}[]
  readonly before: readonly string[]
}

interface Profile extends Block {
  readonly name: string
}

const body = (keys: readonly string[]) =>
  fc.uniqueArray(fc.record({before: gap, field: field(keys)}), {selector: it => it.field.key, maxLength: 4})

const profile = (name: string): fc.Arbitrary<Profile> =>
  fc.record({tail, before: gap, body: body(['extra', 'odd', 'api_key', 'files_api_key'])}).map(it => ({
    ...it,
    name,
    head: `[profiles.${keyText(name)}]${it.tail}`,
    body: [{before: [], field: {key: 'deployment_type', lines: 'deployment_type = "cloud"'}}, ...it.body],
  }))

interface Document {
  readonly top: Block['body']
  readonly profiles: readonly Profile[]
  readonly other: Block
  readonly end: readonly string[]
  readonly newline: string
}

const document: fc.Arbitrary<Document> = fc.record({
  top: body(['files_api_key', 'note', 'theirs']),
  profiles: fc
    .subarray([...NAMES], {minLength: 1})
    .chain(names => fc.tuple(...names.map(profile)))
    .map(all => [...all]),
  other: fc.record({head: fc.constant('[[unknown.tables]] # theirs'), body: body(['api_key', 'z']), before: gap}),
  end: gap,
  newline: fc.constantFrom('\n', '\r\n'),
})

const bodyLines = (block: Block['body']) => block.flatMap(it => [...it.before, ...it.field.lines.split('\n')])
const blockLines = (block: Block) => [...block.before, block.head, ...bodyLines(block.body)]
const textOf = ({top, profiles, other, end, newline}: Document): string =>
  [...bodyLines(top), ...profiles.flatMap(blockLines), ...blockLines(other), ...end, ''].join(newline)

/** Lines that say something, in their order; with their end of line. */
const saying = (text: string): readonly string[] => text.split(/(?<=\n)/).filter(line => line.trim() !== '')

const NEW = ['rate = 60', '[profiles."new one"]', 'deployment_type = "enterprise"', 'url = "https://x"']
const isNew = (line: string) =>
  NEW.includes(line.trimEnd()) || line.startsWith('files_api_key = "k\\"#\\\\"') || line.startsWith('default_cloud = ')
const sorted = (lines: readonly string[]) => [...lines].sort()

async function edited(before: Document, edit: () => Promise<unknown>): Promise<string> {
  writeFileSync(place.file, textOf(before))
  await edit()
  return readFileSync(place.file, 'utf8')
}

describe('any configuration file', () => {
  it('loses a profile and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.nat(), async (before, pick) => {
        const gone = before.profiles[pick % before.profiles.length]
        if (gone === undefined) throw new TypeError('a profile was to be picked')
        const after = await edited(before, () => removeProfile(place, gone.name))
        // What stands before its header is not inside it.
        const left = textOf({
          ...before,
          profiles: before.profiles.map(it => (it === gone ? {...it, head: '# GONE', body: []} : it)),
        })
        expect(saying(after)).toEqual(saying(left).filter(line => line.trim() !== '# GONE'))
      }),
      {numRuns: RUNS},
    )
  })

  it('loses a field and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.nat(), fc.nat(), async (before, pick, which) => {
        const one = before.profiles[pick % before.profiles.length]
        const item = one?.body[1 + (which % Math.max(1, one.body.length - 1))]
        fc.pre(one !== undefined && item !== undefined)
        if (one === undefined || item === undefined) return
        const after = await edited(before, () => saveProfile(place, {name: one.name, set: {}, unset: [item.field.key]}))
        const without = one.body.map(it => (it === item ? {...it, field: {key: '', lines: '# GONE'}} : it))
        const left = textOf({...before, profiles: before.profiles.map(it => (it === one ? {...it, body: without} : it))})
        expect(saying(after)).toEqual(saying(left).filter(line => line.trim() !== '# GONE'))
      }),
      {numRuns: RUNS},
    )
  })

  it('gets a field, a profile, a default or an upload key, and keeps every line it had', async () => {
    const edit = fc.constantFrom('field', 'profile', 'default', 'key')
    await fc.assert(
      fc.asyncProperty(document, fc.nat(), edit, async (before, pick, what) => {
        const name = before.profiles[pick % before.profiles.length]?.name ?? ''
        const text = textOf(before)
        const wanted = parse(text) as {[key: string]: unknown; profiles: {[name: string]: {[field: string]: unknown}}}
        const profileOf = (it: string) => wanted.profiles[it] ?? {}
        const after = await edited(before, async () => {
          if (what === 'field') await saveProfile(place, {name, set: {rate: '60'}, unset: []})
          else if (what === 'profile')
            await saveProfile(place, {name: 'new one', deployment: 'enterprise', set: {url: 'https://x'}, unset: []})
          else if (what === 'default') await setDefaultProfile(place, name, 'cloud')
          else await saveFilesKey(place, 'k"#\\', name)
        })
        if (what === 'field') profileOf(name).rate = 60
        else if (what === 'profile') wanted.profiles['new one'] = {deployment_type: 'enterprise', url: 'https://x'}
        else if (what === 'default') wanted.default_cloud = name
        else profileOf(name).files_api_key = 'k"#\\'
        expect(parse(after)).toEqual(wanted)
        const without = before.profiles.map(it =>
          what === 'key' && it.name === name ? {...it, body: it.body.filter(item => item.field.key !== 'files_api_key')} : it,
        )
        const gaps = before.profiles.flatMap(it =>
          what === 'key' && it.name === name ? it.body.filter(item => item.field.key === 'files_api_key').flatMap(item => item.before) : [],
        )
        expect(sorted(saying(after).filter(line => !isNew(line)))).toEqual(
          sorted([...saying(textOf({...before, profiles: without})), ...saying(gaps.map(line => line + before.newline).join(''))]),
        )
      }),
      {numRuns: RUNS},
    )
  })

  it('is the same as before when a key was set and removed again', async () => {
    await fc.assert(
      fc.asyncProperty(document, async before => {
        fc.pre(!before.top.some(it => it.field.key === 'files_api_key'))
        const after = await edited(before, async () => {
          await saveFilesKey(place, 'k')
          await removeFilesKey(place, {})
        })
        expect(saying(after)).toEqual(saying(textOf(before)))
      }),
      {numRuns: RUNS},
    )
  })
})
