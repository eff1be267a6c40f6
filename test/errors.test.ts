/** Codes are interface: each stands in one place of the source and in one row of docs/errors.md. */
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {describe, expect, it} from 'vitest'
import {EXIT} from '../src/base/errors.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')
const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8')

/** Every place where a code is given to something; a comparison with one is none. */
function givenCodes(prefix: 'E' | 'G'): Map<string, string[]> {
  const places = new Map<string, string[]>()
  for (const path of readdirSync(src, {recursive: true, encoding: 'utf8'}).filter(it => it.endsWith('.ts'))) {
    const text = readFileSync(join(src, path), 'utf8')
    for (const {1: code = '', index} of text.matchAll(new RegExp(`'(${prefix}_[A-Z][A-Z_]*)'`, 'g'))) {
      if (/[!=]==?\s*$/.test(text.slice(0, index))) continue
      places.set(code, [...(places.get(code) ?? []), `${path}:${text.slice(0, index).split('\n').length}`])
    }
  }
  return places
}

const documented = (prefix: 'E' | 'G'): string[] =>
  page
    .split('\n')
    .filter(line => line.startsWith('|'))
    .flatMap(line => [...(line.split('|')[1] ?? '').matchAll(new RegExp(`\`(${prefix}_[A-Z_]+)\``, 'g'))].map(it => it[1] ?? ''))

describe('the codes of errors', () => {
  it('are each given in one place', () => {
    const several = [...givenCodes('E')].filter(([, places]) => places.length > 1).map(([code, places]) => `${code}: ${places.join(', ')}`)
    expect(several).toEqual([])
  })

  it('are all documented, once, and nothing else is', () => {
    expect(documented('E').sort()).toEqual([...givenCodes('E').keys()].sort())
  })
})

describe('the codes of guards', () => {
  it('are all documented, once, and nothing else is', () => {
    expect(documented('G').sort()).toEqual([...givenCodes('G').keys()].sort())
  })
})

describe('exit codes', () => {
  it('are all documented, and nothing else is but ends by a signal', () => {
    const table = page.slice(page.indexOf('## Exit codes'), page.indexOf('## Guards'))
    const rows = [...table.matchAll(/^\| ([\d, ]+?) +\|/gm)].flatMap(it => (it[1] ?? '').split(', ').map(Number))
    expect(rows).toEqual([...Object.values(EXIT), 129, 130, 143])
  })
})
