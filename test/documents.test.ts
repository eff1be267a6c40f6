/** What pages name is there: files of the repository, and functions and types of the source. */
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {describe, expect, it} from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const below = (folder: string) => readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'}).map(it => `${folder}/${it}`)

const files = ['bench', 'docs', 'examples', 'schemas', 'scripts', 'src', 'stacks', 'test'].flatMap(below)
/** Names of the source, and of the helpers of tests that CONTRIBUTING speaks of: what a comment says is there need not be. */
const sources = files.filter(it => /^(src|scripts|bench|test\/support)\/.*\.(ts|mjs)$/.test(it))
const code = (path: string) =>
  read(path)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
const words = new Set(sources.flatMap(it => code(it).match(/[A-Za-z_$][\w$]*/g) ?? []))
const pages = [
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'bench/README.md',
  'src/README.md',
  'src/simulator/README.md',
  ...files.filter(it => it.startsWith('docs/') && it.endsWith('.md')),
]

/** What stands in a page as code, outside of whole blocks of it. */
const codeIn = (page: string): string[] =>
  [
    ...read(page)
      .replaceAll(/```[\s\S]*?```/g, '')
      .matchAll(/`([^`\n]+)`/g),
  ].flatMap(it => it[1] ?? [])

/** Files that svcctl writes for a project, and that no project of ours has. */
const WRITTEN = ['imports.ts']

/** What cdktf calls things. */
const OF_CDKTF = ['moveTo', 'replaceTriggeredBy']

const isFile = (code: string) => /^[\w./-]+\.(ts|mjs|sh)$/.test(code)
const isName = (code: string) => /^[A-Za-z]\w*[a-z][A-Z]\w*(\(\))?$/.test(code)

describe.each(pages)('%s', page => {
  it('names files that are there', () => {
    const missing = codeIn(page).filter(
      it => isFile(it) && !WRITTEN.includes(it) && !files.some(file => `/${file}`.endsWith(`/${it.replace(/^(\.\.?\/)+/, '')}`)),
    )
    expect(missing).toEqual([])
  })

  it('names functions, types and fields that are there', () => {
    expect(codeIn(page).filter(it => isName(it) && !OF_CDKTF.includes(it) && !words.has(it.replace('()', '')))).toEqual([])
  })
})

describe('src/README.md', () => {
  it('says of each package that is installed what it is for', () => {
    const {dependencies, devDependencies, optionalDependencies} = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
    const page = read('src/README.md')
    const all = Object.keys({...dependencies, ...devDependencies, ...optionalDependencies})
    const plain = (it: string) => it.replace('@biomejs/', '')
    // Types of something are for that.
    expect(all.filter(it => !it.startsWith('@types/') && !page.includes(`\`${plain(it)}\``))).toEqual([])
  })
})
