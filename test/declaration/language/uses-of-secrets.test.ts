/** What comes of an expression says nothing of a secret in clear: not by an error that was caught, and not by a type. */
import {describe, expect, it} from 'vitest'
import type {Json} from '../../../src/base/json.ts'
import {Deferred, Secret} from '../../../src/engine/model/value.ts'
import {messagesOf, read, type StackText} from '../read/read-stack.ts'

const stack: StackText = {
  variable: {
    pw: {type: 'string', sensitive: true},
    doc: {type: 'string', sensitive: true},
    plain: {type: 'string', default: 'x'},
  },
  locals: {
    starts: '${regex("^H", var.pw)}',
    checked: ['${regex("^H", var.pw)}', 'plain'],
    conf: {size: 5, password: '${var.pw}', url: 'redis://:${var.pw}@host'},
    typed: '${jsondecode(var.doc)}',
  },
  objects: {
    db: ['cluster.database', {name: 'a'}, {'spec/authentication_redis_pass': '${var.pw}'}],
    plan: ['cluster.database', {name: 'b'}],
  },
}
const DB = 'null_resource.db.triggers["out/authentication_redis_pass"]'

/** What a plan would show of an output, with one password and document or the other. */
const shownOf = (text: string, pw: string, doc = '1'): Json | undefined => {
  const given = {TF_VAR_pw: pw, TF_VAR_doc: doc}
  const {outputs} = read({...stack, output: {o: {value: `\${${text}}`}}}, {variables: {environment: given}})
  const value = outputs[0]?.value
  if (value instanceof Secret) return {secret: value.value ?? null, expression: value.expression ?? null}
  return value instanceof Deferred ? `later ${value.expression}` : (value as Json)
}

const refused = (text: string, environment: Readonly<Record<string, string>>): readonly string[] =>
  messagesOf(() => read({...stack, output: {o: {value: `\${${text}}`}}}, {variables: {environment}}))

it('what a secret decided has a version where all that may have decided have one: raised, it is sent again', () => {
  const versionOf = (text: string, versions: Readonly<Record<string, string>>) => {
    const secrets = Object.fromEntries(Object.entries(versions).map(([name, version]) => [name, {version}]))
    const given = {...stack, '//': {svcctl: {secrets}}, output: {o: {value: `\${${text}}`}}}
    const {outputs} = read(given as StackText, {variables: {environment: {TF_VAR_pw: 'Hunter-2', TF_VAR_doc: '{"a":"b"}'}}})
    const value = outputs[0]?.value
    return value instanceof Secret ? value.version : value
  }
  const tried = 'try(jsondecode(var.doc).a, var.pw)'
  const [one, other] = ['1', '2'].map(doc => versionOf(tried, {pw: '1', doc}))
  expect(one).toEqual(expect.any(String))
  expect(other).not.toBe(one)
  expect(versionOf(tried, {doc: '1'})).toBeUndefined()
  expect(versionOf('try(local.typed.a, var.pw)', {pw: '1', doc: '1'})).toEqual(expect.any(String))
})

