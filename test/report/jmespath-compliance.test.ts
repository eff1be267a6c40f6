/**
 * The public compliance suite of JMESPath (the last release of the library that came with it), through our door; and each
 * deviation of the library that `src/report/jmespath.ts` names, seen in the library itself.
 */
import {readdirSync, readFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {dirname, join} from 'node:path'
import {describe, expect, it} from 'vitest'
import type {ExactJson} from '../../src/base/lossless-json.ts'
import {Redactor} from '../../src/base/redact.ts'
import {type Jmespath, loadJmespath} from '../../src/report/jmespath.ts'
import {compileQuery} from '../../src/report/query.ts'

interface Suite {
  readonly given: ExactJson
  readonly cases: readonly {readonly expression: string; readonly result?: ExactJson; readonly error?: string}[]
}

const folder = join(dirname(createRequire(import.meta.url).resolve('jmespath-compliance/package.json')), 'test', 'compliance')
const suites = readdirSync(folder).flatMap(file =>
  (JSON.parse(readFileSync(join(folder, file), 'utf8')) as Suite[]).flatMap(({given, cases}) =>
    cases.map(one => ({name: `${file} ${one.expression}`, given, ...one})),
  ),
)

const ask = async (expression: string, document: ExactJson) => (await compileQuery(expression, new Redactor()))(document).document

describe('the public compliance suite', () => {
  it('is there', () => {
    expect(suites.length).toBe(851)
  })

  it.each(suites.filter(it => it.error === undefined))('is answered: $name', async ({expression, given, result}) => {
    expect(await ask(expression, given)).toEqual(result)
  })

  it.each(suites.filter(it => it.error === 'syntax' || it.error === 'unknown-function'))(
    'is refused before anything is sent: $name',
    async it => expect(compileQuery(it.expression, new Redactor())).rejects.toMatchObject({code: 'E_QUERY_SYNTAX', exit: 64}),
  )

  it.each(suites.filter(it => it.error !== undefined && it.error !== 'syntax' && it.error !== 'unknown-function'))(
    'is refused: $name',
    async ({expression, given}) => expect(ask(expression, given)).rejects.toMatchObject({code: 'E_QUERY_EVALUATION', exit: 64}),
  )
})

describe('the library alone', () => {
  const inSuite = (name: string) => expect(suites.map(it => it.name)).toContain(name)
  const fails = (what: () => unknown): boolean => {
    try {
      what()
      return false
    } catch {
      return true
    }
  }
  const withLibrary = async (look: (library: Jmespath) => void): Promise<void> => look(await loadJmespath())

  it.each(['foo.', 'foo..bar', 'foo.|| bar'])('takes %s for an expression until it is evaluated', expression =>
    withLibrary(({compile, search}) => {
      inSuite(`syntax.json ${expression}`)
      expect([fails(() => compile(expression)), fails(() => search({foo: {}}, expression))]).toEqual([false, true])
    }),
  )

  it('takes an unknown function for one until it is evaluated', () =>
    withLibrary(({compile, search}) => {
      inSuite('functions.json unknown_function(`1`, `2`)')
      expect([fails(() => compile('unknown_function(`1`)')), fails(() => search({}, 'unknown_function(`1`)'))]).toEqual([false, true])
    }))

  it('answers a lone reference with its own tree', () =>
    withLibrary(({search}) => {
      expect(search({}, '&a')).toHaveProperty('jmespathType')
    }))

  it('sorts numbers as text', async () => {
    inSuite('functions.json sort(numbers)')
    await withLibrary(({search}) => expect(search([10, 9], 'sort(@)')).toEqual([10, 9]))
    expect(await ask('sort (@)', [10, 9])).toEqual([9, 10])
  })

  it('sees what is inherited', () =>
    withLibrary(({search}) => {
      expect(search({}, 'toString')).toBeTypeOf('function')
    }))

  it('cannot carry whole numbers beyond 2^53', () =>
    withLibrary(({search}) => {
      expect(fails(() => search([{id: 9007199254740995n}], 'sort_by(@, &id)'))).toBe(true)
    }))
})
