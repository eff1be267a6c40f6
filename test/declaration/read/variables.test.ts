import {describe, expect, it} from 'vitest'
import type {Json} from '../../../src/base/json.ts'
import {type GivenVariables, givenValues} from '../../../src/declaration/read/variables.ts'
import {declarationOf, messagesOf, read, readAll} from './read-stack.ts'

const readValue = (variable: {[field: string]: Json}, given: Partial<GivenVariables>, expression = '${jsonencode(var.x)}') =>
  declarationOf(
    read({variable: {x: variable}, objects: {u: ['cluster.user', {name: 'u'}, {'json/v': expression}]}}, {variables: given}),
    'u',
  ).spec.v

const file = (name: string, x: Json) => ({name, values: {x}})

describe('values of variables', () => {
  it('come from where Terraform would take them: command line over files over environment over defaults', () => {
    const environment = {TF_VAR_x: 'environment', TF_VAR_unrelated: '1'}
    const files = [file('terraform.tfvars.json', 'file'), file('a.auto.tfvars.json', 'auto')]
    const x = {type: 'string', default: 'default'}
    expect(readValue(x, {})).toBe('default')
    expect(readValue(x, {environment})).toBe('environment')
    expect(readValue(x, {environment, files: files.slice(0, 1)})).toBe('file')
    expect(readValue(x, {environment, files})).toBe('auto')
    const commandLine = [{type: 'var', text: 'x=a=b'} as const, {type: 'file', file: file('v.json', 'last')} as const]
    expect(readValue(x, {environment, files, commandLine})).toBe('last')
    expect(readValue(x, {environment, files, commandLine: [...commandLine].reverse()})).toBe('a=b')
  })

  it.each<[type: string | undefined, text: string, value: Json]>([
    ['string', '12', '12'],
    [undefined, '[1]', '[1]'],
    ['number', '1.5', 1.5],
    ['bool', 'true', true],
    ['list(number)', '["1", 2]', [1, 2]],
    ['map(string)', '{"a": 1, "b": true}', {a: '1', b: 'true'}],
    ['map(string)', '{a = "x"}', {a: 'x'}],
    ['object({a = number, b = optional(string)})', '{"a": "1", "c": 2}', {a: 1}],
    ['tuple([string, bool])', '["x", "false"]', ['x', false]],
    ['any', '{"a": [1]}', {a: [1]}],
    ['set(string)', '["a"]', ['a']],
  ])('of type %s given as the text %s are %j', (type, text, value) => {
    expect(readValue(type === undefined ? {} : {type}, {environment: {TF_VAR_x: text}})).toEqual(value)
  })

  it.each([
    ['number', 'secret-text', 'the value must be number, and it is text'],
    ['list(string)', '{"a": "secret-text"}', 'the value must be list(string), and it is an object'],
    ['map(number)', '{"a": "secret-text"}', 'the value.a must be number, and it is text'],
    ['list(string)', '[var.y]', 'a value from outside may refer to nothing'],
    ['object({a = number})', '{}', 'the value needs the attribute a'],
  ])('that do not fit %s are refused without being quoted', (type, text, message) => {
    const [said] = messagesOf(() => readValue({type, sensitive: true}, {environment: {TF_VAR_x: text}}))
    expect(said).toBe(`var.x: the value from TF_VAR_x does not fit: ${message} (variable x, type ${type})`)
  })

  it('that no stack declares are an error on the command line and a warning in files', () => {
    const commandLine = [{type: 'var', text: 'sise=1'} as const]
    expect(messagesOf(() => read({variable: {size: {default: 1}, svcctl_only: {default: ''}}}, {variables: {commandLine}}))).toEqual([
      ': --var gives sise, which no stack declares: did you mean size? the variables are size',
    ])
    expect(readAll({shop: {}}, {variables: {files: [file('terraform.tfvars.json', 1)]}}).warnings).toEqual([
      'terraform.tfvars.json gives x, which no stack declares',
    ])
    const values = Object.fromEntries(Array.from({length: 25}, (_, at) => [`x${at}`, at]))
    const {warnings} = readAll({shop: {}}, {variables: {files: [{name: 'a.auto.tfvars', values}]}})
    expect([warnings.length, warnings[19], warnings[20]]).toEqual([
      21,
      'a.auto.tfvars gives x19, which no stack declares',
      'files of variables give 5 more that no stack declares',
    ])
  })

  it('need a name and a value', () => {
    expect(() => givenValues({environment: {}, files: [], commandLine: [{type: 'var', text: 'x'}]})).toThrow('--var needs NAME=VALUE')
  })

  it('are not checked by a validation, which says so', () => {
    expect(messagesOf(() => read({variable: {x: {default: 1, validation: {condition: '${var.x > 0}'}}}}))).toEqual([
      "var.x: svcctl does not evaluate validation of a variable: check the value in the stack's own code",
    ])
  })

  it('made secret by sensitive() still come from the variable', () => {
    const {spec, clearSecrets} = declarationOf(
      read(
        {variable: {x: {type: 'string'}}, objects: {u: ['cluster.user', {name: 'u'}, {'spec/password': '${sensitive(var.x)}'}]}},
        {variables: {environment: {TF_VAR_x: 'v'}}},
      ),
      'u',
    )
    expect(spec.password).toMatchObject({value: 'v', expression: '${var.x}'})
    expect(clearSecrets).toEqual([])
  })
})
