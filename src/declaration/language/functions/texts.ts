/** Terraform's functions of text. */
import type {Json} from '../../../base/json.ts'
import {takeSteps} from '../values/expression-limits.ts'
import {assertShort, joined} from '../values/joined-text.ts'
import {lettersOf} from '../values/letters-of.ts'
import {ArgumentError, asList, asText, asWhole, atLeast, type FunctionTable, one, rule, two} from '../values/rule.ts'
import {format, formatList} from './format.ts'
import {patternIn} from './pattern.ts'

/** Letter by letter, as Terraform does it: `ß` stays. */
const eachLetter = (text: string, change: (letter: string) => string): string =>
  Array.from(text, letter => {
    const changed = change(letter)
    return Array.from(changed).length === 1 ? changed : letter
  }).join('')

const text = (value: Json | undefined, where = 'the argument'): string => asText(value, where)

/** Letters, digits, underscores and signs beyond ASCII that are no space do not end a word. */
const title = (value: string): string => eachWordStart(value, it => it.toUpperCase())

const eachWordStart = (value: string, change: (letter: string) => string): string => {
  let before = ' '
  return Array.from(value, letter => {
    const starts = /[\0-\x2f:-@[-^`{-\x7f]/.test(before) || (before > '\x7f' && /\s/u.test(before))
    before = letter
    return starts ? eachLetter(letter, change) : letter
  }).join('')
}

function part(value: Json | undefined, offset: Json | undefined, length: Json | undefined): string {
  const found = lettersOf(text(value, 'the first argument'))
  const from = asWhole(offset, 'the offset')
  const count = asWhole(length, 'the length')
  const start = from < 0 ? Math.max(0, found.length + from) : from
  return found.slice(start, count < 0 ? undefined : start + count).join('')
}

const trimmed = (value: Json | undefined, signs: Json | undefined): string => {
  const cut = new Set(text(signs, 'the second argument'))
  const found = Array.from(text(value, 'the first argument'))
  let start = 0
  let end = found.length
  while (start < end && cut.has(found[start] ?? '')) start++
  while (end > start && cut.has(found[end - 1] ?? '')) end--
  return found.slice(start, end).join('')
}

function replaced(value: Json | undefined, wanted: Json | undefined, by: Json | undefined): string {
  const where = text(value, 'the first argument')
  const what = text(wanted, 'the second argument')
  const put = text(by, 'the third argument')
  if (what.length > 1 && what.startsWith('/') && what.endsWith('/')) return patternIn(what.slice(1, -1)).replace(where, put)
  searching(where, what)
  if (what === '') return joined(['', ...Array.from(where), ''], put)
  assertShort(where.length + occurrences(where, what) * (put.length - what.length))
  return where.replaceAll(what, () => put)
}

/** A text whose beginning is everywhere takes the product of both lengths to look for: some thousand letters in the time of a step. */
const searching = (text: string, part: string): void => takeSteps((text.length * part.length) / 4000)

function occurrences(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** Go's white space; all of it is one UTF-16 unit long. */
const SPACE = /[\t\n\v\f\r \u0085\p{White_Space}]/u
const LINE_END = /[\r\n]/

/** Unit by unit from the ends: a pattern with `$` tries every run in the middle again from each of its places. */
const withoutEnd = (value: string, cut: RegExp): string => {
  let end = value.length
  while (end > 0 && cut.test(value[end - 1] ?? '')) end--
  return value.slice(0, end)
}

const withoutStart = (value: string, cut: RegExp): string => {
  let start = 0
  while (start < value.length && cut.test(value[start] ?? '')) start++
  return value.slice(start)
}

export const TEXTS: FunctionTable = {
  upper: one(value => eachLetter(text(value), it => it.toUpperCase())),
  lower: one(value => eachLetter(text(value), it => it.toLowerCase())),
  title: one(value => title(text(value))),
  join: atLeast(2, (separator, ...lists) =>
    joined(
      lists.flatMap(it => asList(it, 'an argument after the first')).map(item => asText(item, 'an item')),
      asText(separator, 'the separator'),
    ),
  ),
  split: two((separator, value) => {
    const by = text(separator, 'the separator')
    const whole = text(value, 'the second argument')
    searching(whole, by)
    return by === '' ? Array.from(whole) : whole.split(by)
  }),
  replace: rule(3, 3, replaced),
  substr: rule(3, 3, part),
  trim: two(trimmed),
  trimprefix: two((value, start) => {
    const [whole, cut] = [text(value, 'the first argument'), text(start, 'the second argument')]
    return whole.startsWith(cut) ? whole.slice(cut.length) : whole
  }),
  trimsuffix: two((value, end) => {
    const [whole, cut] = [text(value, 'the first argument'), text(end, 'the second argument')]
    return cut !== '' && whole.endsWith(cut) ? whole.slice(0, -cut.length) : whole
  }),
  trimspace: one(value => withoutStart(withoutEnd(text(value), SPACE), SPACE)),
  chomp: one(value => withoutEnd(text(value), LINE_END)),
  indent: two((spaces, value) => {
    const count = asWhole(spaces, 'the number of spaces')
    if (count < 0 || count > 1000) throw new ArgumentError('the number of spaces must be from 0 to 1000')
    return joined(text(value, 'the second argument').split('\n'), `\n${' '.repeat(count)}`)
  }),
  strrev: one(value => lettersOf(text(value)).toReversed().join('')),
  startswith: two((value, start) => text(value, 'the first argument').startsWith(text(start, 'the second argument'))),
  endswith: two((value, end) => text(value, 'the first argument').endsWith(text(end, 'the second argument'))),
  strcontains: two((value, wanted) => {
    const [whole, part] = [text(value, 'the first argument'), text(wanted, 'the second argument')]
    searching(whole, part)
    return whole.includes(part)
  }),
  format: atLeast(1, (spec, ...values) => format(text(spec, 'the format'), values)),
  formatlist: atLeast(1, (spec, ...values) => formatList(text(spec, 'the format'), values)),
  regex: two((pattern, value) => patternIn(text(pattern, 'the pattern')).match(text(value, 'the second argument'))),
  regexall: two((pattern, value) => patternIn(text(pattern, 'the pattern')).all(text(value, 'the second argument'))),
  tostring: one(value => (value === null ? null : asText(value, 'the argument'))),
}
