import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {Redactor} from '../../src/base/redact.ts'
import {processorTime} from '../support/processor-time.ts'
import {seedOr} from '../support/seed.ts'

const knowing = (...secrets: string[]) => {
  const redactor = new Redactor()
  for (const secret of secrets) redactor.register(secret)
  return redactor
}

describe('a redactor', () => {
  it('hides a secret wherever it stands, and as base64, in a URL and in JSON', () => {
    const redactor = knowing('p"ss wörd/1')
    for (const form of ['p"ss wörd/1', 'cCJzcyB3w7ZyZC8x', 'p%22ss%20w%C3%B6rd%2F1', 'p\\"ss wörd/1']) {
      expect(redactor.text(`a ${form} b`)).toBe('a [redacted] b')
    }
  })

  it('hides the pair of an Authorization header', () => {
    const redactor = new Redactor()
    redactor.registerBasic('admin', 'secret-1')
    expect(redactor.text('Authorization: Basic YWRtaW46c2VjcmV0LTE=')).toBe('Authorization: Basic [redacted]')
    expect(redactor.text('admin')).toBe('admin')
  })

  it('hides the longer of two secrets that begin alike as a whole', () => {
    expect(knowing('abcd', 'abcdefgh').text('abcdefgh abcd')).toBe('[redacted] [redacted]')
  })

  it('hides a very short secret only where it is the whole of a field', () => {
    const redactor = knowing('a1')
    expect(redactor.text('a1 a12 ba1')).toBe('a1 a12 ba1')
    expect(redactor.value({password: 'a1', note: 'a1 it is'})).toEqual({password: '[redacted]', note: 'a1 it is'})
  })

  it('keeps the shape of a document: keys, numbers and lists stay', () => {
    expect(knowing('name', '1234').value({name: 'my name', id: 1234, list: ['x', 'name']})).toEqual({
      name: 'my [redacted]',
      id: 1234,
      list: ['x', '[redacted]'],
    })
  })

  it('takes a secret for text, not for a pattern', () => {
    expect(knowing('a.c$|(').text('abc a.c$|( ')).toBe('abc [redacted] ')
  })

  it.each([
    ['a form', 'p%22ss+w%C3%B6rd%2F1%21'],
    ['an address with small digits', 'p%22ss%20w%c3%b6rd%2f1!'],
    ['JSON that escapes what is not ASCII', 'p\\"ss w\\u00f6rd/1!'],
    ['JSON of PHP', 'p\\"ss w\\u00f6rd\\/1!'],
    ['JSON in JSON', 'p\\\\\\"ss wörd/1!'],
    [
      'JSON in JSON, in JSON that is shown as JSON',
      JSON.stringify(JSON.stringify(JSON.stringify(JSON.stringify('p"ss wörd/1!')))).slice(15, -15),
    ],
    ['Latin 1, read as UTF-8', Buffer.from('p"ss wörd/1!', 'latin1').toString()],
    ['ASCII, of a library that has other letters for what is none', 'p"ss w?rd/1!'],
    ['UTF-8, read as ASCII', 'p"ss w\ufffd\ufffdrd/1!'],
    ['the path of a field', 'p"ss wörd~11!'],
    ['HTML', 'p&quot;ss wörd/1!'],
    ['HTML in JSON that is quoted', 'p&quot;ss w\\\\u00f6rd/1!'],
    ['an address in JSON of PHP', 'p%22ss%20w%C3%B6rd\\/1!'],
    ['hex', '702273732077c3b672642f3121'],
    ['hex in capitals', '702273732077C3B672642F3121'],
    ['base64 without its padding', 'cCJzcyB3w7ZyZC8xIQ'],
    ['base64 of an address', Buffer.from('p%22ss%20w%C3%B6rd%2F1!').toString('base64')],
    ['base64 of a form', Buffer.from('p%22ss+w%C3%B6rd%2F1%21').toString('base64url')],
  ])('hides a secret in %s', (_, form) => {
    expect(knowing('p"ss wörd/1!').text(`a ${form} b`)).toBe('a [redacted] b')
  })

  it.each([
    ['JSON of Go', 'p&ss<w>rd\'+"ö/1', 'p\\u0026ss\\u003cw\\u003erd\'+\\"ö/1'],
    ['JSON of .NET', 'p&ss<w>rd\'+"ö/1', 'p\\u0026ss\\u003Cw\\u003Erd\\u0027\\u002B\\u0022\\u00F6/1'],
    ['JSON of Java', 'wörd&1', 'w\\u00F6rd&1'],
    ['an address in an address', 'p"ss/1', 'p%2522ss%252F1'],
    ['XML', 'p&s\'s"', 'p&#38;s&#39;s&#34;'],
    ['the quotes of a shell', "it's secret", "it'\\''s secret"],
    ['the quotes of YAML and SQL', "it's secret", "it''s secret"],
    ['the quotes of Python', "it's\\secret", "it\\'s\\\\secret"],
    ['the quotes of a language that leaves the others alone', 'a"b\\c', 'a"b\\\\c'],
    ['a header', 'wörd-1', 'wÃ¶rd-1'],
    ['a dump, byte by byte', 'secret', '73 65 63 72 65 74'],
    ['a fingerprint', 'secret', '73:65:63:72:65:74'],
    ['a dump in pairs', 'secret', '7365 6372 6574'],
    ['an address of Python', 'a/b&c~d!', 'a/b%26c~d%21'],
    ['an address of Java', 'a*b&c d!', 'a*b%26c+d%21'],
    ['the path of an address of Go', 'a/b&c=d', 'a%2Fb&c=d'],
    ['the query of an address', 'a[b"c', 'a[b%22c'],
    ['an address of Python in JSON that is quoted', 'a"/b&c', 'a%22/b\\u0026c'],
    ['an address of one byte a letter', 'wörd&1', 'w%F6rd%261'],
    ['an address in an address, of Python', 'a/b&c~d!', 'a/b%2526c~d%2521'],
    ['a program', 'p&ss-wörd', 'p\\x26ss-w\\u00f6rd'],
    ['letters as JSON may write them, quoted in JSON', 'aB-1', '\\\\u0061B\\\\u002d1'],
    ['the same quoted once more', 'aB-1', '\\\\\\\\u0061B\\\\\\\\x2d1'],
    ['signs that stand before letters nobody sees, which are shown', 'a"\\z', 'a\\u00ad"\\u00ad\\\\u00adz'],
    ['HTML of some marks', `a'b"c&d`, `a'b&#x22;c&amp;d`],
    ['capitals', 'aB9-secret', 'AB9-SECRET'],
    ['small letters', 'aB9-secret', 'ab9-secret'],
    ['letters whose marks are letters of their own', 'wörd-1', 'wo\u0308rd-1'],
  ])('hides a secret in %s', (_, secret, form) => {
    expect(knowing(secret).text(`a ${form} b`)).toBe('a [redacted] b')
  })

  it('hides no question marks, though nothing else is left of a secret in other letters', () => {
    expect(knowing('пароль').text('what????? \ufffd\ufffd\ufffd\ufffd\ufffd\ufffd')).toBe('what????? \ufffd\ufffd\ufffd\ufffd\ufffd\ufffd')
  })

  it('hides a secret in the base64 of something around it, wherever it begins there', () => {
    const redactor = knowing('Zq7-secret-1')
    for (const around of ['user:', 'users:', 'userss:', '{"password":"', '']) {
      for (const behind of ['', '\n', '","z":1}']) {
        for (const form of ['base64', 'base64url'] as const) {
          const text = Buffer.from(`${around}Zq7-secret-1${behind}`).toString(form)
          const [before = '', rest = ''] = redactor.text(`Basic ${text} end`).split('[redacted]')
          // Nothing of it is left but the bits of a digit it shares with its neighbours.
          expect(Buffer.from(before.replace('Basic ', ''), form).toString()).not.toContain('Zq')
          expect(rest.length).toBeLessThan(behind.length * 2 + 8)
        }
      }
    }
  })

  it('hides what a cut has left of a secret, in any of its forms', () => {
    const redactor = knowing('p"ss wörd/1!')
    for (const part of ['p"ss', 'p%22ss%20w%C', 'p%5C%22ss%20w%C', 'cCJzcyB3w7Z']) {
      expect(redactor.text(`it says ${part}…`)).toBe('it says [redacted]…')
    }
    expect(redactor.text('…rd/1! and more')).toBe('…[redacted] and more')
    expect(redactor.text('stop…, p"… and …1!')).toBe('stop…, p"… and …1!')
    expect(redactor.text('it says p"ss w...\' (too long), and ....rd/1!')).toBe("it says [redacted]...' (too long), and ....[redacted]")
    expect(redactor.text('p"ss... and more ... d/1!')).toBe('p"ss... and more ... d/1!')
    expect(redactor.value({note: 'a p"ss w…'})).toEqual({note: 'a [redacted]…'})
  })

  it('hides a secret whichever of its letters are spelled by their numbers, and nothing beside it', () => {
    const secret = 'Zq7/&"~wörd 1'
    const spellings: readonly ((letter: string) => string)[] = [
      it => it,
      it => [...Buffer.from(it)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join(''),
      it => [...Buffer.from(it)].map(byte => `%25${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
      it => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`,
      it => `&#x${it.charCodeAt(0).toString(16)};`,
      it => `&#${it.charCodeAt(0)};`,
    ]
    const redactor = knowing(secret)
    const chosen = fc.array(fc.nat(spellings.length - 1), {minLength: secret.length, maxLength: secret.length})
    const around = fc.constantFrom('', 'a ', '%41 ', '%zz', '&amp;', 'x'.repeat(65_530), '%20'.repeat(21_840))
    fc.assert(
      fc.property(chosen, around, around, (how, before, behind) => {
        const spelled = Array.from(secret, (letter, at) => spellings[how[at] ?? 0]?.(letter) ?? letter).join('')
        expect(redactor.text(before + spelled + behind)).toBe(`${before}[redacted]${behind}`)
      }),
      {numRuns: 200, seed: seedOr(20_261_122)},
    )
  })

  it.each([
    ['a soft hyphen', '\u00ad'],
    ['a space of no width', '\u200b'],
    ['a joiner', '\u200d'],
    ['a byte order mark', '\ufeff'],
    ['a mark that reorders', '\u202e'],
    ['a filler', '\u3164'],
    ['a tag', '\u{e0041}'],
    ['many of them', '\u00ad'.repeat(10_000)],
    ['a control', '\u007f'],
    ['a colour', '\u001b[31m'],
    ['a title of a terminal', '\u001b]0;title\u0007'],
    ['a return', '\r'],
    ['one of them as JSON writes it', '\\u00ad'],
    ['one of them in an address', '%C2%AD'],
  ])('hides a secret with %s in it, which some documents leave out', (_what, unseen) => {
    const redactor = knowing('Zq7/&"~wörd 1')
    expect(redactor.text(`it is Zq7/&"${unseen}~wörd 1.`)).toBe('it is [redacted].')
    expect(redactor.text(`it is Zq7/&"${unseen}~wörd 1${unseen}.`)).toBe(`it is [redacted]${unseen}.`)
    expect(redactor.value({name: `Zq7/&"${unseen}~wörd 1`})).toEqual({name: '[redacted]'})
    expect(redactor.text(`it${unseen} is`)).toBe(`it${unseen} is`)
  })

  it('hides a secret that has such letters itself, also where one of them was left out', () => {
    const redactor = knowing('k🔑Vz9🗝️qW2')
    expect(redactor.text('k🔑Vz9🗝️qW2, k🔑Vz9🗝qW2 and k%F0%9F%94%91Vz9%F0%9F%97%9D%EF%B8%8FqW2')).toBe(
      '[redacted], [redacted] and [redacted]',
    )
  })

  it('hides a secret that looks like an address with such a letter in it', () => {
    expect(knowing('a%2Fb?c=d&e').text('a%2Fb?\u00adc=d&e, a%2Fb?\u2028c=d&e')).toBe('[redacted], [redacted]')
  })

  it('is as quick with a text of nothing but letters that nobody sees', () => {
    const redactor = knowing('p"ss wörd/1!'.repeat(30))
    const takenMs = processorTime()
    for (const text of ['\u200b'.repeat(2_000_000), 'a\u00ad'.repeat(1_000_000), '\u001b['.repeat(1_000_000), '\u001b]'.repeat(1_000_000)])
      expect(redactor.text(text) === text).toBe(true)
    expect(takenMs()).toBeLessThan(8_000)
  })

  it('is as quick with a text of nothing but letters that are spelled by numbers', () => {
    const redactor = knowing('p"ss wörd/1!'.repeat(30))
    const takenMs = processorTime()
    for (const text of ['%2525'.repeat(400_000), '&#65;'.repeat(400_000), '%'.repeat(2_000_000)]) expect(redactor.text(text)).toBe(text)
    for (const text of ['.'.repeat(20_000_000), '%4'.repeat(8_000_000)]) expect(redactor.text(text) === text).toBe(true)
    expect(takenMs()).toBeLessThan(8_000)
  })

  it('is as quick with a text of nothing but cuts', () => {
    const redactor = knowing('p"ss wörd/1!'.repeat(300))
    const takenMs = processorTime()
    expect(redactor.text('p"s…'.repeat(200_000))).toBe('[redacted]…'.repeat(200_000))
    expect(takenMs()).toBeLessThan(5_000)
  })

  it('covers two secrets that overlap as one', () => {
    expect(knowing('abcd', 'bcdefgh').text('xabcdefghx')).toBe('x[redacted]x')
    expect(knowing('abcdef', 'cdef').text('abcdef cdef')).toBe('[redacted] [redacted]')
  })

  it('hides each line of a secret of many lines, as a document that indents it shows it', () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----'
    expect(knowing(pem).text('key: |\n  MIIEvQIBADANBg\n  kqhkiG9w0BAQEF\n')).toBe('key: |\n  [redacted]\n  [redacted]\n')
  })

  it('hides a secret of many lines in capitals and in small letters, also on one line', () => {
    const redactor = knowing('firstPart9\nsecondPart8 "q"')
    expect(redactor.text('FIRSTPART9\nSECONDPART8 "Q", firstpart9 secondpart8 "q" and FIRSTPART9')).toBe(
      '[redacted], [redacted] and [redacted]',
    )
  })

  it('leaves a document valid where a secret is an ordinary word: switches, small numbers and names of fields stay', () => {
    const redactor = knowing('true', 'null', '6379', '123456789', 'status')
    expect(redactor.value({status: 'status', on: true, none: null, port: 6379, id: 123456789, text: 'it is true'})).toEqual({
      status: '[redacted]',
      on: true,
      none: null,
      port: 6379,
      id: '[redacted]',
      text: 'it is [redacted]',
    })
  })

  it('hides a secret that a server makes the name of a field', () => {
    expect(knowing('Zq7-secret').value({errors: {'Zq7-secret': 'weak'}})).toEqual({errors: {'[redacted]': 'weak'}})
  })

  it('hides what a cut has left of a secret in the name of a field, and leaves names that say no more than others', () => {
    expect(knowing('Zq7-secret').value({'Zq7-s…': 1, 'Zq7...': 2, 'memory…': 3})).toEqual({'[redacted]…': 1, 'Zq7...': 2, 'memory…': 3})
  })

  it.each([
    ['in small letters', 'Winter-2026!', 'winter-2026!'],
    ['without the blanks around it', ' 48151623 \n', '48151623'],
    ['as it stands in an address', 'a+b/c=d&e', 'a%2Bb%2Fc%3Dd%26e'],
  ])('gives a secret that is another one %s forms of its own', (_, first, second) => {
    const redactor = knowing(first, second)
    for (const form of ['base64', 'hex'] as const) expect(redactor.text(Buffer.from(second).toString(form))).toBe('[redacted]')
    expect(redactor.value({pin: Number(second)}).pin).toEqual(Number.isNaN(Number(second)) ? Number.NaN : '[redacted]')
  })

  it('hides the base64 of a secret in the name of a field, also where it has only letters', () => {
    const secret = "Vb3%nHj=t'8\\r<Qe"
    const pair = Buffer.from(`user:${secret}`).toString('base64')
    expect(pair).toMatch(/^[A-Za-z]+$/)
    expect(knowing(secret).value({[pair]: 1, [`x ${pair}`]: 2})).toEqual({'dXNlcjp[redacted]': 1, 'x dXNlcjp[redacted]': 2})
  })

  it('hides letters in the name of a field that are no such name: words with hyphens, and more letters than a name has', () => {
    const many = 'kqzvbnmwertyuiopasdfghjklmnbvcxzq'
    const redactor = knowing('correct-horse', 'memory', 'no-op', 'createBeforeDestroy', many)
    expect(
      redactor.value({'correct-horse': 1, 'k1 correct-horse': 2, [many]: 3, memory_size: 4, 'no-op': 5, createBeforeDestroy: 6}),
    ).toEqual({
      '[redacted]': 3,
      'k1 [redacted]': 2,
      memory_size: 4,
      'no-op': 5,
      createBeforeDestroy: 6,
    })
  })

  it('hides every text of a secret that is a document', () => {
    const redactor = new Redactor()
    redactor.registerValue({user: 'admin-1', keys: ['first-key', 1234567], on: true})
    expect(redactor.text('admin-1 first-key 1234567 true')).toBe('[redacted] [redacted] [redacted] true')
  })

  it('finds what a plain search finds, whatever the secrets and the text', () => {
    let seed = 7
    const letter = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return 'abc'[seed % 3] ?? 'a'
    }
    const word = (length: number) => Array.from({length}, letter).join('')
    for (let round = 0; round < 300; round++) {
      const secrets = [word(4), word(5), word(7)]
      const text = word(60)
      const covered = Array.from(text, () => false)
      for (const secret of secrets)
        for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) covered.fill(true, at, at + secret.length)
      const rest = (shown: string) => shown.split('[redacted]').join('')
      const expected = [...text].filter((_, at) => !covered[at]).join('')
      expect(rest(knowing(...secrets).text(text))).toBe(expected)
    }
  })
})

