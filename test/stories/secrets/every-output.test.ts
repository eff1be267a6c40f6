import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {commandTable} from '../../../src/bin/command-list.ts'
import {OUTPUT_FORMATS} from '../../../src/report/output-format.ts'
import {formsOf} from '../../support/echo-server.ts'
import {CALLED, parrots, SECRETS, type Spoken, type World, wordsOf} from '../../support/every-command.ts'
import {MANNERS, type Manner} from '../../support/parrot.ts'

/** Each form meets one manner, in turn. At 3 every call meets every manner in every form, which takes minutes. */
const THOROUGH = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1) >= 3
/** Enough of a secret to know it by. */
const ENOUGH = 6

let world: World
beforeAll(async () => {
  world = await parrots()
}, 120_000)
afterAll(() => world.close())

/** Also the beginning and the end of a secret that was cut. */
const marks = [...Object.entries(SECRETS)].flatMap(([name, secret]) =>
  formsOf(secret).flatMap(form => [form, form.slice(0, ENOUGH), form.slice(-ENOUGH)].map(text => [name, text] as const)),
)

function leaks({stdout, stderr, files}: Spoken, raw: boolean): string[] {
  const told = {...(raw ? {} : {stdout}), stderr, ...files}
  return Object.entries(told).flatMap(([where, text]) =>
    // Who keeps a secret in the configuration wants it there.
    where.endsWith('config.toml')
      ? []
      : marks.flatMap(([name, mark]) => {
          const at = Math.max(text.indexOf(mark), where === 'stdout' ? text.indexOf([...mark].reverse().join('')) : -1)
          return at < 0 ? [] : [`${where}: ${name} (${mark}) in …${text.slice(Math.max(0, at - 60), at + 30)}…`]
        }),
  )
}

/** How a result is asked for: every form there is, a filter, and a terminal, which cuts. With everything said beside it. */
const WAYS = [
  ...OUTPUT_FORMATS.map(format => ({words: ['-o', format, '-vv'], terminal: false})),
  // Backwards, no secret is found any more.
  {words: ['-q', 'reverse(to_string(@))'], terminal: false},
  {words: ['-vv'], terminal: true},
]

describe('servers that repeat every secret they know', () => {
  it('are met by every command: one that is added is called in test/support/every-command.ts', () => {
    expect(Object.keys(CALLED).sort()).toEqual(Object.keys(commandTable.commands).sort())
    for (const [id, {calls, not}] of Object.entries(CALLED)) expect([id, calls.length > 0 || not !== undefined]).toEqual([id, true])
  })

  describe.each(Object.entries(CALLED).filter(([, {calls}]) => calls.length > 0))('%s', (_, called) => {
    it('shows none of them in any form of output, and writes none', async () => {
      let said = ''
      for (const [number, call] of called.calls.entries()) {
        const words = wordsOf(call, world, called)
        const all = number === 0 || THOROUGH ? WAYS : WAYS.filter((_, at) => at % 3 === number % 3)
        for (const [at, way] of (call.raw ? WAYS.slice(-1) : all).entries()) {
          const next: Manner = MANNERS[(at + number) % MANNERS.length] ?? 'all'
          for (const manner of called.alone ? (['quiet'] as const) : THOROUGH ? MANNERS : [next]) {
            const spoken = await world.call([...words, ...way.words], call, manner, way)
            const what = [...words, ...way.words, manner].join(' ')
            expect([what, ...leaks(spoken, call.raw === true)]).toEqual([what])
            said += spoken.stdout + spoken.stderr
          }
        }
      }
      // Otherwise the parrots were not heard.
      if (!called.alone && !called.mute) expect(said).toContain('[redacted]')
    }, 300_000)
  })
})

describe('servers whose answers have lists and objects where words and numbers belong', () => {
  // `apply` looks for minutes for what such answers never show.
  it.each(Object.entries(CALLED).filter(([id, {calls, alone}]) => calls.length > 0 && !alone && id !== 'apply'))(
    'are no defect of %s',
    async (_, called) => {
      for (const call of called.calls) {
        const words = wordsOf(call, world, called)
        for (const way of THOROUGH ? WAYS : WAYS.filter(({terminal}) => terminal)) {
          const {stdout, stderr} = await world.call([...words, ...way.words], call, 'odd', way)
          expect([words.join(' '), /E_INTERNAL|E_PLAN_DEFECT/.exec(stdout + stderr)], stderr).toEqual([words.join(' '), null])
        }
      }
    },
    120_000,
  )
})
