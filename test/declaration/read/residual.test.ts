import {describe, expect, it} from 'vitest'
import type {Json} from '../../../src/base/json.ts'
import {evaluate} from '../../../src/declaration/read/residual.ts'
import {Deferred, Secret} from '../../../src/engine/model/value.ts'
import {declarationOf, readAll} from './read-stack.ts'

const VARIABLES = new Map<string, Json>([
  ['shop pw', 'a"b'],
  ['shop port', '6379'],
  ['shop creds', '{"user": "u", "list": ["x"]}'],
  ['net token', 't'],
])
const ATTRIBUTES = new Map<string, Json>([
  ['shop:null_resource.db id', 'cloud/subscriptions/1/databases/2'],
  ['shop:null_resource.db["k.\\"1"] id', 'keyed'],
  ['shop:null_resource.n[0] out/endpoint/port', 12000],
  ['net:null_resource.db out/tags', ['a']],
])
const lookup = {
  variable: (stack: string, name: string): Json | undefined => VARIABLES.get(`${stack} ${name}`),
  attribute: (key: string, attribute: string): Json | undefined => ATTRIBUTES.get(`${key} ${attribute}`),
}

describe('finishing what a plan left open', () => {
  it.each<[string, Json]>([
    ['plain', 'plain'],
    ['$${x}', '${x}'],
    ['${var.pw}', 'a"b'],
    ['x-${var.pw}-${null_resource.db.id}', 'x-a"b-cloud/subscriptions/1/databases/2'],
    ['${null_resource.db["k.\\"1"].id}', 'keyed'],
    ['${null_resource.n[0].triggers["out/endpoint/port"]}', 12000],
    ['${convert(null_resource.n[0].triggers["out/endpoint/port"], string)}', '12000'],
    ['${convert(var.port, number)}', 6379],
    ['${convert(var.creds, object({user = string, list = list(string)}))["list"][0]}', 'x'],
    ['${stack["net"].var.token}', 't'],
    ['${stack["net"].null_resource.db.triggers["out/tags"]}', ['a']],
    ['${jsonencode([stack["net"].var.token])}', '["t"]'],
    ['${jsondecode("[1]")}', [1]],
  ])('%s gives %j', (expression, value) => {
    expect(evaluate(expression, 'shop', lookup)).toEqual(value)
  })

  it('says which variable is missing and how to set it', () => {
    expect(() => evaluate('${var.none}', 'shop', lookup)).toThrow(
      expect.objectContaining({
        code: 'E_VALUE_MISSING',
        exit: 64,
        message: 'the variable none of stack shop has no value',
        suggestions: ['Set TF_VAR_none, as when the plan was made, then apply again.'],
      }),
    )
  })

  it('says which object does not show what is needed', () => {
    expect(() => evaluate('${null_resource.x.triggers["out/a"]}', 'shop', lookup)).toThrow('out/a of shop:null_resource.x has no value')
  })

  it('gives again what the stacks gave, for every open field of a stack', () => {
    const variables = {
      pw: {type: 'string', sensitive: true},
      port: {type: 'number', sensitive: true},
      map: {type: 'map(string)', sensitive: true},
    }
    const environment = {TF_VAR_pw: 'p"${w}', TF_VAR_port: '7000', TF_VAR_map: '{"a b": "v"}'}
    const stack = readAll(
      {
        shop: {
          variable: variables,
          locals: {l: ['${var.pw}', 'b']},
          objects: {
            u: [
              'cluster.user',
              {name: 'u'},
              {
                'spec/a': '${var.pw}',
                'spec/b': 'x${upper(var.pw)}"y\\',
                'spec/c': '${var.map["a b"]}',
                'spec/d': '${join("/", local.l)}',
                'spec/e': '${element(local.l, 0)}',
                'spec/f': '${var.port}:${var.map["a b"]}',
                'json/g': '${jsonencode({x = [var.port, values(var.map)]})}',
              },
            ],
          },
        },
      },
      {variables: {environment}},
    ).stacks[0]
    if (!stack) throw new Error('one stack')
    const {spec} = declarationOf(stack, 'u')
    const fromEnvironment = {...lookup, variable: (_: string, name: string) => environment[`TF_VAR_${name}` as keyof typeof environment]}
    const finished = (field: string) => {
      const value = spec[field]
      if (!(value instanceof Secret) || value.expression === undefined) throw new Error(`${field} is not open`)
      expect(evaluate(value.expression, 'shop', fromEnvironment), value.expression).toEqual(value.value)
      return value.value
    }
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(finished)).toEqual(['p"${w}', 'xP"${W}"y\\', 'v', 'p"${w}/b', 'p"${w}', '7000:v'])
    expect(spec.g).toEqual({
      x: [new Secret(7000, '${convert(var.port, number)}'), new Secret(['v'], '${values(convert(var.map, map(string)))}')],
    })
    expect(Object.values(spec).some(value => value instanceof Deferred)).toBe(false)
  })
})