describe('a redactor that looks at JSON text', () => {
  it('suspects every document that holds something to hide', () => {
    const half = fc.constantFrom(
      '\ud83d',
      '\ude00',
      '…',
      '...',
      '%61',
      '&#98;',
      '\\u0061',
      '"',
      '\\',
      '\n',
      '/',
      'é',
      '\u202e',
      '12',
      'a',
      'b',
    )
    const word = fc.array(half, {minLength: 1, maxLength: 6}).map(them => them.join(''))
    let suspected = 0
    fc.assert(
      fc.property(
        fc.array(word, {minLength: 1, maxLength: 2}),
        fc.array(fc.array(word, {maxLength: 3}), {maxLength: 4}),
        (secrets, texts) => {
          const redactor = knowing(...secrets)
          const document = texts.map((them, at) => ({[them.join('')]: [secrets[at] ?? '', them.join(secrets[0])], n: Number(secrets[0])}))
          if (redactor.mayHideIn(JSON.stringify(document, null, 2))) suspected++
          else expect(redactor.value(document)).toStrictEqual(document)
        },
      ),
      {numRuns: 500, seed: seedOr(20_261_122)},
    )
    expect(suspected).toBeGreaterThan(100)
    expect(knowing('secret-1').mayHideIn('{"a": ["nothing", 1]}')).toBe(false)
  })

  it.each(['\r', '\b', '\f'])('suspects a secret with a control in it that JSON has a letter for: %j', control => {
    const redactor = knowing('abcdefgh')
    const document = {a: `abcd${control}efgh`}
    expect(redactor.value(document)).toEqual({a: '[redacted]'})
    expect(redactor.mayHideIn(JSON.stringify(document))).toBe(true)
    expect(redactor.mayHideIn(JSON.stringify({a: 'abcd\r\nefgh'}))).toBe(false)
  })
})

describe('secrets that servers answer', () => {
  it('are hidden by the thousand', () => {
    const redactor = new Redactor()
    const passwords = Array.from({length: 2000}, (_, i) => `Pa55-${i.toString(36)}-word`)
    redactor.registerValue(passwords, 'cluster/bdbs/1')
    expect(redactor.text(`${passwords[0]} ${passwords[1999]}`)).toBe('[redacted] [redacted]')
  })

  it.each([
    ['many', 4_000_000, Array.from({length: 2000}, (_, i) => `s3cret/${i.toString(36)}&x`)],
    ['long', undefined, ['s3cret/"\\'.repeat(130_000)]],
  ])(
    'are refused with the object that has them where they are too %s, before their forms fill the memory',
    (_, most, secrets) => {
      const redactor = new Redactor(most)
      expect(() => redactor.registerValue(secrets, 'cluster/bdbs/1')).toThrow(
        expect.objectContaining({code: 'E_TOO_MANY_SECRETS', message: expect.stringContaining('cluster/bdbs/1: ')}),
      )
    },
    60_000,
  )
})
