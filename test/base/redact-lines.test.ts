import {describe, expect, it} from 'vitest'
import {Redactor} from '../../src/base/redact.ts'
import {processorTime} from '../support/processor-time.ts'

/** Longer than a line in base64, and with both letters that the two alphabets differ in. */
const SECRET = 'p"ss wörd/1?>~ÿûï and so on, up to more than any line has of it >>>???~~~ÿÿÿ'
const SHORT = 'Zq7-tok/en+9'

const knowing = (...secrets: string[]) => {
  const redactor = new Redactor()
  for (const secret of secrets) redactor.register(secret)
  return redactor
}

const lines = (text: string, columns: number): string[] => text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []

const BREAKS: readonly (readonly [string, string])[] = [
  ['LF', '\n'],
  ['CR LF', '\r\n'],
  ['CR', '\r'],
  ['an escape of JSON', '\\n'],
  ['escapes of JSON', '\\r\\n'],
  ['escapes of JSON in JSON', '\\\\r\\\\n'],
  ['an indented text', '\n        '],
  ['an indented text with tabs, in JSON', '\\n\\t\\t'],
  ['a text on one line', ' '],
  ['XML of Java', '&#xD;\n'],
  ['an attribute of XML', '&#13;&#10;'],
  ['an address', '%0D%0A'],
  ['JSON with numbers', '\\u000d\\u000a'],
]

/** What is left of a text beside what was hidden: no six letters in a row that the encoded secret has. */
function leftOf(shown: string, encoded: string): string[] {
  const left = shown.split('[redacted]').join(' | ')
  return Array.from({length: encoded.length - 5}, (_, at) => encoded.slice(at, at + 6)).filter(it => left.includes(it))
}

describe('a redactor, of a secret whose base64 is broken into lines', () => {
  it.each(BREAKS)('hides it by itself: %s', (_, between) => {
    const redactor = knowing(SECRET)
    for (const set of ['base64', 'base64url'] as const)
      for (const columns of [40, 64, 76]) {
        const text = `key: ${lines(Buffer.from(SECRET).toString(set), columns).join(between)}, and more`
        expect(redactor.text(text)).toBe('key: [redacted], and more')
        expect(redactor.value({a: [text]})).toEqual({a: ['key: [redacted], and more']})
        expect(redactor.mayHideIn(JSON.stringify({a: [text]}, null, 2))).toBe(true)
        expect(JSON.parse(redactor.text(JSON.stringify({text, n: 1})))).toEqual({text: 'key: [redacted], and more', n: 1})
      }
  })

  it.each(BREAKS)('hides it in a longer text, wherever it begins there: %s', (_, between) => {
    for (const secret of [SECRET, SHORT]) {
      const redactor = knowing(secret)
      for (const set of ['base64', 'base64url'] as const)
        for (const columns of [64, 76])
          for (let before = 0; before < 78; before++) {
            const whole = Buffer.from(`${'#'.repeat(before)}${secret}${'.'.repeat(60)}`)
            const from = Math.ceil((8 * before) / 6)
            const own = whole.toString(set).slice(from, Math.floor((8 * (before + Buffer.byteLength(secret))) / 6))
            const shown = redactor.text(lines(whole.toString(set), columns).join(between))
            expect([before, ...leftOf(shown, own)]).toEqual([before])
            expect(shown).toContain('[redacted]')
          }
    }
  })

  it('hides its hex, too, and the lines of a key that were broken anew', () => {
    const pem = `-----BEGIN KEY-----\n${lines('Zm9vYmFyYmF6'.repeat(20), 64).join('\n')}\n-----END KEY-----`
    expect(knowing(SECRET).text(`x ${lines(Buffer.from(SECRET).toString('hex'), 64).join('\n  ')} y`)).toBe('x [redacted] y')
    expect(knowing(pem).text(lines('Zm9vYmFyYmF6'.repeat(20), 76).join('\n'))).toBe('[redacted]')
  })

  it('hides what a cut has left of it', () => {
    const redactor = knowing(SECRET)
    const whole = lines(Buffer.from(SECRET).toString('base64'), 64).join('\n')
    for (let length = 3; length < whole.length - 3; length++) {
      const shown = redactor.text(`${whole.slice(0, length)}… (${whole.length} characters)`)
      expect([length, shown.replace('\n', '')]).toEqual([length, '[redacted]… (113 characters)'])
    }
    expect(redactor.text(`…${whole.slice(10)}`)).toBe('…[redacted]')
  })

  it('hides it in the name of a field', () => {
    expect(knowing(SECRET).value({[lines(Buffer.from(SECRET).toString('base64'), 64).join('\n')]: 1})).toEqual({'[redacted]': 1})
  })

  it('leaves other blocks of base64 as they are, and words after a long one', () => {
    const redactor = knowing(SECRET, SHORT, 'abcd')
    const block = lines(Buffer.from('nothing that is secret, '.repeat(20)).toString('base64'), 64).join('\n')
    for (const text of [block, `${'x'.repeat(64)} ab cd and so on`, `${'x'.repeat(30)}ab\ncd`, `${'x'.repeat(64)}, ab\ncd`])
      expect(redactor.text(text)).toBe(text)
  })

  it('is as quick with a text of nothing but such lines, and of what looks like them', () => {
    const redactor = knowing(SECRET, SHORT)
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDBj08sp5++4anG'
    const takenMs = processorTime()
    for (const unit of [`${line}\n`, `${line} `, `${line}${'\\'.repeat(99)} `, 'x'.repeat(39), `${'x'.repeat(39)}\n`, `${line} a…`]) {
      const text = unit.repeat(4_000_000 / unit.length)
      expect(redactor.text(text) === text).toBe(true)
    }
    expect(redactor.text(`${line}${' '.repeat(4_000_000)}x`)).toHaveLength(4_000_001 + line.length)
    expect(takenMs()).toBeLessThan(8_000)
  })
})