describe('the value of a secret', () => {
  it.each([
    ['can(regex("^H", var.pw))', true, false],
    ['can(regex("^H", sensitive("Hunter"))) && can(regex("^H", var.pw))', true, false],
    ['try([regex("^H", var.pw), true][1], false)', true, false],
    ['try(regex("^H", var.pw), "none")', 'H', 'none'],
    ['try([regex("^H", var.pw), [1][5]][1], "none")', 'none', 'none'],
    ['try({(var.plain) = regex("^H", var.pw)}.y, "none")', 'none', 'none'],
    ['can(local.starts)', true, false],
    ['[can(local.starts), can(local.starts)][1]', true, false],
    ['try(local.checked[1], "none")', 'plain', 'none'],
    ['can(["a"][length(var.pw) - 6])', false, true],
    ['can([for x in split("", var.pw) : tonumber(x)])', false, false],
    ['can([for x in ["a"] : x if regex("^H", var.pw) == "H"])', true, false],
    ['can({for x in ["H", substr(var.pw, 0, 1)] : x => 1})', false, true],
    ['can(tolist([1, {H = [1], J = 2}[substr(var.pw, 0, 1)]]))', false, true],
    [`can(regex("^H", ${DB}))`, true, false],
    ['jsonencode(true ? 1 : [regex("^H", var.pw), "x"][1])', '"1"', '1'],
    ['jsonencode(true ? [1] : [[regex("^H", var.pw), "x"][1]])', '["1"]', '[1]'],
    ['jsonencode(false ? local.checked[1] : 1)', '"1"', '1'],
    ['length(jsonencode(true ? 1 : [regex("^H", var.pw), "x"][1]))', 3, 1],
    ['can(regex("^H", var.pw)) ? "yes" : "no"', 'yes', 'no'],
    ['join("", [for x in ["H", "J"] : x if try([regex("^${x}", var.pw), true][1], false)])', 'H', 'J'],
    ['join("", [for x in ["H", "J"] : can(regex("^${x}", var.pw)) if var.pw != ""])', 'truefalse', 'falsetrue'],
    ['[for x in ["a"] : can(regex("^H", var.pw))]', [true], [false]],
  ])('is not told by %s', (text, one, other) => {
    const hidden = (value: Json): Json => (Array.isArray(value) ? value.map(hidden) : {secret: value, expression: null})
    const shown = (value: Json | undefined): Json =>
      Array.isArray(value)
        ? value.map(it => (it instanceof Secret ? {secret: it.value ?? null, expression: it.expression ?? null} : it))
        : (value ?? null)
    expect(shown(shownOf(text, 'Hunter2'))).toEqual(hidden(one))
    expect(shown(shownOf(text, 'Junter'))).toEqual(hidden(other))
  })

  it.each([
    ['true ? 1 : jsondecode(var.doc)', 1, '1'],
    ['true ? 1 : local.typed', 1, '1'],
    ['coalesce(1, jsondecode(var.doc))', 1, '1'],
    ['tolist([1, jsondecode(var.doc)])[0]', 1, '1'],
    ['tomap({a = 1, b = jsondecode(var.doc)}).a', 1, '1'],
    ['[for x in [local.typed] : true ? 1 : x][0]', 1, '1'],
  ])('does not show in the type of %s', (text, number, words) => {
    const results = [shownOf(text, 'a', '2'), shownOf(text, 'a', '"b"')] as readonly Json[]
    expect(results).toMatchObject([{secret: number}, {secret: words}])
    const [first, second] = results as readonly {expression: Json}[]
    expect(first?.expression).toEqual(second?.expression)
  })

  it.each([
    ['try(local.conf.port, 6379)', 6379],
    ['try(local.conf.size, 6379)', 5],
    ['can(local.conf.password)', true],
    ['try(var.plain, "none")', 'x'],
    ['can(tonumber(var.plain))', false],
    ['true ? local.conf.size : local.conf.password', '5'],
    ['true ? 1 : local.conf.size', 1],
    ['true ? "a" : upper(var.pw)', 'a'],
    ['true ? {} : {password = upper(var.pw)}', {}],
    ['true ? {size = 1, password = "", url = ""} : local.conf', {size: 1, password: '', url: ''}],
  ])('hides nothing of %s, where it is handed on', (text, expected) => {
    expect(shownOf(text, 'Hunter2')).toEqual(expected)
  })

  it('stays an expression where it is handed on', () => {
    expect(shownOf('try(var.pw, "none")', 'Hunter2')).toEqual({secret: 'Hunter2', expression: '${var.pw}'})
    expect(shownOf('true ? upper(var.pw) : lower(var.pw)', 'a')).toEqual({secret: 'A', expression: '${upper(var.pw)}'})
  })

  it.each([
    ['can(["${null_resource.plan.id}${regex("^H", var.pw)}"])'],
    ['try([regex("^H", var.pw), null_resource.plan.id][1], "none")'],
    ['try(regex("^H", var.pw), null_resource.plan.id)'],
  ])('decides nothing that is known only later: %s', text => {
    for (const pw of ['Hunter2', 'Junter']) {
      const messages = refused(text, {TF_VAR_pw: pw, TF_VAR_doc: '1'})
      expect(messages.join()).not.toContain(pw)
      expect(messages.length === 0 || messages.join().includes('must be known when the plan is made')).toBe(true)
    }
  })

  it('does not decide how many objects there are, nor what they are called', () => {
    const pw = {TF_VAR_pw: 'Hunter2', TF_VAR_doc: '1'}
    const object = (more: Record<string, Json>, triggers: Record<string, Json> = {}): StackText => ({
      ...stack,
      objects: {...stack.objects, n: ['cluster.database', {}, {'spec/name': 'n', ...triggers}, more]},
    })
    const said = (text: StackText) => messagesOf(() => read(text, {variables: {environment: pw}})).join()
    expect(said(object({count: '${can(regex("^H", var.pw)) ? 1 : 0}'}))).toContain('count is secret')
    expect(said(object({for_each: '${try([regex("^H", var.pw), ["a"]][1], [])}'}))).toContain('for_each is secret')
    expect(said(object({}, {'spec/name': '${try(regex("^H", var.pw), "n")}'}))).toContain('"name" is secret')
  })
})
